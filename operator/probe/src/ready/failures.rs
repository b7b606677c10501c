//! Why a wait was in vain, for people: what was seen, and what to do.

use std::time::Duration;

use wasmbench_model::wire::failure::{Failure, FailureReason};

use crate::http;

pub(super) fn wrong(limit: Duration, last: &str) -> Failure {
    let message = format!(
        "no correct answer within {} s; the last attempt: {last}: correct expect or the service, or \
         allow it more time to start",
        limit.as_secs()
    );
    Failure {
        reason: FailureReason::WrongAnswer,
        message,
    }
}

pub(super) fn too_large() -> Failure {
    let message = format!(
        "the answer has more than {} MiB, and is not read to its end: ask for less in the workload's path",
        http::MAX_BODY >> 20
    );
    Failure {
        reason: FailureReason::AnswerTooLarge,
        message,
    }
}

pub(super) fn mismatch(why: &str) -> Failure {
    Failure::new(FailureReason::TlsMismatch, why)
}

pub(super) fn slow() -> Failure {
    let message = format!(
        "connections are accepted, but one answer takes longer than {} s: ask for less work in the \
         workload's path, or leave the variant out",
        http::ANSWER.as_secs()
    );
    Failure {
        reason: FailureReason::AnswerTooSlow,
        message,
    }
}

pub(super) fn given_up(limit: Duration, last_nothing: &str) -> Failure {
    let message = format!(
        "no answer within {} s; the last attempt: {last_nothing}: check the port, that it listens on all \
         addresses, and whether a NetworkPolicy keeps the probe out (kubectl wasmbench check)",
        limit.as_secs()
    );
    Failure {
        reason: FailureReason::NeverListened,
        message,
    }
}
