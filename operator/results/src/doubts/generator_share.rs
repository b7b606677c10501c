//! Throughput that depends on the load generator as much as on the subject.

use wasmbench_model::units;

use crate::cells::load::{LoadCell, LoadDetail};
use crate::doubts::{Doubt, Evidence, Reason, note};
use crate::read::trial::valid;
use crate::statistics::Spread;
use crate::vocabulary::measure::Sweep;

/// From this share on, most of the cost of a request is not the subject's: a subject that does 50 %
/// more work loses a fifth of its throughput at most.
const MOST: f64 = 0.5;

/// Points at which the generator's share is large. A note: the rate is correct, but it is that of
/// subject and generator together. Not where a CPU limit stopped the subject: its rate is then that
/// of the limit, and the generator waits for it.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let is_meant = |cell: &&LoadCell| {
        let load = &cell.detail;
        cell.ranked && load.sweep == Sweep::Throughput && !load.is_throttled()
    };
    let loads = evidence.cells.loads.iter().filter(is_meant);
    let shares: Vec<(f64, &LoadCell)> = loads
        .filter_map(|cell| Some((median_share(&cell.detail)?, cell)))
        .filter(|(share, _)| *share >= MOST)
        .collect();
    let (most, cell) = shares.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let more = match shares.len() - 1 {
        0 => String::new(),
        more => format!(", and at least {} at {more} more", units::percent(MOST)),
    };
    Some(note(
        Reason::GeneratorShare,
        format!(
            "of the CPU time under load {} was the load generator's: {}{more}",
            units::percent(*most),
            cell.place()
        ),
        "requests/s are those of subject and generator on the same CPUs, and move less than what the subject costs: compare CPU per \
         request, or requests per core, which is its inverse",
    ))
}

fn median_share(load: &LoadDetail) -> Option<f64> {
    let shares = valid(&load.trials).filter_map(|trial| trial.metrics.generator_work_share);
    Spread::from_values(shares).map(|spread| spread.median)
}
