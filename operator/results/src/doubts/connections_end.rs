//! Services that end connections: each new one costs both sides time, which is part of the numbers.

use std::collections::BTreeMap;

use wasmbench_model::units;
use wasmbench_model::wire::record::Point;

use crate::cells::load::LoadCell;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note, places};

/// Connections that carry this many times the requests of another variant's make a difference.
const DIFFERS: f64 = 1.25;

/// From this share of requests that were sent again on, a service ends connections under load: one
/// that ends them at rest leaves next to none on the way.
const SENT_AGAIN: f64 = 0.01;

/// Workloads under which variants keep their connections for different lengths of time.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let mut by_point: BTreeMap<(&str, Point), Vec<&LoadCell>> = BTreeMap::new();
    for cell in evidence.cells.loads.iter().filter(|cell| cell.ranked) {
        let at = (cell.workload.as_str(), cell.point());
        by_point.entry(at).or_default().push(cell);
    }
    let differing = by_point.into_values().filter(|cells| differ(cells));
    let places = differing.flatten().filter_map(|cell| {
        let requests = requests(cell);
        requests
            .is_finite()
            .then(|| format!("{} ({})", cell.place(), text(requests)))
    });
    Some(note(
        Reason::ConnectionsEnd,
        format!(
            "connections end sooner than those of other variants: {}",
            listed(places, MAX_PLACES, ", ")?
        ),
        "opening a connection costs time and CPU, which is part of the difference: let all variants keep connections, or none \
         (throughput.connectionReuse: PerRequest)",
    ))
}

/// Points at which connections often ended while a request was on its way.
pub fn sent_again(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let resent = cell.detail.traffic.as_ref()?.resent?;
        let all = cell.detail.requests();
        let is_often = resent as f64 > SENT_AGAIN * all as f64;
        is_often.then(|| format!("{} ({resent} of {all} requests)", cell.place()))
    })?;
    Some(note(
        Reason::ConnectionsEnd,
        format!("requests were sent again because their connections ended: {places}"),
        "none of them counts as failed, although the service may have begun with it: let it keep connections, or \
         announce their end with the last answer (Connection: close)",
    ))
}

/// Requests that a connection carried; without end where connections last as long as the load.
fn requests(cell: &LoadCell) -> f64 {
    let traffic = cell.detail.traffic.as_ref();
    let found = traffic.and_then(|traffic| traffic.requests_per_connection);
    found.map_or(f64::INFINITY, |spread| spread.median)
}

fn differ(cells: &[&LoadCell]) -> bool {
    let numbers = cells.iter().map(|cell| requests(cell));
    let (fewest, most) = numbers.fold((f64::INFINITY, 0.0_f64), |(fewest, most), number| {
        (fewest.min(number), most.max(number))
    });
    most > DIFFERS * fewest
}

fn text(requests: f64) -> String {
    format!("{} requests per connection", units::amount(requests))
}
