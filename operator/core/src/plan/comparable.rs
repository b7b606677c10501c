//! Whether a run can still compare anything, by the records so far.

use std::collections::BTreeSet;

use wasmbench_api::run::TWIN;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use crate::observed::Observed;
use crate::validate::ValidatedRun;

/// Why nothing of a run can be compared any more; `None` while something may be, and for a run of the baseline
/// alone.
pub(super) fn obstacle(run: &ValidatedRun, observed: &Observed) -> Option<String> {
    let names = run.variants.iter().map(|variant| variant.name.as_str());
    let others: Vec<&str> = names
        .filter(|name| *name != run.baseline && *name != TWIN)
        .collect();
    if others.is_empty() {
        return None;
    }
    let open = open(run, observed);
    let baseline = run.baseline.as_str();
    let mut workloads = run.spec.workloads.iter().map(|one| one.name.as_str());
    let is_compared = |workload: &str| {
        let has_other = others
            .iter()
            .any(|other| open.contains(&(*other, workload)));
        has_other && open.contains(&(baseline, workload))
    };
    if workloads.any(is_compared) {
        return None;
    }
    let has_baseline = open.iter().any(|(variant, _)| *variant == baseline);
    Some(if has_baseline {
        format!(
            "nothing can be compared, because no other variant is measured with the baseline {baseline}"
        )
    } else {
        format!("nothing can be compared, because the baseline {baseline} is not measured")
    })
}

/// The variants and workloads of which a trial was measured, or may yet be.
fn open<'a>(run: &'a ValidatedRun, observed: &Observed) -> BTreeSet<(&'a str, &'a str)> {
    let is_lost = |trial: &TrialId| match observed.records.get(trial) {
        Some(Ended::Failed(_) | Ended::Skipped(_)) => true,
        Some(Ended::Measured) | None => false,
    };
    let trials = run.planned(observed.blocks).iter();
    let left = trials.filter(|trial| !trial.is_scout() && !is_lost(trial));
    left.map(|trial| (trial.cell.variant.as_str(), trial.cell.workload.as_str()))
        .collect()
}
