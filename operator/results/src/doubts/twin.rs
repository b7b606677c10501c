//! A baseline that differs from its twin: what this shows about the node.

use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed};
use crate::judge::comparison::NoiseFloor;
use crate::vocabulary::cell::place;
use crate::vocabulary::measure::Measured as _;
use wasmbench_api::run::TWIN;

/// Numbers in which baseline and twin differ by more than chance.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let differ = evidence.noise_floors.iter().filter(|floor| floor.differs);
    let place = |floor: &NoiseFloor| {
        let place = place(TWIN, &floor.workload, floor.point);
        format!("{} of {place} {}", floor.metric.noun(), floor.words())
    };
    Some(crate::doubts::doubt(
        Reason::NodeNoisy,
        format!(
            "the baseline differs from itself, measured a second time: {}",
            listed(differ.map(place), MAX_PLACES, ", ")?
        ),
        "what differs between two pods of one image differs between variants too: look for what the node does to single pods (CPUs of \
         different kinds, memory on another node), and use more blocks",
    ))
}
