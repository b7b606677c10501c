//! The first words of the page: whether the run decides anything, and what to do next.

use maud::{Markup, html};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::trust;
use wasmbench_results::vocabulary::doubt::{Doubt, Reason};

use crate::left_out::left_out;

/// One sentence in a frame.
pub fn banner(summary: &Summary) -> Markup {
    let (class, sentence) = decision(summary);
    html! { p class={ "banner " (class) } { (sentence) } "\n" }
}

/// Whether the run decides what it was to decide, and if not, why. The class sets the colour.
fn decision(summary: &Summary) -> (&'static str, String) {
    let tally = trust::tally(summary);
    let (settled, planned) = (tally.decided, tally.planned);
    let why = reasons(summary);
    if let Some(sentence) = trust::too_few_blocks(summary) {
        return ("worse", format!("This run does not decide: {sentence}."));
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

fn breaking(summary: &Summary) -> impl Iterator<Item = &Doubt> {
    summary.doubts.iter().filter(|doubt| doubt.breaks_trust)
}

fn reasons(summary: &Summary) -> String {
    let reasons: Vec<&str> = breaking(summary).map(|doubt| doubt.reason.into()).collect();
    reasons.join(", ")
}

/// What to do first, in one sentence.
pub fn next(summary: &Summary) -> Markup {
    html! { p.next { b { "Next:" } " " (action(summary)) "." } "\n" }
}

fn action(summary: &Summary) -> String {
    if let Some(doubt) = breaking(summary).next() {
        return doubt.remedy.clone();
    }
    if let Some(group) = summary
        .failures
        .first()
        .filter(|_| !left_out(summary).is_empty())
    {
        let (variant, reason) = (&group.variant, &group.reason);
        return format!("remove what stops {variant} ({reason}), and run again, or leave it out");
    }
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    if primary.into_iter().any(|one| !one.verdict.is_decided()) {
        let mut doubts = summary.doubts.iter();
        let scatter = doubts.find(|doubt| doubt.reason == Reason::HighVariance);
        let default = || "run more blocks (spec.blocks), or use a quieter node".to_owned();
        return scatter.map_or_else(default, |doubt| doubt.remedy.clone());
    }
    let fingerprint = summary.environment.fingerprint.as_deref();
    format!(
        "keep the records, and name the node's fingerprint ({}) beside the ratios",
        fingerprint.unwrap_or("unknown")
    )
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
