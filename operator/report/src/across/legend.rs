//! What the table of a comparison of runs leaves to explain: how numbers are judged, and why some are
//! not.

use strum::IntoEnumIterator as _;
use wasmbench_model::units;
use wasmbench_results::runs::across::{Across, CellRatio, Unjudged};
use wasmbench_results::statistics::Scale;
use wasmbench_results::vocabulary::measure::{Judged, Measure, Measured as _, Metric};

use crate::table::ascii;

/// What the table's verdicts refer to, and why numbers have none.
pub fn legend(found: &Across) -> Vec<String> {
    let has = |why| found.ratios.iter().any(|ratio| ratio.unjudged == Some(why));
    let is_of_baseline = found.ratios.iter().any(|ratio| ratio.is_of_baseline);
    let effect = units::excess(found.minimum_effect);
    let mut scales = found
        .ratios
        .iter()
        .map(|ratio| ratio.metric.measure().judged);
    let others = if scales.any(|scale| scale != Judged::Ratio) {
        ", nor do those of starts and memory below minimumDifference"
    } else {
        ""
    };
    let mut legend = vec![format!("Changes below {effect} do not matter{others}.")];
    legend.extend(judged_by_runs(found));
    legend.extend(judged_by_statement(found));
    legend.extend(power(found));
    let lines = [
        (
            is_of_baseline,
            "The change is that of the multiple of the baseline, or of the difference to it: what shifts a whole \
             run shifts its baseline too.",
        ),
        (
            has(Unjudged::TooFewRuns),
            "Not judged: numbers of the baseline, or without one. How far runs scatter is known from 5 earlier \
             runs: name as many, or compare runs of a schedule.",
        ),
        (
            has(Unjudged::BaselineChanged),
            "Baseline changed: multiples of different baselines do not compare. Run the earlier images again \
             together with the new ones, or name 5 earlier runs.",
        ),
        (
            has(Unjudged::NotFollowed),
            "Not followed: the schedule's history has the primary measures of its runs, and judges these alone.",
        ),
        (
            has(Unjudged::BeyondKnee),
            "Beyond the knee of the earlier run's baseline, where more connections mostly queue, nothing is judged.",
        ),
        (
            has(Unjudged::Untrusted),
            "Untrusted: in one of the runs the node was noisy at this point or the baseline's, \
             or that is unknown, or the rate still moved, or trials failed. Nothing is judged.",
        ),
    ];
    let apply = lines.iter().filter(|(applies, _)| *applies);
    legend.extend(apply.map(|(_, line)| (*line).to_owned()));
    legend
}

/// Which runs show how far runs scatter, if not the compared runs themselves.
fn judged_by_runs(found: &Across) -> Option<String> {
    let runs = || judged(found).filter_map(|ratio| ratio.runs);
    let (fewest, most) = (runs().min()?, runs().max()?);
    let count = if fewest < most {
        format!("{fewest} to {most}")
    } else {
        most.to_string()
    };
    let which = match &found.schedule {
        Some(schedule) if found.before.len() == 1 => {
            format!("{count} other runs of the schedule {schedule}")
        }
        Some(_) | None => format!("{count} earlier runs"),
    };
    Some(ascii(&format!(
        "{} of {} changes are judged, by how far {which} scatter.",
        runs().count(),
        found.ratios.len()
    )))
}

/// With which scatter between runs numbers are judged if nothing shows it.
fn judged_by_statement(found: &Across) -> Option<String> {
    let scatter = units::exact_percent(found.run_scatter?);
    Some(format!(
        "Judged with a scatter of {scatter} % between runs (--run-scatter)."
    ))
}

/// What such comparisons find, by measure: the largest of its judged numbers.
fn power(found: &Across) -> Option<String> {
    let largest = |metric: Metric| {
        let ratios = judged(found).filter(|ratio| ratio.metric == metric);
        let size = ratios.filter_map(found_at_least).reduce(f64::max)?;
        Some(format!("{} {}", metric.noun(), size_text(metric, size)))
    };
    let sizes: Vec<String> = Metric::iter().filter_map(largest).collect();
    let text = format!(
        "80 of 100 such comparisons find a change of this size: {}.",
        sizes.join(", ")
    );
    (!sizes.is_empty()).then_some(text)
}

fn judged(found: &Across) -> impl Iterator<Item = &CellRatio> {
    let ratios = found.ratios.iter();
    ratios.filter(|ratio| ratio.verdict.is_some())
}

/// The smallest change that such runs find, as a factor above 1 or in the unit of the measure.
fn found_at_least(ratio: &CellRatio) -> Option<f64> {
    ratio.smallest_difference_found().or(ratio.smallest_found)
}

fn size_text(metric: Metric, size: f64) -> String {
    let Measure { unit, judged, .. } = metric.measure();
    match judged.scale() {
        Scale::Ratio => units::excess(size),
        Scale::Difference => unit.shown(size),
    }
}
