//! What the run found, in one sentence for each variant and workload, and how it was measured.

use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::lead;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::read::substrate;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::power;
use wasmbench_results::vocabulary::measure::Measured as _;

/// The sentences, in the order of the spec, each with what leads first: `embedded on hello: 1.91x native's CPU per request;
/// secondary: 5.05x its memory; equivalent in warm p50 latency; undecided: throughput`.
pub fn overview(summary: &Summary) -> Vec<String> {
    let mut all = vec![];
    for workload in &summary.compared.workloads {
        for variant in &summary.compared.variants {
            let of_both =
                |c: &&Comparison| c.variant == variant.name && c.workload == workload.name;
            let found = lead::leading(summary.comparisons.iter().filter(of_both));
            if !found.is_empty() {
                let findings = findings(&summary.baseline, found);
                all.push(format!("{} on {}: {findings}", variant.name, workload.name));
            }
        }
    }
    all
}

/// When and on what the run was measured, and what it was able to find, in one sentence each.
pub fn facts(summary: &Summary) -> Vec<String> {
    let period = summary.period.as_ref();
    let substrate = substrate::description(&summary.environment);
    let precision = summary.precision.as_ref();
    let facts = [
        instead(summary),
        period.map(|period| format!("Measured from {}.", period.text())),
        substrate.map(|substrate| format!("Measured on {substrate}.")),
        power::found_message(summary).map(|power| format!("Power: {power}.")),
        precision.map(|precision| format!("Precision: {}.", precision.message)),
    ];
    facts.into_iter().flatten().collect()
}

/// That the variants are compared with another baseline than the run's own.
pub fn instead(summary: &Summary) -> Option<String> {
    let planned = summary.planned_baseline.as_ref()?;
    let baseline = &summary.baseline;
    Some(format!(
        "Compared with {baseline}, as requested, instead of with the run's baseline {planned}: without a noise floor, and \
         without deciding the run's expectations."
    ))
}

/// How often and in what order the cells were measured.
pub fn repetition(summary: &Summary) -> String {
    format!(
        "{} block(s): each repeats every cell once with a fresh pod, in an order shuffled with seed {}",
        summary.compared.blocks, summary.seed
    )
}

/// The node of the run, and what makes it the same as another: `bench-1, fingerprint 70ac6102f407`.
pub fn node(summary: &Summary) -> String {
    let environment = &summary.environment;
    let known = |found: &Option<String>| found.clone().unwrap_or_else(|| "unknown".to_owned());
    let (name, fingerprint) = (known(&environment.node), known(&environment.fingerprint));
    format!("{name}, fingerprint {fingerprint}")
}

/// Why a fingerprint is shown.
pub const FINGERPRINTS: &str = "Runs with different fingerprints do not compare.";

fn findings(baseline: &str, found: Vec<&Comparison>) -> String {
    let (primary, secondary): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| one.primary);
    let mut owner = format!("{baseline}'s");
    let [primary, secondary] = [primary, secondary].map(|found| found_in(&found, &mut owner));
    match (primary.as_str(), secondary.as_str()) {
        (primary, "") => primary.to_owned(),
        ("", secondary) => format!("secondary: {secondary}"),
        (primary, secondary) => format!("{primary}; secondary: {secondary}"),
    }
}

/// What these comparisons found; `owner` is the variant whose numbers the next ratio is a multiple
/// of.
fn found_in(found: &[&Comparison], owner: &mut String) -> String {
    let named = |is_so: fn(Verdict) -> bool| {
        let of_kind = found.iter().filter(|one| is_so(one.verdict));
        of_kind
            .map(|one| one.what() + untrusted(one))
            .collect::<Vec<String>>()
            .join(", ")
    };
    let different: Vec<String> = found
        .iter()
        .filter(|one| one.verdict.is_difference())
        .map(|one| {
            let what = one.what() + untrusted(one);
            if let Some(difference) = one.judged_difference() {
                let unit = one.metric.measure().unit;
                return format!("{} in {what}", unit.shown_difference(difference.value));
            }
            let whose = std::mem::replace(owner, "its".to_owned());
            if let Some(fewer) = one.fewer_text() {
                let than = whose
                    .strip_suffix("'s")
                    .map_or_else(String::new, |baseline| format!(" than {baseline}"));
                return fewer + &than + untrusted(one);
            }
            format!("{} {whose} {what}", one.estimate.ratio_text())
        })
        .collect();
    let equal = named(|verdict| verdict == Verdict::Equivalent);
    let open = named(|verdict| verdict == Verdict::Inconclusive);
    let parts: Vec<String> = [
        different.join(", "),
        if equal.is_empty() {
            equal
        } else {
            format!("equivalent in {equal}")
        },
        if open.is_empty() {
            open
        } else {
            format!("undecided: {open}")
        },
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect();
    parts.join("; ")
}

fn untrusted(one: &Comparison) -> &'static str {
    if one.untrusted.is_empty() {
        ""
    } else {
        " (untrusted)"
    }
}
