//! A baseline that differs from itself: what its twin shows of the node.

use crate::any_cell::place;
use crate::comparison::NoiseFloor;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed};
use crate::statistics::false_discovery;
use wasmbench_api::run::TWIN;

/// The twin is the baseline: a difference is a false one in so many runs of a thousand, however many numbers are looked at.
const LEVEL: f64 = 0.01;

/// Numbers in which baseline and twin differ by more than chance.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let floors = evidence.noise_floors;
    let p_values: Vec<f64> = floors.iter().map(|floor| floor.p_value).collect();
    let adjusted = false_discovery::adjusted(&p_values);
    let differ = floors.iter().zip(adjusted);
    let differ = differ.filter(|(_, p_value)| *p_value <= LEVEL);
    let place = |(floor, _): (&NoiseFloor, f64)| {
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
