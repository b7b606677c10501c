//! A history in the form that the tests use: strata are numbers, and impossible values are left
//! out.

/// One measure of one run in the history of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed<'a> {
    /// A number that identifies the run and increases over the history.
    pub run: u64,
    /// Natural logarithm of the ratio to the baseline.
    pub ratio: f64,
    /// Standard error of `ratio`, if the run has one.
    pub error: Option<f64>,
    /// Node fingerprint, baseline with its image, workloads and sweeps: only runs of equal strata
    /// are compared.
    pub stratum: &'a str,
}

/// An [`Observed`] that can be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) run: u64,
    pub(super) ratio: f64,
    /// Zero if unknown.
    pub(super) error: f64,
    /// Number of the stratum in order of appearance.
    pub(super) stratum: usize,
}

/// The runs of a history that can be compared; those with impossible ratios are left out.
pub(super) fn runs(history: &[Observed<'_>]) -> Vec<Entry> {
    let mut strata: Vec<&str> = vec![];
    let possible = history
        .iter()
        .filter(|observed| is_possible(observed.ratio));
    possible
        .map(|observed| Entry {
            run: observed.run,
            ratio: observed.ratio,
            error: observed
                .error
                .filter(|error| is_possible(*error))
                .unwrap_or_default(),
            stratum: number_of(observed.stratum, &mut strata),
        })
        .collect()
}

/// Whether the value can be the logarithm of the ratio of two `f64` numbers, or its error: `f64`
/// ends at e to the 710th.
fn is_possible(logarithm: f64) -> bool {
    logarithm.abs() <= 1500.0
}

fn number_of<'a>(stratum: &'a str, strata: &mut Vec<&'a str>) -> usize {
    let known = strata.iter().position(|other| *other == stratum);
    known.unwrap_or_else(|| {
        strata.push(stratum);
        strata.len() - 1
    })
}
