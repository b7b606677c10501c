//! Outliers: where an axis ends, and how those beyond it are reported.

use crate::html::lane::{Axis, Lane};

/// An axis ends at this multiple of the largest median.
const MEDIANS_AT_MOST: f64 = 3.0;

/// The upper limit of an axis: a single outlier must not flatten all other numbers. Anything beyond
/// is drawn at the end of the axis.
pub fn limit<'a>(lanes: impl Iterator<Item = &'a Lane> + Clone) -> f64 {
    let ranked = lanes.clone().filter(|lane| lane.is_ranked);
    let largest = |middles: &mut dyn Iterator<Item = f64>| middles.reduce(f64::max);
    let of_ranked = largest(&mut ranked.filter_map(Lane::middle));
    let of_all = || largest(&mut lanes.filter_map(Lane::middle));
    let middle = of_ranked.or_else(of_all).filter(|middle| *middle > 0.0);
    middle.map_or(f64::INFINITY, |middle| middle * MEDIANS_AT_MOST)
}

/// How many points lie beyond the axis, in words; `None` if there are none.
pub fn beyond(lanes: &[&Lane], axis: Axis) -> Option<String> {
    let limit = limit(lanes.iter().copied());
    let dots = lanes.iter().flat_map(|lane| &lane.dots);
    let beyond: Vec<f64> = dots
        .map(|dot| dot.value)
        .filter(|value| *value > limit)
        .collect();
    let most = beyond.iter().copied().reduce(f64::max)?;
    let (lie, most) = (
        if beyond.len() == 1 {
            "point lies"
        } else {
            "points lie"
        },
        (axis.label)(most),
    );
    Some(format!(
        "{} {lie} beyond the end of the axis, up to {most}",
        beyond.len()
    ))
}

/// What a plot of these lanes does not show.
pub fn notes(lanes: &[Lane], axis: Axis) -> Vec<String> {
    let all: Vec<&Lane> = lanes.iter().collect();
    let notes = lanes.iter().filter_map(Lane::note);
    notes.chain(beyond(&all, axis)).collect()
}
