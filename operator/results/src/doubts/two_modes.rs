//! Variants whose pods fall into two groups: a typical pod belongs to one of them, and none lies in
//! between.

use wasmbench_api::run::TWIN;
use wasmbench_model::points::measured_at;

use crate::cells::any::AnyCell;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note};
use crate::statistics::modes::two_modes;
use crate::vocabulary::measure::{Measured as _, Metric};
use crate::vocabulary::minimum::minimum_effect;

/// The measures that the run decides, for variants, the baseline and its twin. A note: an interval over both
/// groups is wide enough, and for whoever runs the service the groups are a finding.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let effect = minimum_effect(evidence.spec);
    let baseline = evidence.spec.baseline_name();
    let is_decided = |cell: AnyCell<'_>, metric: Metric| {
        // A run of a single variant compares nothing: the measure that it would compare first
        // counts.
        if evidence.comparisons.is_empty() {
            return measured_at(cell.point).first() == Some(&metric);
        }
        let mut primary = evidence.comparisons.iter().filter(|one| one.primary);
        primary.any(|one| {
            let here = (&*one.workload, one.point, one.metric);
            let is_of = [&*one.variant, baseline, TWIN].contains(&cell.variant);
            is_of && here == (cell.workload, cell.point, metric)
        })
    };
    let of_cell = |cell: AnyCell<'_>| -> Vec<String> {
        let series = cell.detail.series().into_iter();
        let decided = series.filter(|(metric, _)| is_decided(cell, *metric));
        let text = decided.filter_map(|(metric, by_block)| {
            let logs: Vec<f64> = by_block.values().map(|number| libm::log(*number)).collect();
            let modes = two_modes(&logs)?;
            let shown = |(log, count): (f64, usize)| {
                format!(
                    "{count} around {}",
                    metric.measure().unit.shown(libm::exp(log))
                )
            };
            let matters = modes.high.0 - modes.low.0 > effect;
            let (low, high) = (shown(modes.low), shown(modes.high));
            matters.then(|| format!("{} of {}: {low}, {high}", metric.noun(), cell.place()))
        });
        text.collect()
    };
    let cells = evidence.cells.all().filter(|cell| cell.ranked);
    Some(note(
        Reason::TwoModes,
        format!(
            "pods of the same variant fall into two groups: {}",
            listed(cells.flat_map(of_cell), MAX_PLACES, "; ")?
        ),
        "a typical pod is of either group, and the ratio lies between both: look for what differs from pod to pod (the CPU it runs on, \
         huge pages, what a compiler decided)",
    ))
}
