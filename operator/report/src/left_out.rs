//! Variants about which the run was to decide something but compares nothing.

use wasmbench_results::summary::Summary;

use crate::validity::because;

/// A variant without a primary comparison under a workload.
pub struct LeftOut<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// Why it is not compared.
    pub reason: String,
}

/// All such variants, in the order of the spec.
pub fn left_out(summary: &Summary) -> Vec<LeftOut<'_>> {
    let mut all = vec![];
    for workload in &summary.compared.workloads {
        for variant in &summary.compared.variants {
            let (variant, workload) = (variant.name.as_str(), workload.name.as_str());
            if variant != summary.baseline && !is_compared(summary, variant, workload) {
                all.push(LeftOut {
                    variant,
                    workload,
                    reason: reason(summary, variant, workload),
                });
            }
        }
    }
    all
}

fn is_compared(summary: &Summary, variant: &str, workload: &str) -> bool {
    let mut primary = summary.comparisons.iter().filter(|one| one.primary);
    primary.any(|one| one.variant == variant && one.workload == workload)
}

/// That only bounds are known, else why the variant's points are invalid, else why it has none, else
/// why it has nothing to be compared with.
fn reason(summary: &Summary, variant: &str, workload: &str) -> String {
    if let Some(why) = summary.only_bounds(variant, workload) {
        return why;
    }
    let invalid = |variant: &str| {
        let mut cells = summary.all_cells();
        cells.find_map(|cell| {
            let because = because(cell).filter(|_| cell.is_of(variant, workload))?;
            Some(format!(
                "{} is invalid: {because}",
                cell.place_among_sweeps()
            ))
        })
    };
    let failed = |name: &str| {
        let mut failures = summary.failures.iter();
        let failure = failures.find(|group| group.variant == name)?;
        let failed_because = format!("{}: {}", failure.reason, failure.message);
        Some(if name == variant {
            failed_because
        } else {
            format!("{name}: {failed_because}")
        })
    };
    let of_both = [variant, summary.baseline.as_str()];
    let found = of_both
        .into_iter()
        .find_map(|one| invalid(one).or_else(|| failed(one)));
    found.unwrap_or_else(|| {
        let baseline = &summary.baseline;
        format!("{variant} and {baseline} have no valid number of a primary measure in common")
    })
}
