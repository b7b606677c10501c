//! Why trials have no measurement, grouped for people.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::BenchmarkRunSpec;

use super::observation::{Ended, Observation};
use super::summary::{FailureGroup, Summary};
use super::table::{Align, Table};
use super::units::cut;
use crate::wire::record::TrialId;

/// Groups of failures that a summary keeps; records keep all.
const MAX_FAILURES: usize = 20;
/// Longest message of a failure, in characters: that of the status field for skipped variants.
const MAX_FAILURE_CHARS: usize = 512;
/// Longest message in a report; `summary.json` has more of it.
const MAX_SHOWN_CHARS: usize = 256;

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
    in_order.sort_by_key(|(trial, seen)| (seen.position, *trial));
    let mut groups: BTreeMap<(&str, &str), FailureGroup> = BTreeMap::new();
    for (trial, seen) in in_order {
        let (reason, message, tried) = match &seen.ended {
            Ended::Measured => continue,
            Ended::Failed { reason, message } => (reason, message, 1),
            Ended::Skipped { reason, message } => (reason, message, 0),
        };
        let group = groups
            .entry((&trial.cell.variant, reason))
            .or_insert_with(|| FailureGroup {
                variant: trial.cell.variant.clone(),
                reason: cut(reason, 64),
                message: cut(message, MAX_FAILURE_CHARS),
                first: trial.to_string(),
                failed: 0,
                skipped: 0,
            });
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

/// Distinct reasons for trials without a measurement, the most frequent first.
pub fn table(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Reason", Align::Left),
        ("Failed", Align::Right),
        ("Skipped", Align::Right),
        ("First trial", Align::Left),
        ("Message", Align::Left),
    ]);
    for group in &summary.failures {
        table.row(&[
            group.variant.clone(),
            group.reason.clone(),
            group.failed.to_string(),
            group.skipped.to_string(),
            group.first.clone(),
            cut(&group.message, MAX_SHOWN_CHARS),
        ]);
    }
    table
}

/// What the table leaves out, in a sentence; `None` when it leaves out nothing.
pub fn not_listed(summary: &Summary) -> Option<String> {
    let more = summary.failures_not_listed;
    (more > 0).then(|| format!("{more} more trials for other reasons: see the records."))
}
