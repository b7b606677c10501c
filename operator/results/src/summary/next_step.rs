//! What a reader does next with a run.

use wasmbench_api::run::TWIN;
use wasmbench_api::status::SkippedVariant;

use crate::judge::expectations::Fulfilment;
use crate::summary::Summary;
use crate::summary::failures::skipped_points;
use crate::vocabulary::doubt::Reason;

/// One sentence without its full stop. A failure comes first: no doubt about the numbers matters as
/// much as those that are missing. An expectation that is not met is decided, whatever else is not.
pub fn next_step(summary: &Summary) -> String {
    if let Some(failure) = remove_failure(summary) {
        return failure;
    }
    if let Some(doubt) = summary.doubts.iter().find(|doubt| doubt.breaks_trust) {
        return doubt.remedy.clone();
    }
    let mut expectations = summary.expectations.iter();
    if let Some(failed) = expectations.find(|one| one.outcome == Fulfilment::NotMet) {
        let name = &failed.name;
        return format!("mend what expectation {name} found, or change spec.expectations");
    }
    let mut primary = summary.comparisons.iter().filter(|one| one.primary);
    if primary.any(|one| !one.verdict.is_decided()) {
        let mut doubts = summary.doubts.iter();
        let scatter = doubts.find(|doubt| doubt.reason == Reason::HighVariance);
        let default = || "run more blocks (spec.blocks), or use a quieter node".to_owned();
        return scatter.map_or_else(default, |doubt| doubt.remedy.clone());
    }
    decide(summary)
}

/// The numbers answer the question: what remains is up to people.
fn decide(summary: &Summary) -> String {
    let mut variants = summary.compared.variants.iter();
    if !variants.any(|one| one.name != summary.baseline && one.name != TWIN) {
        return "add a variant to compare with (spec.variants)".to_owned();
    }
    let fingerprint = summary.environment.fingerprint.as_deref();
    format!(
        "choose by the verdict, which holds for nodes with fingerprint {}",
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
