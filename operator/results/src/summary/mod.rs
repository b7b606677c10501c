//! `summary.json`: everything a run found, as numbers. Units are in the names or next to them.
//! Measured fractions have at most five significant digits. A number that could not be measured is
//! absent.
//!
//! Reading order: [`collect`] (records to a summary, through all storeys), [`failures`], [`shim_use`],
//! [`sandbox`], [`limits`] and [`words`] (what else it lists), [`mod@trust`] (how far to trust it), [`verdict`] (the
//! result in one line), [`power`] (what a run can find), [`cost`] with [`node_price`] and [`at_target`] (what
//! it costs).

pub mod at_target;
pub mod collect;
pub mod cost;
pub mod failures;
pub mod limits;
pub mod next_step;
pub mod node_price;
pub mod power;
pub mod sandbox;
pub mod shim_use;
pub mod trust;
pub mod verdict;
pub mod words;

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::status::NotApplicable;
use wasmbench_model::wire::schema::{self, OtherSchema};

use crate::cells;
use crate::cells::any::AnyCell;
use crate::cells::capacity::CapacityCell;
use crate::cells::coldstart::{ColdStartCell, HarnessFloor};
use crate::cells::density::DensityCell;
use crate::cells::load::LoadCell;
use crate::cells::payload::PayloadCell;
use crate::judge::comparison::{Comparison, NoiseFloor};
use crate::judge::expectations::Decision;
use crate::judge::precision::Precision;
use crate::read::environment::Environment;
use crate::read::period::Period;
use crate::read::scout::ScoutSummary;
use crate::summary::limits::VariantLimits;
use crate::summary::sandbox::SandboxSummary;
use crate::summary::shim_use::ShimSummary;
use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Doubt;
use crate::vocabulary::measure::Metric;

/// Name and version of the summary's schema.
pub const SUMMARY_SCHEMA: &str = "wasmbench.dev/summary/v3";

/// A `summary.json` cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// It is of another version.
    #[error("{0}; use the version that wrote it, or measure again")]
    OtherSchema(#[from] OtherSchema),
    /// It is not a summary.
    #[error("it is not a summary: {0}")]
    Json(#[from] serde_json::Error),
}

/// Everything a run found.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: String,
    /// Which run.
    pub run: RunName,
    /// Seed of the order of trials.
    pub seed: i64,
    /// The variant with which the others are compared.
    pub baseline: String,
    /// The baseline of the run's spec, if the variants are compared with another one.
    pub planned_baseline: Option<String>,
    /// The result in one line, at most 220 characters.
    pub verdict: String,
    /// Whether the numbers can be trusted; absent if there are none.
    pub trustworthy: Option<bool>,
    /// What speaks against the numbers, and what limits them.
    pub doubts: Vec<Doubt>,
    /// How the trials ended.
    pub trials: TrialCounts,
    /// When the run was measured; absent without a record.
    pub period: Option<Period>,
    /// How precise the ratios are; absent without `spec.precision`.
    pub precision: Option<Precision>,
    /// Ratios to the baseline in all sweeps, by workload, variant and measure.
    pub comparisons: Vec<Comparison>,
    /// The outcomes of the run's expectations, in the order of the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Decision>,
    /// The baseline compared with its twin, by workload and measure; empty without a twin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_floors: Vec<NoiseFloor>,
    /// Loads: one entry per variant, workload and sweep point, in the order of the spec.
    pub cells: Vec<LoadCell>,
    /// Capacity: one entry per variant and workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity: Vec<CapacityCell>,
    /// Payload: one entry per variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub payload: Vec<PayloadCell>,
    /// What the container runtime used for the pods outside their cgroups, by variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shims: Vec<ShimSummary>,
    /// What is known about the pods apart from the numbers that are compared, by variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandboxes: Vec<SandboxSummary>,
    /// Cold starts: one entry per variant, workload and number of pods created at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold_starts: Vec<ColdStartCell>,
    /// Cold starts of a subject that does nothing but listen, by number of pods created at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harness_floors: Vec<HarnessFloor>,
    /// Density: one entry per variant and workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub density: Vec<DensityCell>,
    /// What variants cannot do by definition: it is not planned, so it has no cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<NotApplicable>,
    /// What was seen of each variant before the first block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scouts: Vec<ScoutSummary>,
    /// Distinct reasons for failed and skipped trials, the most frequent first.
    pub failures: Vec<FailureGroup>,
    /// Failed and skipped trials whose reason is not in `failures`, because the list is truncated.
    pub failures_not_listed: u32,
    /// Where and with what the run was measured.
    pub environment: Environment,
    /// What was requested. Absent if it is too large for a report; the run itself has it.
    pub spec: Option<BenchmarkRunSpec>,
    /// What reports say about the variants and workloads, even without the spec.
    pub compared: Compared,
}

impl Summary {
    /// Reads a `summary.json` of this version's schema.
    pub fn read(json: &str) -> Result<Self, NotRead> {
        #[derive(Deserialize)]
        struct OnlySchema {
            schema: String,
        }
        let named: OnlySchema = serde_json::from_str(json)?;
        schema::check(&named.schema, SUMMARY_SCHEMA)?;
        Ok(serde_json::from_str(json)?)
    }

    /// The cells of all sweeps.
    pub fn all_cells(&self) -> impl Iterator<Item = AnyCell<'_>> {
        cells::all(
            &self.cells,
            &self.capacity,
            &self.payload,
            &self.cold_starts,
            &self.density,
        )
    }

    /// A measure of a cell as a multiple of the baseline's; `None` for the baseline, and if the
    /// measure is not compared there.
    pub fn comparison(&self, cell: AnyCell<'_>, metric: Metric) -> Option<&Comparison> {
        self.comparisons.iter().find(|found| {
            found.metric == metric && cell.is_at(&found.variant, &found.workload, found.point)
        })
    }

    /// Why capacities of a variant and of the baseline have no ratio: both lie beyond an end of the ladder.
    /// `None` if they do not.
    pub fn only_bounds(&self, variant: &str, workload: &str) -> Option<String> {
        let baseline = self.baseline.as_str();
        let is_bounded = |name: &str| {
            let mut cells = self.capacity.iter().map(CapacityCell::any);
            cells.any(|cell| cell.is_of(name, workload) && cell.is_bounded())
        };
        (variant != baseline && is_bounded(variant) && is_bounded(baseline)).then(|| {
            format!(
                "{variant} and {baseline} both lie beyond an end of the ladder: only bounds are known"
            )
        })
    }
}

/// Which run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RunName {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid, which is unique to this run.
    pub uid: String,
}

/// Trials that failed or were skipped for the same reason.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FailureGroup {
    /// Name of the variant.
    pub variant: String,
    /// The reason as one word.
    pub reason: String,
    /// What happened the first time, and what to do about it; at most 512 characters.
    pub message: String,
    /// The first trial of the group, `variant/workload/point/bN`.
    pub first: String,
    /// Names of the workloads of its trials, in the order of the first of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    /// Trials that were tried and failed.
    pub failed: u32,
    /// Trials that were skipped.
    pub skipped: u32,
}

/// The variants, workloads and sweeps in words.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// One entry per variant: its name and what it is.
    pub variants: Vec<Named>,
    /// What the pods of each variant may use; empty unless variants have limits of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<VariantLimits>,
    /// What the twin is, if there is one.
    pub twin: Option<String>,
    /// One entry per workload: its name, and the request with the right answer.
    pub workloads: Vec<Named>,
    /// One sentence per sweep.
    pub sweeps: Vec<String>,
    /// Repetitions of every cell.
    pub blocks: u32,
    /// The smallest difference that matters, as a share of 1.
    pub minimum_effect: Option<f64>,
}

impl Compared {
    /// The limits of a variant, where these are compared.
    pub fn limits_of(&self, variant: &str) -> Option<&VariantLimits> {
        self.limits.iter().find(|one| one.variant == variant)
    }
}

/// A name and what it stands for, in words.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// The name.
    pub name: String,
    /// What it is, at most 160 characters.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_another_schema_is_refused_with_both_schemas_and_a_remedy() {
        let other = r#"{"schema": "wasmbench.dev/summary/v0", "cells": "elsewhere"}"#;
        let error = Summary::read(other).unwrap_err().to_string();
        for expected in ["summary/v0", SUMMARY_SCHEMA, "measure again"] {
            assert!(error.contains(expected), "{expected}: {error}");
        }
        for broken in ["", "{}", "[]"] {
            assert!(matches!(Summary::read(broken), Err(NotRead::Json(_))));
        }
    }
}
