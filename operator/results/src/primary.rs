//! What a run decides: one measure of each sweep and workload, unless its author chose others.
//! Verdicts are corrected for how many of them there are, and a run that decided everything that it
//! measures would find little: a true 10 % at 3 % noise shows in 96 of 100 runs alone, and in 16
//! among 60 comparisons.

use std::collections::BTreeSet;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{Metric, TWIN};
use wasmbench_core::points::{measured_at, points_of};
use wasmbench_core::wire::record::Point;

/// A measure of a variant at a point, under a workload.
pub type Place<'a> = (&'a str, &'a str, Point, Metric);

/// The primary ones of the places at which a run compares.
pub fn of<'a>(
    spec: &BenchmarkRunSpec,
    places: impl Iterator<Item = Place<'a>>,
) -> BTreeSet<Place<'a>> {
    let places: Vec<Place<'_>> = places.collect();
    let is_main = |place: &Place<'_>| {
        let of_same = places.iter().filter(|other| {
            (other.0, other.1, other.3) == (place.0, place.1, place.3)
                && other.2.sweep() == place.2.sweep()
        });
        of_same.map(|other| tells(other.2)).max() == Some(tells(place.2))
    };
    let all: BTreeSet<Place<'_>> = places.iter().copied().filter(is_main).collect();
    let chosen = &spec.primary_measures;
    let is_primary = |place: &Place<'_>| {
        let (variant, workload, point, metric) = *place;
        if !chosen.is_empty() {
            return chosen.contains(&metric);
        }
        let mut candidates = measured_at(point).iter();
        candidates.find(|one| all.contains(&(variant, workload, point, **one))) == Some(&metric)
    };
    all.iter().copied().filter(is_primary).collect()
}

/// How many primary comparisons a run of this spec has when all goes well.
pub fn planned(spec: &BenchmarkRunSpec) -> usize {
    let baseline = spec.baseline_name();
    let competes = |name: &str| name != baseline && name != TWIN;
    let variants = spec.variants.iter();
    let variants = variants.filter(|variant| competes(&variant.name)).count();
    let of_pair = match spec.primary_measures.len() {
        0 => {
            let sweeps = points_of(spec).into_iter().map(measured_at);
            sweeps.collect::<BTreeSet<_>>().len()
        }
        chosen => chosen,
    };
    variants * spec.workloads.len() * of_pair
}

/// How much a point tells among those of its sweep that stand: the highest rate, the fewest pods at
/// once. `None` where a measure is compared at one point of the sweep.
const fn tells(point: Point) -> Option<i64> {
    match point {
        Point::OpenLoop { percent_of_peak } => Some(percent_of_peak as i64),
        Point::ColdStart { concurrency } => Some(-(concurrency as i64)),
        Point::WarmLatency | Point::Throughput { .. } | Point::Density => None,
    }
}

/// The point of `metric` that tells most of those that the spec asks for; `None` of what is
/// compared at one point.
pub fn most_telling(spec: &BenchmarkRunSpec, metric: Metric) -> Option<Point> {
    let points = points_of(spec).into_iter();
    let told = points.filter(|point| measured_at(*point).contains(&metric));
    told.filter(|point| tells(*point).is_some())
        .max_by_key(|point| tells(*point))
}
