//! A history as the tests read it: strata are numbers, and what cannot be is left out.

/// One measure of one run in the history of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed<'a> {
    /// What the run is known by, as a number that rises over the history.
    pub run: u64,
    /// Natural logarithm of the ratio to the baseline.
    pub ratio: f64,
    /// Standard error of `ratio`, where the run knows it.
    pub error: Option<f64>,
    /// Node fingerprint and image of the baseline: only runs of equal strata are compared.
    pub stratum: &'a str,
}

/// An [`Observed`] that can be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) run: u64,
    pub(super) ratio: f64,
    /// Zero where it is not known.
    pub(super) error: f64,
    /// Number of the stratum in order of appearance.
    pub(super) stratum: usize,
}

/// What of a history can be compared: what no ratio can be is left out.
pub(super) fn runs(history: &[Observed<'_>]) -> Vec<Entry> {
    let mut strata: Vec<&str> = vec![];
    let possible = history.iter().filter(|seen| is_possible(seen.ratio));
    possible
        .map(|seen| Entry {
            run: seen.run,
            ratio: seen.ratio,
            error: seen
                .error
                .filter(|error| is_possible(*error))
                .unwrap_or_default(),
            stratum: number_of(seen.stratum, &mut strata),
        })
        .collect()
}

/// Whether two numbers can have the logarithm of their ratio there, or its error: `f64` ends at e
/// to the 710th.
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
