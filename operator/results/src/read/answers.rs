//! Do all variants give the same answer? Digests of answers in, contradictions out. A fast but
//! wrong answer must never win.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::wire::record::TrialId;

use crate::read::bodies::{Bodies, Body, different, is_among};
use crate::read::observation::Observation;

/// The number of characters of a digest that messages show.
const SHORT_DIGEST: usize = 12;

/// A variant whose answers under a workload differ from the expected one, or from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// Which answers the variant gave, and which was expected.
    pub message: String,
}

/// Variants that violate `sameAcrossVariants`. The baseline's answer is the right one, because all
/// results are ratios to the baseline. If the baseline has no answer, that of the first variant
/// with one counts.
pub fn mismatches(
    spec: &BenchmarkRunSpec,
    baseline: &str,
    observations: &BTreeMap<TrialId, Observation>,
) -> Vec<Mismatch> {
    let mut found = vec![];
    for workload in spec
        .workloads
        .iter()
        .filter(|w| w.expect.same_across_variants)
    {
        let names = spec.variants.iter().map(|variant| variant.name.as_str());
        let first = std::iter::once(baseline).chain(names.filter(|name| *name != baseline));
        let answers: Vec<(&str, Bodies)> = first
            .map(|variant| (variant, answers_of(variant, &workload.name, observations)))
            .filter(|(_, bodies)| !bodies.is_empty())
            .collect();
        let Some((reference, expected)) = answers.first() else {
            continue;
        };
        for (variant, bodies) in &answers {
            if let Some(message) = contradiction(variant, bodies, reference, expected) {
                let (variant, workload) = ((*variant).to_owned(), workload.name.clone());
                found.push(Mismatch {
                    variant,
                    workload,
                    message,
                });
            }
        }
    }
    found
}

fn answers_of(
    variant: &str,
    workload: &str,
    observations: &BTreeMap<TrialId, Observation>,
) -> Bodies {
    let of_both = |(trial, observed): &(&TrialId, &Observation)| {
        let cell = &trial.cell;
        cell.variant == variant && cell.workload == workload && observed.is_measured()
    };
    let measured = observations.iter().filter(of_both);
    let all: Bodies = measured
        .flat_map(|(_, observed)| observed.bodies.clone())
        .collect();
    different(&all)
}

fn contradiction(
    variant: &str,
    bodies: &Bodies,
    reference: &str,
    expected: &Bodies,
) -> Option<String> {
    if bodies.len() > 1 {
        return Some(format!(
            "{variant} gave {} different answers: {}",
            bodies.len(),
            shown(bodies)
        ));
    }
    let mut mine = bodies.iter();
    let same = mine.all(|(digest, body)| is_among(expected, digest, body));
    let differs = !same || bodies.len() != expected.len();
    (variant != reference && differs).then(|| {
        format!(
            "{variant} answers {}, but {reference} answers {}",
            shown(bodies),
            shown(expected)
        )
    })
}

fn shown(bodies: &Bodies) -> String {
    let one = |(digest, body): (&String, &Body)| {
        let digest: String = digest.chars().take(SHORT_DIGEST).collect();
        format!("'{}' (sha256 {digest})", body.excerpt)
    };
    bodies
        .iter()
        .take(2)
        .map(one)
        .collect::<Vec<_>>()
        .join(" and ")
}
