//! A history in the form that the tests use: strata are numbers, and impossible values are left
//! out.

/// One measure of one run in the history of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed<'a> {
    /// A number that identifies the run and increases over the history.
    pub run: u64,
    /// How the variant compares with the baseline, on the scale on which it is judged: the natural
    /// logarithm of their ratio, or their difference in its unit.
    pub number: f64,
    /// Standard error of `number`, if the run has one.
    pub error: Option<f64>,
    /// Node fingerprint, baseline with its image, workloads and sweeps: only runs of equal strata
    /// are compared.
    pub stratum: &'a str,
}

/// An [`Observed`] that can be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) run: u64,
    pub(super) number: f64,
    /// Zero if unknown.
    pub(super) error: f64,
    /// Number of the stratum in order of appearance.
    pub(super) stratum: usize,
}

/// The runs of a history that can be compared; those with impossible numbers are left out.
pub(super) fn runs(history: &[Observed<'_>]) -> Vec<Entry> {
    let mut strata: Vec<&str> = vec![];
    let possible = history
        .iter()
        .filter(|observed| is_possible(observed.number));
    possible
        .map(|observed| Entry {
            run: observed.run,
            number: observed.number,
            error: observed
                .error
                .filter(|error| is_possible(*error))
                .unwrap_or_default(),
            stratum: number_of(observed.stratum, &mut strata),
        })
        .collect()
}

/// Whether the value can be a number on its scale, or its error: nothing that is measured comes
/// near the bound, and the sum of as many squares as there are runs is a number.
fn is_possible(number: f64) -> bool {
    number.abs() <= 1e100
}

fn number_of<'a>(stratum: &'a str, strata: &mut Vec<&'a str>) -> usize {
    let known = strata.iter().position(|other| *other == stratum);
    known.unwrap_or_else(|| {
        strata.push(stratum);
        strata.len() - 1
    })
}
