//! Each variant compared with the baseline under each workload, at a glance: words in the colour of
//! their meaning.

use maud::{Markup, html};
use wasmbench_api::run::Metric;
use wasmbench_model::quote::shorten;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::lead;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;

use crate::left_out::{LeftOut, left_out};

/// What the table reports for each variant in addition to what the run was to decide: speed, CPU,
/// memory and start, each by the first of its measures that is compared.
const SHOWN: [&[Metric]; 4] = [
    &[
        Metric::Capacity,
        Metric::ThroughputRps,
        Metric::OpenLoopP99,
        Metric::WarmP50,
    ],
    &[Metric::CpuPerRequest, Metric::PayloadCpuPerMegabyte],
    &[Metric::Memory, Metric::MemoryPerInstance],
    &[Metric::ColdStartListening, Metric::ColdStartAnswer],
];

/// Longest reason why nothing is compared, in characters.
const MAX_REASON_CHARS: usize = 360;

/// The table: one row per variant, one column per workload. Empty for a run of only the baseline.
pub fn grid(summary: &Summary) -> Markup {
    let baseline = &summary.baseline;
    let variants: Vec<&str> = summary
        .compared
        .variants
        .iter()
        .map(|named| named.name.as_str())
        .filter(|name| name != baseline)
        .collect();
    if variants.is_empty() {
        return html! {};
    }
    let left_out = left_out(summary);
    let workloads = &summary.compared.workloads;
    html! {
        div.table {
            table.comparison-grid.cards {
                "\n"
                caption { "Compared with " (baseline) } "\n"
                thead {
                    tr {
                        th scope="col" { "Variant" }
                        @for workload in workloads { th scope="col" { (workload.name) } }
                    }
                } "\n"
                tbody {
                    "\n"
                    @for variant in variants {
                        tr {
                            th scope="row" { (variant) }
                            @for workload in workloads {
                                td data-title=(workload.name) { (cell(summary, variant, &workload.name, &left_out)) }
                            }
                        } "\n"
                    }
                }
            }
        } "\n"
    }
}

fn cell(summary: &Summary, variant: &str, workload: &str, left_out: &[LeftOut<'_>]) -> Markup {
    let compared = |metric: &Metric| {
        let mut all = summary.comparisons.iter();
        all.find(|one| {
            (one.variant.as_str(), one.workload.as_str(), one.metric)
                == (variant, workload, *metric)
        })
    };
    let of_both = |one: &&Comparison| one.variant == variant && one.workload == workload;
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    let primary = lead::leading(primary.filter(of_both));
    let is_shown = |one: &Comparison| primary.iter().any(|shown| shown.metric == one.metric);
    let others = SHOWN
        .iter()
        .filter_map(|measures| measures.iter().find_map(compared));
    let others: Vec<&Comparison> = others.filter(|one| !is_shown(one)).collect();
    if !(primary.is_empty() && others.is_empty()) {
        return html! { @for one in primary.iter().chain(&others) { (chip(one)) } };
    }
    let mut reasons = left_out.iter();
    let reason = reasons
        .find(|one| (one.variant, one.workload) == (variant, workload))
        .map_or("nothing in common", |one| one.reason.as_str());
    html! { span class="chip open" { "not compared: " (shorten(reason, MAX_REASON_CHARS)) } }
}

fn chip(one: &Comparison) -> Markup {
    let class = match one.verdict {
        _ if !one.untrusted.is_empty() => "open",
        verdict if verdict.is_worse(one.metric) => "worse",
        verdict if verdict.is_difference() => "better",
        Verdict::Equivalent => "equal",
        Verdict::Faster
        | Verdict::Slower
        | Verdict::Smaller
        | Verdict::Larger
        | Verdict::Inconclusive => "open",
    };
    let words = one.short_text() + one.mark();
    html! { span class={ "chip " (class) } { (words) } " " }
}
