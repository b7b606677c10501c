//! Comparisons that rest on fewer blocks than the run has: a number is absent in windows that are too
//! short to read it, and trials are left out or fail.

use crate::coldstart::{ColdStartCell, ColdTime};
use crate::comparison::Comparison;
use crate::density::DensityCell;
use crate::doubts::{Doubt, Evidence, FEWEST_BLOCKS, MAX_PLACES, Reason, listed, note};
use crate::measure::Metric;

/// A ratio in words, and in how many blocks both sides were measured.
type Paired = (String, usize);

/// Comparisons with too few blocks in a run that has enough.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let (blocks, fewest) = (evidence.spec.blocks, FEWEST_BLOCKS as usize);
    let loads = evidence.comparisons.iter().map(of_load);
    let cold = evidence.cold_starts.iter().flat_map(of_cold_start);
    let density = evidence.density.iter().filter_map(of_density);
    let all = loads.chain(cold).chain(density);
    let few = all.filter(|(_, paired)| blocks >= FEWEST_BLOCKS && *paired < fewest);
    let places = few.map(|(what, paired)| format!("{what} ({paired})"));
    Some(note(
        Reason::TooFewBlocks,
        format!(
            "comparisons that rest on fewer than {fewest} of the run's {blocks} blocks: {}",
            listed(places, MAX_PLACES, ", ")?
        ),
        "raise spec.sweeps.warmLatency.requests where CPU and memory are absent; else look at the trials that failed or \
         were left out, and run again",
    ))
}

fn of_load(comparison: &Comparison) -> Paired {
    let Comparison {
        variant, workload, ..
    } = comparison;
    let what = format!("{} of {variant} on {workload}", comparison.what());
    (what, comparison.per_block.len())
}

fn of_cold_start(cell: &ColdStartCell) -> Vec<Paired> {
    let times = [
        (
            Metric::ColdStartListening,
            cell.create_to_listening.as_ref(),
        ),
        (Metric::ColdStartAnswer, cell.create_to_answer.as_ref()),
    ];
    let paired = |(metric, time): (Metric, Option<&ColdTime>)| {
        let found = time?.versus_baseline.as_ref()?;
        let what = format!("{} of {}", metric.noun(), cell.place());
        Some((what, found.per_block.len()))
    };
    times.into_iter().filter_map(paired).collect()
}

fn of_density(cell: &DensityCell) -> Option<Paired> {
    let found = cell.versus_baseline.as_ref()?;
    Some((
        format!("density of {}", cell.place()),
        found.per_block.len(),
    ))
}
