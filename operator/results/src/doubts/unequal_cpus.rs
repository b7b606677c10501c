//! Rates of services that do not use equally many CPUs, such as one with a single thread and one
//! with a thread per CPU.

use crate::cells::load::LoadCell;
use crate::doubts::{Doubt, Evidence, MAX_ITEMS, Reason, listed, note};
use crate::judge::comparison::Comparison;
use crate::vocabulary::measure::Metric;

/// From this factor on: more than half as many again.
const FACTOR: f64 = 1.5;
/// Where not even half a CPU is used, the number of threads is not what bounds the rate.
const LEAST: f64 = 0.5;

/// Comparisons of throughput between variants that used different numbers of CPUs. A note: the ratio
/// is right, but it is not that of what a request costs.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let unequal = evidence
        .comparisons
        .iter()
        .filter(|one| one.metric == Metric::ThroughputRps)
        .filter_map(|one| of_comparison(evidence, one));
    Some(note(
        Reason::UnequalCpus,
        format!("throughput: {}", listed(unequal, MAX_ITEMS, "; ")?),
        "requests/s compare what each service made of the CPUs that it used: compare CPU per request, or requests per core, \
         which is its inverse; look for the number of threads or workers of the one that used fewer, and set it as you would \
         in production",
    ))
}

/// `native used 1.90 CPUs and embedded 1.00 on hello at 50 connections`, if they are not equal.
fn of_comparison(evidence: &Evidence<'_>, one: &Comparison) -> Option<String> {
    let baseline = evidence.spec.baseline_name();
    // Different limits explain it, and are what the run is about.
    let limit = |variant: &str| evidence.spec.cpu_limit(variant);
    if limit(baseline) != limit(&one.variant) {
        return None;
    }
    let cell = |variant: &str| {
        let mut cells = evidence.cells.loads.iter();
        cells.find(|cell| cell.is_at(variant, &one.workload, one.point))
    };
    let (base, other) = (cell(baseline)?, cell(&one.variant)?);
    let (used, used_by_other) = (cpus(base)?, cpus(other)?);
    let (fewer, more) = (used.min(used_by_other), used.max(used_by_other));
    let place = other.place();
    let place = place.strip_prefix(&one.variant).unwrap_or(&place);
    (more > FACTOR * fewer && more >= LEAST).then(|| {
        format!(
            "{baseline} used {used:.2} CPUs and {} {used_by_other:.2}{place}",
            one.variant
        )
    })
}

fn cpus(cell: &LoadCell) -> Option<f64> {
    Some(cell.detail.cpus_used?.median)
}
