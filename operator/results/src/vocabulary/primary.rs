//! What a run decides: one measure per sweep and workload, unless its author chose others. Verdicts
//! are corrected for their number, so a run that decided everything that it measures would find
//! little: a true difference of 10 % at 3 % noise is found in 96 of 100 runs by itself, and in 16
//! among 60 comparisons.

use std::collections::BTreeSet;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{Metric, TWIN};
use wasmbench_model::points::{measured_at, points_of};
use wasmbench_model::wire::record::Point;

/// A measure of a variant under a workload at a point.
pub type Place<'a> = (&'a str, &'a str, Point, Metric);

/// The primary ones among the places at which a run compares.
pub fn places<'a>(
    spec: &BenchmarkRunSpec,
    places: impl Iterator<Item = Place<'a>>,
) -> BTreeSet<Place<'a>> {
    let places: Vec<Place<'_>> = places.collect();
    let is_main = |place: &Place<'_>| {
        let of_same = places.iter().filter(|other| {
            (other.0, other.1, other.3) == (place.0, place.1, place.3)
                && other.2.sweep() == place.2.sweep()
        });
        of_same.map(|other| rank(other.2)).max() == Some(rank(place.2))
    };
    let all: BTreeSet<Place<'_>> = places.iter().copied().filter(is_main).collect();
    let chosen = &spec.primary_measures;
    let is_primary = |place: &Place<'_>| {
        let (variant, workload, point, metric) = *place;
        if !chosen.is_empty() {
            return chosen.contains(&metric);
        }
        let mut candidates = measured_at(point).iter().filter(|one| !one.is_additional());
        candidates.find(|one| all.contains(&(variant, workload, point, **one))) == Some(&metric)
    };
    all.iter().copied().filter(is_primary).collect()
}

/// The number of primary comparisons of a run of this spec if all goes well.
pub fn planned(spec: &BenchmarkRunSpec) -> usize {
    let baseline = spec.baseline_name();
    let competes = |name: &str| name != baseline && name != TWIN;
    let variants = spec
        .variants
        .iter()
        .filter(|variant| competes(&variant.name))
        .count();
    let of_pair = match spec.primary_measures.len() {
        0 => {
            let sweeps = points_of(spec).into_iter().map(measured_at);
            sweeps.collect::<BTreeSet<_>>().len()
        }
        chosen => chosen,
    };
    variants * spec.workloads.len() * of_pair
}

/// The rank of a point among those of its sweep: the highest rate or the fewest pods at once rank
/// highest. `None` for sweeps in which measures are compared at one point only.
const fn rank(point: Point) -> Option<i64> {
    match point {
        Point::OpenLoop { rate } => Some(rate.number() as i64),
        Point::ColdStart { concurrency } => Some(-(concurrency as i64)),
        Point::WarmLatency
        | Point::Throughput { .. }
        | Point::Capacity
        | Point::Payload
        | Point::Density
        | Point::Scout => None,
    }
}

/// The most telling point of `metric` among those that the spec requests; `None` for measures that
/// are compared at one point only.
pub fn most_telling(spec: &BenchmarkRunSpec, metric: Metric) -> Option<Point> {
    let points = points_of(spec).into_iter();
    let compared = points.filter(|point| measured_at(*point).contains(&metric));
    compared
        .filter(|point| rank(*point).is_some())
        .max_by_key(|point| rank(*point))
}
