//! Why trials have no measurement, grouped for people.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::status::SkippedVariant;
use wasmbench_model::quote::shorten;
use wasmbench_model::units::truncate;
use wasmbench_model::wire::record::{Outcome, TrialId};

use crate::read::observation::Observation;
use crate::summary::{FailureGroup, Named, Summary};

/// The most groups of failures that a summary keeps; records keep all.
const MAX_FAILURES: usize = 20;
/// Longest message of a failure, in characters; the same limit as in the status field for skipped
/// variants.
const MAX_FAILURE_CHARS: usize = 512;
/// The most entries of the status field for skipped variants.
const MAX_SKIPPED: usize = 16;

/// Failed and skipped trials by variant and reason, the most frequent first, and how many trials
/// are not in the list.
pub fn failures(
    spec: &BenchmarkRunSpec,
    observations: &BTreeMap<TrialId, Observation>,
) -> (Vec<FailureGroup>, u32) {
    let names: BTreeSet<&str> = spec.variants.iter().map(|v| v.name.as_str()).collect();
    let mut in_order: Vec<_> = observations
        .iter()
        .filter(|(t, _)| names.contains(t.cell.variant.as_str()))
        .collect();
    in_order.sort_by_key(|(trial, observed)| (observed.position, *trial));
    let mut groups: BTreeMap<(&str, &str), FailureGroup> = BTreeMap::new();
    for (trial, observed) in in_order {
        let (reason, message, tried) = match &observed.ended {
            Outcome::Measured => continue,
            Outcome::Failed { reason, message } => (reason, message, 1),
            Outcome::Skipped { reason, message } => (reason, message, 0),
        };
        let group = groups
            .entry((&trial.cell.variant, reason.as_str()))
            .or_insert_with(|| FailureGroup {
                variant: trial.cell.variant.clone(),
                reason: truncate(reason.as_str(), 64),
                message: shorten(message, MAX_FAILURE_CHARS),
                first: trial.to_string(),
                workloads: vec![],
                failed: 0,
                skipped: 0,
            });
        let workload = &trial.cell.workload;
        // A scout is of all workloads.
        if !trial.is_scout() && !group.workloads.contains(workload) {
            group.workloads.push(workload.clone());
        }
        group.failed += tried;
        group.skipped += 1 - tried;
    }
    let mut groups: Vec<FailureGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.failed + group.skipped));
    let rest = groups.split_off(groups.len().min(MAX_FAILURES));
    (
        groups,
        rest.iter().map(|group| group.failed + group.skipped).sum(),
    )
}

/// Variants that failed in some trials of a workload and were measured in others: `shim is flaky: 3
/// of 10 trials failed (CrashLoop)`. This is a finding, and would look like a failure of the
/// harness if it were not reported.
pub fn flaky_variants(summary: &Summary) -> Vec<String> {
    let flaky = |variant: &Named| {
        let (failed, tried) = flaky_trials(summary, &variant.name);
        let mut groups = summary.failures.iter();
        let group = groups.find(|group| group.variant == variant.name && group.failed > 0);
        let reason = group.map_or_else(String::new, |group| format!(" ({})", group.reason));
        let name = &variant.name;
        (failed > 0).then(|| format!("{name} is flaky: {failed} of {tried} trials failed{reason}"))
    };
    summary.compared.variants.iter().filter_map(flaky).collect()
}

/// How many trials failed and how many were tried, over the workloads in which only some failed.
fn flaky_trials(summary: &Summary, variant: &str) -> (u32, u32) {
    let mut of_all = (0, 0);
    for workload in &summary.compared.workloads {
        let cells = summary
            .all_cells()
            .filter(|cell| cell.is_of(variant, &workload.name))
            .map(|cell| cell.counts);
        let (failed, measured) = cells.fold((0, 0), |(failed, measured), counts| {
            (
                failed + counts.failed,
                measured + counts.valid + counts.invalid,
            )
        });
        if failed > 0 && measured > 0 {
            of_all.0 += failed;
            of_all.1 += failed + measured;
        }
    }
    of_all
}

/// Variants with failed or skipped trials and no measurement, with the reason for most of these
/// trials.
pub fn skipped_variants(summary: &Summary) -> Vec<SkippedVariant> {
    let variants = summary.compared.variants.iter();
    let unmeasured = variants.filter(|variant| !is_measured(summary, &variant.name, None));
    let skipped = unmeasured.filter_map(|variant| {
        let mut groups = summary.failures.iter();
        let group = groups.find(|group| group.variant == variant.name)?;
        Some(skipped(group, vec![]))
    });
    skipped.collect()
}

/// Every reason why a variant has no measurement, at all or under a workload, in the order of the
/// spec; the most frequent reasons first.
pub fn skipped_points(summary: &Summary) -> Vec<SkippedVariant> {
    let mut all = vec![];
    for variant in &summary.compared.variants {
        let is_missing = !is_measured(summary, &variant.name, None);
        let groups = summary.failures.iter();
        for group in groups.filter(|group| group.variant == variant.name) {
            let mut workloads = group.workloads.clone();
            workloads.retain(|one| !is_measured(summary, &variant.name, Some(one)));
            let is_everywhere = workloads.len() == summary.compared.workloads.len();
            if is_missing && (workloads.is_empty() || is_everywhere) {
                all.push(skipped(group, vec![]));
            } else if !workloads.is_empty() {
                all.push(skipped(group, workloads));
            }
        }
    }
    all.truncate(MAX_SKIPPED);
    all
}

/// Whether the variant has a measurement, under this workload or under any.
fn is_measured(summary: &Summary, variant: &str, workload: Option<&str>) -> bool {
    let mut cells = summary.all_cells();
    cells.any(|cell| {
        let is_there = workload.is_none_or(|workload| cell.is_of(variant, workload));
        cell.variant == variant && is_there && cell.counts.is_measured()
    })
}

fn skipped(group: &FailureGroup, workloads: Vec<String>) -> SkippedVariant {
    SkippedVariant {
        variant: group.variant.clone(),
        reason: group.reason.clone(),
        message: group.message.clone(),
        workloads,
    }
}
