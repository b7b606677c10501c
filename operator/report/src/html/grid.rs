//! Each variant beside the baseline under each workload, at a glance: words in the colour of their
//! meaning.

use std::fmt::Write as _;

use wasmbench_api::run::Metric;
use wasmbench_model::units::cut;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;

use crate::html::marks::escape;
use crate::left_out::{LeftOut, left_out};

/// What the table reports for each variant: speed, CPU, memory and start, each by the first of its
/// measures that is compared.
const TOLD: [&[Metric]; 4] = [
    &[Metric::ThroughputRps, Metric::OpenLoopP99, Metric::WarmP50],
    &[Metric::CpuPerRequest],
    &[Metric::Memory, Metric::MemoryPerInstance],
    &[Metric::ColdStartListening, Metric::ColdStartAnswer],
];

/// Longest reason why nothing is compared, in characters.
const MAX_REASON_CHARS: usize = 160;

/// The table: one row per variant, one column per workload. Empty for a run of the baseline alone.
pub fn grid(summary: &Summary) -> String {
    let baseline = &summary.baseline;
    let variants = summary.compared.variants.iter();
    let variants: Vec<&str> = variants
        .map(|named| named.name.as_str())
        .filter(|name| name != baseline)
        .collect();
    if variants.is_empty() {
        return String::new();
    }
    let left_out = left_out(summary);
    let workloads = || summary.compared.workloads.iter();
    let mut head = format!("<th scope=\"col\">beside {}</th>", escape(baseline));
    for workload in workloads() {
        let _ = write!(head, "<th scope=\"col\">{}</th>", escape(&workload.name));
    }
    let mut rows = String::new();
    for variant in variants {
        let _ = write!(rows, "<tr><th scope=\"row\">{}</th>", escape(variant));
        for workload in workloads() {
            let found = cell(summary, variant, &workload.name, &left_out);
            let _ = write!(rows, "<td>{found}</td>");
        }
        rows.push_str("</tr>\n");
    }
    format!(
        "<div class=\"table\"><table class=\"beside\">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\
         </table></div>\n"
    )
}

fn cell(summary: &Summary, variant: &str, workload: &str, left_out: &[LeftOut<'_>]) -> String {
    let compared = |metric: &Metric| {
        let mut all = summary.comparisons.iter();
        all.find(|one| {
            (one.variant.as_str(), one.workload.as_str(), one.metric)
                == (variant, workload, *metric)
        })
    };
    let told = TOLD.iter();
    let told = told.filter_map(|measures| measures.iter().find_map(compared));
    let told: String = told.map(chip).collect();
    if !told.is_empty() {
        return told;
    }
    let mut reasons = left_out.iter();
    let reason = reasons.find(|one| (one.variant, one.workload) == (variant, workload));
    let reason = reason.map_or("nothing in common", |one| one.reason.as_str());
    let reason = cut(reason, MAX_REASON_CHARS);
    format!(
        "<span class=\"chip open\">not compared: {}</span>",
        escape(&reason)
    )
}

fn chip(one: &Comparison) -> String {
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
    let words = one.short_words() + one.mark();
    format!("<span class=\"chip {class}\">{}</span> ", escape(&words))
}
