//! Looks for lasting changes in a history, by [`crate::statistics::change`].

use wasmbench_model::rounding::round_number;

use crate::runs::history::document::History;
use crate::runs::history::lasting_change::LastingChange;
use crate::runs::history::line::{Ends, Setting};
use crate::statistics::change::{Observed, latest, size_of};

/// Examines every series in which the last run compares a variant with the baseline. Adds the changes
/// found to the history, and returns them.
pub(super) fn detect(history: &mut History) -> Vec<LastingChange> {
    let Some(last) = history.runs.last() else {
        return vec![];
    };
    let followed: Vec<usize> = last
        .numbers
        .iter()
        .filter(|number| number.versus_baseline.is_some())
        .map(|number| number.series)
        .collect();
    for series in &followed {
        measure_again(history, *series);
    }
    let shown: Vec<LastingChange> = followed
        .iter()
        .filter_map(|series| shown(history, *series, followed.len()))
        .collect();
    history.changes.extend(shown.iter().cloned());
    shown
}

/// Recomputes the size of the last change of a series, because there is one more run since then.
fn measure_again(history: &mut History, series: usize) {
    let mut of_series = history
        .changes
        .iter()
        .rev()
        .filter(|found| found.series == series);
    let (Some(last), before) = (of_series.next(), of_series.next()) else {
        return;
    };
    let run = last.run.clone();
    let start = before.map_or(0, |before| place_of(history, &before.run));
    let strata = strata(history);
    let first = place_of(history, &run) as u64;
    let Some((size, (low, high))) = size_of(&observed(history, &strata, series, start), first)
    else {
        return;
    };
    let size = size_from(history, series, [size, low, high]);
    let changes = history.changes.iter_mut();
    for found in changes.filter(|found| found.series == series && found.run == run) {
        found.size = size;
    }
}

/// The size of a change with its ends: a ratio of ratios, or a difference of differences.
fn size_from(history: &History, series: usize, on_scale: [f64; 3]) -> Ends {
    let scale = history.series[series].scale();
    let [size, low, high] = on_scale.map(|place| round_number(scale.inverse(place)));
    Ends(size, low, high)
}

/// The change of a series that the last run reveals.
fn shown(history: &History, series: usize, count: usize) -> Option<LastingChange> {
    let mut of_series = history
        .changes
        .iter()
        .filter(|found| found.series == series);
    let start = of_series
        .next_back()
        .map_or(0, |found| place_of(history, &found.run));
    let strata = strata(history);
    let observed = observed(history, &strata, series, start);
    let change = latest(&observed, count)?;
    let place = |run: u64| {
        usize::try_from(run)
            .ok()
            .and_then(|run| history.runs.get(run))
    };
    let (first, found_with) = (place(change.first)?, place(change.found_with)?);
    let last_before = observed.iter().rev().find(|one| one.run < change.first)?;
    let before = place(last_before.run)?;
    let variant = &history.series[series].variant;
    let image = |setting: usize| {
        let setting = history.settings.get(setting)?;
        setting.images.get(variant).cloned()
    };
    Some(LastingChange {
        series,
        run: first.name.clone(),
        since: first.ended,
        last_before: before.name.clone(),
        found_with: found_with.name.clone(),
        image_before: image(before.setting).unwrap_or_default(),
        image_after: image(first.setting).unwrap_or_default(),
        size: size_from(history, series, [change.size, change.low, change.high]),
        p_value: change.p_value,
    })
}

/// Place of the line that begins with the run of this name.
fn place_of(history: &History, run: &str) -> usize {
    let place = history.runs.iter().position(|line| line.name == run);
    place.unwrap_or_default()
}

/// The strata of all settings.
fn strata(history: &History) -> Vec<String> {
    history.settings.iter().map(Setting::stratum).collect()
}

/// The trusted numbers of a series from line `start` on; runs are identified by their place.
fn observed<'a>(
    history: &History,
    strata: &'a [String],
    series: usize,
    start: usize,
) -> Vec<Observed<'a>> {
    let scale = history.series[series].scale();
    let lines = (0_u64..).zip(&history.runs).skip(start);
    let observed = lines.filter_map(|(run, line)| {
        let number = line.number(series).filter(|number| number.trusted)?;
        let versus = number.versus_on(scale)?;
        Some(Observed {
            run,
            number: versus.estimate,
            error: versus.error,
            stratum: strata.get(line.setting)?,
        })
    });
    observed.collect()
}
