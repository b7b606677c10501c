//! The pods that a trial loads: its subject, and in a duet the baseline's beside it.

use super::failure::Failure;
use crate::observed::{Observed, SubjectSeen};
use crate::wire::record::TrialId;

/// The pods of a trial, as far as they are there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pods<'a> {
    /// The variant's.
    pub subject: Option<&'a SubjectSeen>,
    /// The baseline's in a duet.
    pub partner: Option<&'a SubjectSeen>,
}

impl<'a> Pods<'a> {
    /// Those of `trial`.
    pub fn of(seen: &'a Observed, trial: &TrialId) -> Self {
        let find = |is_partner| {
            let mut subjects = seen.subjects.iter();
            subjects.find(|one| one.trial == *trial && one.is_partner == is_partner)
        };
        Self {
            subject: find(false),
            partner: find(true),
        }
    }

    /// All that are there.
    pub fn all(self) -> impl Iterator<Item = &'a SubjectSeen> {
        self.subject.into_iter().chain(self.partner)
    }
}

/// A failure of one of the pods, which says so where it is not the variant's.
pub fn of_half(half: &SubjectSeen, failure: Failure) -> Failure {
    if half.is_partner {
        of_baseline(failure)
    } else {
        failure
    }
}

/// A failure of the baseline in a duet.
pub fn of_baseline(failure: Failure) -> Failure {
    Failure {
        message: format!("the baseline beside it: {}", failure.message),
        ..failure
    }
}
