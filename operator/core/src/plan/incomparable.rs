//! What follows from what scouts saw: under which workloads a variant is not measured.

use wasmbench_api::run::{TWIN, Workload};
use wasmbench_model::units::short_digests;
use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::scout::Scouted;

use crate::observed::Observed;
use crate::validate::ValidatedRun;

/// What a variant cannot be compared under, as its scout saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomparable<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// Why, with the scout's own words.
    pub failure: Failure,
}

/// Everything that is not measured because of what the scouts saw: a wrong answer must not win, and
/// a load would only find it again, in every block.
pub fn incomparable<'a>(run: &'a ValidatedRun, observed: &Observed) -> Vec<Incomparable<'a>> {
    let mut found = vec![];
    for variant in &run.variants {
        for workload in &run.spec.workloads {
            if let Some(failure) = why_incomparable(run, observed, &variant.name, workload) {
                found.push(Incomparable {
                    variant: &variant.name,
                    workload: &workload.name,
                    failure,
                });
            }
        }
    }
    found
}

fn why_incomparable(
    run: &ValidatedRun,
    observed: &Observed,
    variant: &str,
    workload: &Workload,
) -> Option<Failure> {
    let scouted_by = |variant: &str| {
        // The twin is the baseline.
        let looked_at = if variant == TWIN {
            &run.baseline
        } else {
            variant
        };
        let mut scouted = observed.scouted.get(looked_at)?.iter();
        scouted.find(|scouted| scouted.workload == workload.name)
    };
    let scouted = scouted_by(variant)?;
    match scouted.failure.as_ref() {
        Some(failure) if recurs_in_every_trial(&failure.reason) => {
            let message = format!("before the first block: {}", failure.message);
            return Some(Failure::new(failure.reason.clone(), message));
        }
        // Whoever did not answer a scout may answer the next pod's probe.
        Some(_) => return None,
        None => {}
    }
    if !workload.expect.same_across_variants {
        return None;
    }
    let baseline = scouted_by(&run.baseline).filter(|found| found.failure.is_none())?;
    let status = workload.expect.status;
    let (answer, expected) = (answer(scouted, status)?, answer(baseline, status)?);
    (!answer.is_same(expected)).then(|| {
        let message = format!(
            "before the first block, {variant} answered {}, but {} answered {}, and \
             expect.sameAcrossVariants asks for one answer",
            describe(answer),
            run.baseline,
            describe(expected)
        );
        Failure::new(FailureReason::ResponseMismatch, message)
    })
}

/// Whether a load would find the same in every trial.
fn recurs_in_every_trial(reason: &FailureReason) -> bool {
    matches!(
        reason,
        FailureReason::WrongAnswer
            | FailureReason::AnswerChanged
            | FailureReason::AnswerTooLarge
            | FailureReason::TlsMismatch
    )
}

/// An answer with the expected status; where requests may fail, any of them may have another.
fn answer(scouted: &Scouted, status: u16) -> Option<&Answer> {
    let mut answers = scouted.answers.iter().map(|answer| &answer.answer);
    answers.find(|answer| answer.status == status)
}

fn describe(answer: &Answer) -> String {
    let digest = short_digests(&format!("sha256:{}", answer.body_sha256));
    let Answer {
        body_bytes,
        excerpt,
        ..
    } = answer;
    format!("{body_bytes} bytes, '{excerpt}' ({digest})")
}
