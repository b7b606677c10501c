//! The baseline's half of a duet: a record in, what a summary needs of the half out, and the trials
//! that the halves of all duets make.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;

use super::cells::trial_of;
use super::observation::{Observation, failed, observe_load};
use super::quality::Reason;
use super::summary::{CellSummary, Sweep};
use super::trial::Trial;
use crate::duet;
use crate::wire::document::LoadDocument;
use crate::wire::instrument::CpuLists;
use crate::wire::record::{Cell, Point, Record, TrialId};

/// What the probe of a duet saw of the baseline.
pub fn document(record: &Record) -> Option<&LoadDocument> {
    let duet = record.document.as_ref()?.duet.as_ref()?;
    Some(&duet.baseline)
}

/// The baseline's half, when it was measured or failed by itself. One that was lost because the variant
/// failed is no trial of the baseline.
pub fn partner(record: &Record, expected_status: u16) -> Option<Observation> {
    let document = document(record)?;
    let mut seen = observe_load(record, Some(document), expected_status, 0);
    if let Some(failure) = &document.failure {
        seen.ended = failed(failure.reason.into(), &failure.message);
    }
    let is_own = seen.is_measured() || document.failure.is_some();
    is_own.then_some(seen)
}

/// Where both halves ran, in words: `left: subject 0, generator 1; right: subject 2, generator 3;
/// pinned by the probe`.
pub fn sides(record: &Record) -> Option<String> {
    let variant = record.document.as_ref()?;
    let duet = variant.duet.as_ref()?;
    let cpus = duet.cpus.as_ref()?;
    let words = |lists: Option<&CpuLists>| {
        let lists = lists?;
        let (subject, generator) = (lists.subject.as_ref()?, lists.generator.as_ref()?);
        Some(format!("subject {subject}, generator {generator}"))
    };
    let mut sides = [
        (cpus.side, words(variant.cpus.as_ref())?),
        (cpus.side.opposite(), words(duet.baseline.cpus.as_ref())?),
    ];
    sides.sort_by_key(|(side, _)| <&str>::from(*side));
    let [(left, on_left), (right, on_right)] = sides;
    let (left, right): (&str, &str) = (left.into(), right.into());
    let by: &str = cpus.pinned_by.into();
    let idle = cpus.idle.as_ref();
    let idle = idle.map_or_else(String::new, |list| format!("; left to the system: {list}"));
    let core = if cpus.share_a_core {
        "; the sides share a core"
    } else {
        ""
    };
    Some(format!(
        "{left}: {on_left}; {right}: {on_right}{idle}; pinned by the {by}{core}"
    ))
}

/// Whether a cell's trials are halves of the trials of others.
pub fn is_in_others(spec: &BenchmarkRunSpec, baseline: &str, cell: &CellSummary) -> bool {
    let point = match cell.sweep {
        Sweep::WarmLatency => Point::WarmLatency,
        Sweep::Throughput => Point::Throughput {
            connections: cell.connections,
        },
        Sweep::OpenLoop => return false,
    };
    cell.variant == baseline && duet::is_duet(spec, point)
}

/// The baseline's halves at a point, by block and variant in the order of the spec, and how many there
/// should be: what a failure of the other half took away is not asked for.
pub fn halves_of_baseline(
    spec: &BenchmarkRunSpec,
    cell: &Cell,
    observations: &BTreeMap<TrialId, Observation>,
    wrong: Option<Reason>,
) -> (Vec<Trial>, u32) {
    let (mut trials, mut planned) = (vec![], 0);
    let others = spec.variants.iter().filter(|v| v.name != cell.variant);
    let others: Vec<&str> = others.map(|variant| variant.name.as_str()).collect();
    for block in 1..=spec.blocks {
        for variant in &others {
            let id = TrialId {
                cell: Cell {
                    variant: (*variant).to_owned(),
                    ..cell.clone()
                },
                block,
            };
            match observations.get(&id) {
                None => planned += 1,
                Some(seen) => {
                    let half = seen.partner.as_ref();
                    let half = half.map(|half| trial_of(&half.seen, block, Some(*variant), wrong));
                    planned += u32::from(half.is_some());
                    trials.extend(half);
                }
            }
        }
    }
    (trials, planned)
}
