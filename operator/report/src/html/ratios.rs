//! The ratios of a workload to the baseline: one group for each measure and point of any sweep.

use std::collections::BTreeSet;

use maud::{Markup, html};
use wasmbench_api::run::TWIN;
use wasmbench_model::quote::shorten;
use wasmbench_model::units;
use wasmbench_model::wire::record::Point;
use wasmbench_results::judge::comparison::{Comparison, Estimate};
use wasmbench_results::judge::lead;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::{Measured as _, Metric};

use crate::comparisons::{PAIRED, place};
use crate::html::Detail;
use crate::html::forest::{Group, Ratio, forest};
use crate::html::lane::look;
use crate::html::marks::Look;
use crate::left_out::left_out;

/// Why a ratio may be undecided although its interval excludes 1.
const TOGETHER: &str = " Verdicts allow for the number of ratios that are judged together: one whose interval leaves out 1 may be undecided.";
/// Longest reason why a variant is not compared.
const MAX_REASON_CHARS: usize = 512;

/// The plot of a workload with the text around it; empty where nothing is compared.
pub fn figure(summary: &Summary, workload: &str, id: &str, detail: Detail) -> Markup {
    let compared = summary
        .comparisons
        .iter()
        .filter(|one| one.workload == workload);
    let twins = summary
        .noise_floors
        .iter()
        .filter(|twin| twin.workload == workload);
    let leads = lead::of_groups(compared.map(|one| ((one.metric, one.point), one.lead())));
    let of_twins = twins.map(|twin| (twin.metric, twin.point));
    let points: BTreeSet<(Metric, Point)> = leads.keys().copied().chain(of_twins).collect();
    let mut points: Vec<(Metric, Point)> = points.into_iter().collect();
    points.sort_by_key(|place| {
        let lead = leads.get(place);
        (lead.is_none(), lead.copied())
    });
    let groups: Vec<Group> = points
        .into_iter()
        .map(|(metric, point)| group(summary, workload, metric, point))
        .collect();
    let not_compared = not_compared(summary, workload);
    if groups.is_empty() {
        return not_compared;
    }
    let effect = summary.compared.minimum_effect.map(|share| 1.0 + share);
    let title = "Ratios to the baseline";
    let id = format!("{id}-ratios");
    let svg = forest(
        &id,
        title,
        &summary.baseline,
        &groups,
        effect,
        detail.points,
    );
    let band = match effect {
        Some(factor) => format!(
            "Grey band: differences below the minimum effect of {} do not matter. ",
            units::excess(factor)
        ),
        None => String::new(),
    };
    let together = if summary
        .comparisons
        .iter()
        .any(|one| one.workload == workload && is_held_back(one))
    {
        TOGETHER
    } else {
        ""
    };
    let floor = if groups.iter().any(|group| group.noise_floor.is_some()) {
        "Hatched: how far the baseline may differ from its own twin. "
    } else {
        ""
    };
    html! {
        figure.wide {
            "\n"
            figcaption { (title) } "\n"
            (svg)
            p.note { (band) (floor) "Pale points are single blocks. " (PAIRED) (together) } "\n"
            (not_compared)
        } "\n"
    }
}

/// Whether a ratio is undecided although its interval excludes 1.
fn is_held_back(one: &Comparison) -> bool {
    let leaves_out_one = |(low, high): (f64, f64)| low > 1.0 || high < 1.0;
    !one.verdict.is_decided() && one.estimate.ends().is_some_and(leaves_out_one)
}

/// The variants that lack a ratio that was to be decided, and why; empty without any.
fn not_compared(summary: &Summary, workload: &str) -> Markup {
    let left_out: Vec<String> = left_out(summary)
        .into_iter()
        .filter(|one| one.workload == workload)
        .map(|one| {
            format!(
                "{} ({})",
                one.variant,
                shorten(&one.reason, MAX_REASON_CHARS)
            )
        })
        .collect();
    html! {
        @if !left_out.is_empty() { p.note { "Without a primary ratio: " (left_out.join("; ")) "." } "\n" }
    }
}

fn is_primary(summary: &Summary, workload: &str, metric: Metric, point: Point) -> bool {
    let here = (workload, metric, point);
    let mut primary = summary.comparisons.iter().filter(|one| one.primary);
    primary.any(|c| (c.workload.as_str(), c.metric, c.point) == here)
}

fn group(summary: &Summary, workload: &str, metric: Metric, point: Point) -> Group {
    let here = (workload, metric, point);
    let compared = summary
        .comparisons
        .iter()
        .filter(|c| (c.workload.as_str(), c.metric, c.point) == here);
    let mut twins = summary.noise_floors.iter();
    let twin = twins.find(|twin| (twin.workload.as_str(), twin.metric, twin.point) == here);
    let ratio = |name: &str, look, estimate: &Estimate, words| Ratio {
        name: name.to_owned(),
        look,
        estimate: estimate.ratio,
        interval: estimate.ends(),
        blocks: estimate.per_block.clone(),
        words,
    };
    // A bound has no place on an axis of ratios; the table below has it.
    let known = compared.filter(|one| one.estimate.bound.is_none());
    let ratios = known.map(|one| {
        let look = look(summary, &one.variant);
        ratio(&one.variant, look, &one.estimate, one.text())
    });
    let twin = twin.filter(|twin| twin.estimate.bound.is_none());
    let of_twin = twin.map(|twin| ratio(TWIN, Look::twin(), &twin.estimate, twin.text()));
    let secondary = if is_primary(summary, workload, metric, point) {
        ""
    } else {
        " (secondary)"
    };
    Group {
        name: format!("{}{}{secondary}", metric.at(point), place(metric, point)),
        noise_floor: twin.and_then(|twin| twin.factor),
        ratios: ratios.chain(of_twin).collect(),
    }
}
