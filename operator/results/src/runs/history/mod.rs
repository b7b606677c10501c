//! What outlives the runs of a schedule: for each run and primary measure, the ratio or difference
//! to the baseline and the number itself, with where and with what they were measured, and the
//! lasting changes.
//!
//! Reading order: [`mod@line`] (what is kept of a run), [`History::add`] (adds a run's summary),
//! `detect` (finds each [`lasting_change`]), [`Scatter`] (how far runs differ if nothing changed),
//! [`stored`] (the history as bytes; if there are too many, the oldest runs are folded).

mod bounded;
mod detect;
mod document;
pub mod lasting_change;
pub mod line;
pub mod regressed;
mod scatter;
mod shorten;
pub mod stored;

pub use document::{HISTORY_SCHEMA, History};
pub use scatter::Scatter;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::SubjectResources;
use wasmbench_model::store::hex;

use crate::judge::comparison::Comparison;
use crate::runs::history::lasting_change::LastingChange;
use crate::runs::history::line::{Ends, Line, Number, Series, Setting};
use crate::statistics::{Interval, Scale};
use crate::summary::Summary;
use crate::vocabulary::measure::Measured as _;
use crate::vocabulary::minimum::minimum_effect;

/// Hex digits of the digest of what was requested: enough to distinguish the specs of a schedule.
const DIGEST_DIGITS: usize = 12;

impl History {
    /// Adds a run that ended at `ended`, and returns the lasting changes that it reveals.
    pub fn add(
        &mut self,
        summary: &Summary,
        spec: &BenchmarkRunSpec,
        ended: Timestamp,
    ) -> Vec<LastingChange> {
        let setting = place_of(&mut self.settings, setting_of(summary, spec));
        let numbers = self.numbers(summary, spec);
        self.runs.push(Line {
            name: summary.run.name.clone(),
            ended,
            runs: 1,
            setting,
            numbers,
        });
        detect::detect(self)
    }

    /// The numbers of the primary comparisons, and those of the baseline.
    fn numbers(&mut self, summary: &Summary, spec: &BenchmarkRunSpec) -> Vec<Number> {
        let mut numbers: BTreeMap<usize, Number> = BTreeMap::new();
        for compared in summary
            .comparisons
            .iter()
            // A bound is no number to follow.
            .filter(|compared| compared.primary && compared.estimate.bound.is_none())
        {
            let versus = versus_baseline(compared);
            for (variant, versus_baseline) in
                [(&compared.variant, versus), (&summary.baseline, None)]
            {
                let series = Series::new(variant, compared);
                let value = value_of(summary, &series);
                let trusted = match versus_baseline {
                    Some(_) => compared.untrusted.is_empty(),
                    None => is_trusted(summary, spec, &series),
                };
                let place = place_of(&mut self.series, series);
                numbers.entry(place).or_insert(Number {
                    series: place,
                    versus_baseline,
                    blocks: compared.estimate.blocks,
                    value,
                    trusted,
                    pilot: versus_baseline.and(compared.estimate.pilot_blocks),
                });
            }
        }
        numbers.into_values().collect()
    }
}

/// How the variant compares with the baseline: what is judged of the measure.
fn versus_baseline(compared: &Comparison) -> Option<Ends> {
    match compared.metric.scale() {
        Scale::Ratio => {
            let estimate = &compared.estimate;
            Some(Ends::new(estimate.ratio, estimate.ends()))
        }
        Scale::Difference => {
            let difference = compared.difference?;
            Some(Ends::new(difference.value, difference.ends()))
        }
    }
}

/// The measure itself: the trimmed mean of its blocks, with its interval.
fn value_of(summary: &Summary, series: &Series) -> Option<Ends> {
    let cell = summary.all_cells().find(|cell| series.is_of(*cell))?;
    let mut measures = cell.detail.series().into_iter();
    let (_, blocks) = measures.find(|(metric, _)| *metric == series.metric)?;
    let blocks: Vec<f64> = blocks.into_values().collect();
    let scale = series.scale();
    Interval::new(&blocks, scale).map(|interval| Ends::from_interval(&interval, scale))
}

fn is_trusted(summary: &Summary, spec: &BenchmarkRunSpec, series: &Series) -> bool {
    let mut cells = summary.all_cells();
    let cell = cells.find(|cell| series.is_of(*cell));
    cell.is_some_and(|cell| cell.untrusted_because(minimum_effect(spec)).is_empty())
}

/// What must be equal for the numbers of two runs to be compared: the [`Setting::stratum`] of this
/// run.
pub fn stratum_of(summary: &Summary, spec: &BenchmarkRunSpec) -> String {
    setting_of(summary, spec).stratum()
}

fn setting_of(summary: &Summary, spec: &BenchmarkRunSpec) -> Setting {
    let environment = &summary.environment;
    let images = environment.variants.iter().map(|found| {
        // The name of an image may refer to another image tomorrow; its id does not.
        let images = if found.image_ids.is_empty() {
            &found.images
        } else {
            &found.image_ids
        };
        let ids: Vec<&str> = images.iter().map(String::as_str).collect();
        (found.variant.clone(), ids.join(" "))
    });
    Setting {
        node: environment.node.clone().unwrap_or_default(),
        fingerprint: environment.fingerprint.clone().unwrap_or_default(),
        baseline: summary.baseline.clone(),
        images: images.collect(),
        asked: digest_of(spec),
    }
}

/// The digest of what makes runs of a schedule different experiments, regardless of their variants.
fn digest_of(spec: &BenchmarkRunSpec) -> String {
    let (workloads, sweeps) = (&spec.workloads, &spec.sweeps);
    let requested = match resources_of_baseline(spec) {
        None => json!([workloads, sweeps]),
        Some(resources) => json!([workloads, sweeps, resources]),
    };
    let digest = hex(&Sha256::digest(requested.to_string().as_bytes()));
    digest.chars().take(DIGEST_DIGITS).collect()
}

/// What the baseline may use, where variants have resources of their own: with others it is another
/// baseline.
fn resources_of_baseline(spec: &BenchmarkRunSpec) -> Option<SubjectResources> {
    let variants = || spec.variants.iter();
    let name = spec.baseline_name();
    let baseline = variants().find(|variant| variant.name == name)?;
    let are_compared = variants().any(|variant| variant.resources.is_some());
    are_compared.then(|| spec.resources_of(baseline))
}

/// The place of `one` in the list; adds it if it is new.
fn place_of<T: PartialEq>(list: &mut Vec<T>, one: T) -> usize {
    list.iter()
        .position(|known| *known == one)
        .unwrap_or_else(|| {
            list.push(one);
            list.len() - 1
        })
}

impl Series {
    fn new(variant: &str, compared: &Comparison) -> Self {
        Self {
            variant: variant.to_owned(),
            workload: compared.workload.clone(),
            metric: compared.metric,
            point: compared.point,
        }
    }
}
