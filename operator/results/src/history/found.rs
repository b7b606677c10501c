//! Lasting changes in a history, by [`crate::statistics::change`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wasmbench_core::units;

use crate::comparison::factor;
use crate::history::History;
use crate::history::line::{Ends, Series, Setting};
use crate::measure::{Better, Measured as _};
use crate::statistics::change::{Observed, latest, size_of};
use crate::statistics::ratio::noise_of;

/// A lasting change of a series.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Place in the history's series.
    pub series: usize,
    /// Name of the first run after it.
    pub run: String,
    /// When that run ended.
    pub since: Timestamp,
    /// Name of the last run before it.
    pub last_before: String,
    /// Name of the run with which it was found.
    pub found_with: String,
    /// Digest of the variant's image before it; empty where it is not known.
    pub image_before: String,
    /// Digest of the variant's image after it.
    pub image_after: String,
    /// The ratio to the baseline after it as a multiple of that before, with its 95 % interval.
    pub size: Ends,
    /// How likely so clear a division is where nothing changes.
    pub p_value: f64,
}

impl Found {
    /// Whether it is for the worse.
    pub fn is_worse(&self, series: &Series) -> bool {
        match series.metric.measure().better {
            Better::Less => self.size.0 > 1.0,
            Better::More => self.size.0 < 1.0,
        }
    }

    /// Whether all that it may be is smaller than what matters, a logarithm.
    pub fn is_small(&self, minimum_effect: f64) -> bool {
        let Ends(_, low, high) = self.size;
        let farthest = libm::log(low).abs().max(libm::log(high).abs());
        farthest <= minimum_effect
    }

    /// In words: what it is, since when, and with which images.
    pub fn words(&self, series: &Series) -> String {
        let Self {
            run,
            last_before,
            found_with,
            ..
        } = self;
        let Ends(size, low, high) = self.size;
        let size = units::judged_ratio(size, Some((low, high)), "of what it was");
        let images = if self.image_before == self.image_after {
            format!("the image is the same ({})", short(&self.image_after))
        } else {
            let (before, after) = (short(&self.image_before), short(&self.image_after));
            format!("image {before} before, {after} since")
        };
        format!(
            "{} as a ratio to the baseline is {size} since run {run} (before it {last_before}; found \
             with {found_with}); {images}",
            series.words()
        )
    }
}

/// The part of a digest by which people know it.
fn short(image: &str) -> String {
    let digest = image.rsplit("sha256:").next().unwrap_or_default();
    match (image.is_empty(), digest.len() < image.len()) {
        (true, _) => "unknown".to_owned(),
        (false, true) => format!("sha256:{}", digest.chars().take(12).collect::<String>()),
        (false, false) => image.to_owned(),
    }
}

/// Looks at every series that the last run has a number of. Adds what it shows to the changes, and answers with it.
pub(super) fn look(history: &mut History) -> Vec<Found> {
    let Some(last) = history.runs.last() else {
        return vec![];
    };
    let followed = last.numbers.iter().filter(|number| number.ratio.is_some());
    let followed: Vec<usize> = followed.map(|number| number.series).collect();
    for series in &followed {
        measure_again(history, *series);
    }
    let shown = followed
        .iter()
        .filter_map(|series| shown(history, *series, followed.len()));
    let shown: Vec<Found> = shown.collect();
    history.changes.extend(shown.iter().cloned());
    shown
}

/// A change has its size from all runs since, of which there is one more.
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
    let changes = history.changes.iter_mut();
    for found in changes.filter(|found| found.series == series && found.run == run) {
        found.size = Ends(factor(size), factor(low), factor(high));
    }
}

/// The change of a series that the last run shows.
fn shown(history: &History, series: usize, count: usize) -> Option<Found> {
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
    let before = observed.iter().rev().find(|seen| seen.run < change.first)?;
    let before = place(before.run)?;
    let variant = &history.series[series].variant;
    let image = |setting: usize| {
        let setting = history.settings.get(setting)?;
        setting.images.get(variant).cloned()
    };
    Some(Found {
        series,
        run: first.name.clone(),
        since: first.ended,
        last_before: before.name.clone(),
        found_with: found_with.name.clone(),
        image_before: image(before.setting).unwrap_or_default(),
        image_after: image(first.setting).unwrap_or_default(),
        size: Ends(factor(change.size), factor(change.low), factor(change.high)),
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

/// The ratios of a series from line `start` on, of which nothing speaks against; a run is known by its place.
fn observed<'a>(
    history: &History,
    strata: &'a [String],
    series: usize,
    start: usize,
) -> Vec<Observed<'a>> {
    let lines = (0_u64..).zip(&history.runs).skip(start);
    let observed = lines.filter_map(|(run, line)| {
        let number = line.number(series).filter(|number| number.trusted)?;
        let Ends(ratio, low, high) = number.ratio?;
        let half_width = (libm::log(high) - libm::log(low)) / 2.0;
        let noise = noise_of(half_width, number.blocks);
        Some(Observed {
            run,
            ratio: libm::log(ratio),
            error: noise.map(|noise| noise / f64::from(number.blocks).sqrt()),
            stratum: strata.get(line.setting)?,
        })
    });
    observed.collect()
}
