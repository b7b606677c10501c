//! The first words of the page: whether the run decides anything, and what to do next.

use maud::{Markup, html};
use wasmbench_api::run::TWIN;
use wasmbench_api::status::SkippedVariant;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::failures::skipped_points;
use wasmbench_results::summary::trust;
use wasmbench_results::vocabulary::doubt::{Doubt, Reason};

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

/// A failure comes first: no doubt about the numbers matters as much as those that are missing.
fn action(summary: &Summary) -> String {
    if let Some(failure) = remove_failure(summary) {
        return failure;
    }
    if let Some(doubt) = breaking(summary).next() {
        return doubt.remedy.clone();
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

/// What to do about what was not measured, the baseline first; `None` if all was.
fn remove_failure(summary: &Summary) -> Option<String> {
    let skipped = skipped_points(summary);
    let is_baseline = |one: &&SkippedVariant| one.variant == summary.baseline;
    let first = skipped.iter().find(is_baseline).or(skipped.first())?;
    let under = match first.workloads.as_slice() {
        [] => String::new(),
        some => format!(" on {}", some.join(", ")),
    };
    let (variant, reason) = (&first.variant, &first.reason);
    let remove = format!("remove what stops {variant}{under} ({reason}), and run again");
    if *variant != summary.baseline {
        return Some(format!("{remove}, or leave it out"));
    }
    let mut measured = summary.all_cells().filter(|cell| cell.ranked);
    let other = measured.find(|cell| cell.variant != summary.baseline && cell.variant != TWIN);
    let (name, namespace) = (&summary.run.name, &summary.run.namespace);
    Some(other.map_or(remove.clone(), |other| {
        format!(
            "{remove}; what was measured is compared by: kubectl wasmbench report {name} -n {namespace} --baseline {}",
            other.variant
        )
    }))
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
