//! What a run costs at the price of a node.

use maud::{Markup, html};
use wasmbench_api::BenchmarkRun;
use wasmbench_report::cost::cost_html;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::cost::Costs;

use crate::dashboard::pages::frame;
use crate::dashboard::priced::Priced;
use crate::dashboard::state::Dashboard;
use crate::dashboard::watched::named;

/// The page; `priced` is what was sent.
pub fn page(
    dashboard: &Dashboard,
    run: &BenchmarkRun,
    summary: Option<&Summary>,
    priced: &Priced,
) -> Markup {
    let place = named(run);
    let back = dashboard.access.path(&format!("runs/{place}"));
    let body = html! {
        @match summary {
            None => p { "Nothing has been measured yet, so nothing has a cost." },
            Some(summary) => {
                (form(&format!("{back}/cost"), &priced.or_from(summary)))
                section #costs { (costs(summary, priced)) }
            },
        }
        p { a.button href=(back) { "Back to the run" } }
    };
    frame::page(dashboard, &format!("What {place} costs"), None, &body)
}

fn form(path: &str, priced: &Priced) -> Markup {
    let fields = [
        (
            "price",
            "Price of a node",
            &priced.price,
            "0.10/h or 73/month",
        ),
        ("vcpus", "CPUs that pods may use", &priced.vcpus, "3920m"),
        ("memory", "Memory that pods may use", &priced.memory, "13Gi"),
        (
            "utilisation",
            "Share of the CPU time that does work",
            &priced.utilisation,
            "60%",
        ),
        (
            "rate",
            "Requests per second, for what a month costs (may be empty)",
            &priced.rate,
            "500",
        ),
    ];
    html! {
        form #node-price action=(path) autocomplete="off" {
            fieldset {
                legend { "Your node" }
                p.hint { "CPUs and memory are at first those of the measured node, of which pods may use a little less." }
                @for (name, label, given, example) in fields {
                    p {
                        label for=(name) { (label) }
                        input id=(name) name=(name) value=(given) placeholder=(example) spellcheck="false";
                    }
                }
            }
            p { button #calculate { "Calculate" } }
        }
    }
}

fn costs(summary: &Summary, priced: &Priced) -> Markup {
    if priced.price.is_empty() {
        return html! { p.hint { "Costs follow from CPU per request and from memory, and from nothing else." } };
    }
    let (node, rate) = match (priced.node(), priced.requests_per_second()) {
        (Ok(node), Ok(rate)) => (node, rate),
        (Err(wrong), _) | (_, Err(wrong)) => return html! { p.error role="alert" { (wrong) } },
    };
    let costs = Costs::new(summary, node, rate);
    html! {
        @if summary.trustworthy == Some(false) {
            p.worse { "Trustworthy: no. The doubts are on the run's page." }
        }
        @if costs.any() {
            (cost_html(summary, &costs))
        } @else {
            p { "Nothing has a cost: neither CPU per request nor memory was measured." }
        }
    }
}
