//! Points that the earlier run has and the later one lost: it planned to measure them but has no
//! valid number for them. Ratios cannot show this, since there are none.

use wasmbench_api::run::TWIN;
use wasmbench_results::summary::Summary;

use crate::across::ratios::{Place, Sample, places};
use crate::across::{Across, Lost};
use crate::table::ascii;

/// The most variants on workloads that a line names.
const MAX_NAMED: usize = 3;

/// Points of `later` for which the `earlier` run has a number and the later one has none. A point
/// that has some numbers left is not lost: a service that got faster leaves windows too short to
/// read CPU and memory. The baseline's twin does not count either, because it is no competitor.
pub fn lost(later: &Summary, earlier: &[Sample], numbers: &[Sample]) -> Vec<Lost> {
    let has = |samples: &[Sample], place: &Place| samples.iter().any(|one| one.place == *place);
    let competitors = places(later)
        .into_iter()
        .filter(|place| place.variant != TWIN);
    let lost = competitors.filter(|place| has(earlier, place) && !has(numbers, place));
    lost.map(|place| Lost {
        point: place.point.to_string(),
        variant: place.variant,
        workload: place.workload,
    })
    .collect()
}

impl Across {
    /// The lost points in words: `no valid number any more: embedded on hello (warm,
    /// throughput-c10)`; `None` without any.
    pub fn lost_words(&self) -> Option<String> {
        let mut groups: Vec<(String, Vec<&str>)> = vec![];
        for lost in &self.lost {
            let of = format!("{} on {}", lost.variant, lost.workload);
            match groups.iter_mut().find(|(known, _)| *known == of) {
                Some((_, points)) => points.push(&lost.point),
                None => groups.push((of, vec![&lost.point])),
            }
        }
        let shown = groups.iter().take(MAX_NAMED);
        let shown: Vec<String> = shown
            .map(|(of, points)| format!("{of} ({})", points.join(", ")))
            .collect();
        let more = match groups.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = format!("no valid number any more: {}{more}", shown.join(", "));
        (!shown.is_empty()).then(|| ascii(&words))
    }
}
