//! The first words of the page: whether the run decides anything, and what to do next.

use maud::{Markup, html};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::next_step::next_step;
use wasmbench_results::summary::trust;

/// One sentence in a frame.
pub fn banner(summary: &Summary) -> Markup {
    let (class, message) = decision(summary);
    html! { p class={ "banner " (class) } { (message) } "\n" }
}

/// Whether the run decides what it was to decide, and if not, why. The class sets the colour.
fn decision(summary: &Summary) -> (&'static str, String) {
    let tally = trust::tally(summary);
    let (settled, planned) = (tally.decided, tally.planned);
    let why = reasons(summary);
    if let Some(message) = trust::too_few_blocks(summary) {
        return ("worse", format!("This run does not decide: {message}."));
    }
    match (summary.trustworthy, planned) {
        (None, _) => (
            "open",
            "This run decides nothing: there are no numbers.".to_owned(),
        ),
        (Some(true), 0) => (
            "open",
            "This run compares nothing: it has only the baseline.".to_owned(),
        ),
        (Some(false), 0) => ("worse", format!("The numbers are not trustworthy ({why}).")),
        _ if settled >= planned => (
            "better",
            format!(
                "This run decides: {planned} of {planned} primary comparisons are decided and trusted."
            ),
        ),
        (trust, _) => {
            let others = tally.others();
            let rest = others.map_or_else(String::new, |others| format!(" ({others})"));
            let doubts = if trust == Some(false) {
                format!("; doubts: {why}")
            } else {
                String::new()
            };
            if settled == 0 {
                (
                    "worse",
                    format!(
                        "This run does not decide: none of {planned} primary comparisons is decided and trusted{rest}{doubts}."
                    ),
                )
            } else {
                (
                    "open",
                    format!(
                        "This run decides in part: {settled} of {planned} primary comparisons are decided and trusted{rest}{doubts}."
                    ),
                )
            }
        }
    }
}

fn reasons(summary: &Summary) -> String {
    let breaking = summary.doubts.iter().filter(|doubt| doubt.breaks_trust);
    let reasons: Vec<&str> = breaking.map(|doubt| doubt.reason.into()).collect();
    reasons.join(", ")
}

/// What to do first, in one sentence.
pub fn next(summary: &Summary) -> Markup {
    html! { p.next { b { "Next:" } " " (next_step(summary)) "." } "\n" }
}

/// Where to find every number.
pub fn files(summary: &Summary) -> Markup {
    let (name, namespace) = (&summary.run.name, &summary.run.namespace);
    let report = wasmbench_model::names::report(name);
    html! {
        p.note {
            "Every number: " code { "summary.json" } " and " code { "summary.csv" } " of ConfigMap " (report) " in " (namespace)
            ". Every trial: the records, in ConfigMaps " (name) "-records-... beside it."
        } "\n"
    }
}
