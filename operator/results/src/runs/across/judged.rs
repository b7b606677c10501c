//! Which interval decides about a number of several runs, or why none does.
//!
//! Between two runs, the ratio or difference to the baseline within each run is judged: what shifts a
//! whole run shifts the baseline as well, and cancels. How far each variant shifts on its own is
//! stated, unless the history of a schedule shows it. Numbers of the baseline itself, and of runs
//! without one, are judged by several earlier runs
//! ([`FEWEST_RUNS`](crate::statistics::FEWEST_RUNS)), which show how far runs scatter.

use wasmbench_api::run::RunScatter;

use crate::runs::across::Unjudged;
use crate::runs::across::numbers::Sample;
use crate::statistics::{Contrast, Estimated};

/// How numbers of several runs are judged.
#[derive(Clone, Copy, Debug)]
pub struct Judging {
    /// Whether the runs do not all have the same baseline.
    pub baseline_changed: bool,
    /// How far runs are said to scatter where nothing shows it.
    pub scatter: RunScatter,
}

/// What decides about a cell, if its runs trust it.
pub struct Judged {
    /// How far the later run lies from the earlier ones.
    pub contrast: Contrast,
    /// Whether that is the number versus the baseline.
    pub is_of_baseline: bool,
    /// The number of other runs that show how far runs scatter.
    pub runs: Option<u32>,
    /// Whether one of the runs does not trust what is compared: it is shown, and nothing decided.
    pub is_untrusted: bool,
}

/// What decides about `later`, compared with the same cell of `earlier` runs, the latest first; or
/// the reason why nothing does.
pub fn judged(earlier: &[&Sample], later: &Sample, how: Judging) -> Result<Judged, Unjudged> {
    if let Some(why) = later.unjudged {
        return Err(why);
    }
    let has_base = |run: &Sample| run.estimated(true).is_some();
    let is_known = has_base(later) && earlier.iter().copied().all(has_base);
    let is_of_baseline = is_known && !how.baseline_changed;
    let runs = earlier
        .iter()
        .filter_map(|run| run.estimated(is_of_baseline));
    let runs: Vec<Estimated> = runs.collect();
    let value = later.estimated(is_of_baseline);
    let among = value.and_then(|value| Contrast::among(&value, &runs));
    // If there are too few runs to compare among, only the latest one is used.
    let used = if among.is_some() { earlier.len() } else { 1 };
    let (contrast, runs) = match (among, earlier.first()) {
        (Some((contrast, runs)), _) => (contrast, Some(runs)),
        (None, Some(last)) if is_of_baseline || !is_known => {
            with_last(last, later, is_of_baseline, how.scatter)?
        }
        (None, _) => return Err(Unjudged::BaselineChanged),
    };
    let mut compared = earlier.iter().copied().take(used).chain([later]);
    Ok(Judged {
        contrast,
        is_of_baseline,
        runs,
        is_untrusted: compared.any(|sample| sample.is_untrusted_as(is_of_baseline)),
    })
}

/// Compares only with the latest run: by how far runs of the schedule scatter, if its history
/// shows that, otherwise through the baseline and by the stated scatter. Also returns the number of
/// runs that show the scatter.
fn with_last(
    last: &Sample,
    later: &Sample,
    is_of_baseline: bool,
    stated: RunScatter,
) -> Result<(Contrast, Option<u32>), Unjudged> {
    let numbers = [later, last].map(|run| run.estimated(is_of_baseline));
    let [Some(value), Some(base)] = numbers else {
        return Err(Unjudged::TooFewRuns);
    };
    let Some(scatter) = &later.scatter else {
        let shifts = [later, last].map(|run| run.shift(stated.share()));
        let contrast = Contrast::unpaired(&value, &base, shifts);
        let through_baseline = is_of_baseline.then_some((contrast, None));
        return through_baseline.ok_or(Unjudged::TooFewRuns);
    };
    let between = if is_of_baseline {
        scatter.versus_baseline
    } else {
        scatter.value
    };
    let between = between.ok_or(Unjudged::NotFollowed)?;
    let contrast = Contrast::from_two_runs(&value, &base, &between);
    Ok((contrast, Some(between.runs)))
}
