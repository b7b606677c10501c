//! Whether there is a next step. Observations in, the reason to stop out. Pure, except for reading
//! the node's memory.

use std::fs;
use std::path::Path;

use wasmbench_model::wire::density::{DensityStopReason, DensityStopped};
use wasmbench_model::wire::failure::{Failure, FailureReason};

/// Memory of the node, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeMemory {
    /// In total.
    pub total: u64,
    /// Available without swapping, by the kernel's estimate.
    pub available: u64,
}

/// Reads the node's memory; `None` if it cannot be read.
pub fn node_memory(proc: &Path) -> Option<NodeMemory> {
    parse(&fs::read_to_string(proc.join("meminfo")).ok()?)
}

fn parse(meminfo: &str) -> Option<NodeMemory> {
    let bytes = |key: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(key))?;
        let number: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
        number.checked_mul(1024)
    };
    Some(NodeMemory {
        total: bytes("MemTotal:")?,
        available: bytes("MemAvailable:")?,
    })
}

/// Why instances must not be added to reach `at`; `None` if they may be.
pub fn low(memory: NodeMemory, percent: u32, at: u32) -> Option<DensityStopped> {
    let share = 100.0 * memory.available as f64 / memory.total.max(1) as f64;
    (share < f64::from(percent)).then(|| DensityStopped {
        at,
        reason: DensityStopReason::MemoryLow,
        message: format!(
            "{share:.1} % of the node's memory is available, and stop.availableMemoryPercent is \
             {percent}"
        ),
    })
}

/// The reason to stop if a failed step means that the node is full; `None` if something is wrong.
pub fn full(failure: &Failure, at: u32) -> Option<DensityStopped> {
    let reason = match failure.reason {
        FailureReason::Unschedulable => DensityStopReason::NoRoom,
        FailureReason::PodRejected | FailureReason::QuotaSpent => {
            DensityStopReason::Refused
        }
        FailureReason::StartTimedOut
        | FailureReason::NeverListened
        | FailureReason::AnswerTooSlow
        // The steps before were answered correctly: on a full node, a service may answer 503 for
        // longer while it starts.
        | FailureReason::WrongAnswer => DensityStopReason::TooSlow,
        FailureReason::SubjectCrashed | FailureReason::SubjectNotStarted => {
            DensityStopReason::InstanceEnded
        }
        FailureReason::AnswerChanged
        | FailureReason::AnswerTooLarge
        | FailureReason::TlsMismatch
        | FailureReason::LoadFailed
        | FailureReason::NoSuccessfulRequest
        | FailureReason::BadRequest
        | FailureReason::ImageUnavailable
        | FailureReason::SubjectAltered
        | FailureReason::NotOffered
        | FailureReason::TakenBack
        | FailureReason::SubjectNotRemoved
        | FailureReason::ClusterUnavailable
        | FailureReason::ContainerdUnavailable
        | FailureReason::ImageNotRemovable
        | FailureReason::RuntimeClassNotFound
        | FailureReason::NotAllowed
        | FailureReason::RecordsFull
        | FailureReason::NothingToCompare
        | FailureReason::BodyUnavailable
        | FailureReason::BodyChanged
        | FailureReason::SubjectLost
        | FailureReason::ResponseMismatch
        | FailureReason::PeakUnknown
        | FailureReason::PeakTooLow
        | FailureReason::UpstreamUnavailable
        | FailureReason::UpstreamLost
        | FailureReason::ProbeNotStarted
        | FailureReason::ProbeAltered
        | FailureReason::ProbeDeadlineExceeded
        | FailureReason::ProbeFailed
        | FailureReason::UnreadableResult
        | FailureReason::Unknown(_) => return None,
    };
    Some(DensityStopped {
        at,
        reason,
        message: failure.message.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_less_memory_than_required_takes_no_more() {
        let memory = parse("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  95 kB\n").unwrap();
        assert_eq!((memory.total, memory.available), (1_024_000, 97_280));
        let stopped = low(memory, 10, 20).unwrap();
        assert_eq!(
            (stopped.at, stopped.reason),
            (20, DensityStopReason::MemoryLow)
        );
        assert_eq!(low(memory, 9, 20), None);
        assert_eq!(parse("MemTotal: 3 kB\n"), None);
    }

    #[test]
    fn a_full_node_stops_the_climb_and_an_answer_that_changed_fails_it() {
        let of = |reason| {
            let failure = Failure {
                reason,
                message: "as observed".into(),
            };
            full(&failure, 5).map(|stopped| stopped.reason)
        };
        assert_eq!(
            of(FailureReason::Unschedulable),
            Some(DensityStopReason::NoRoom)
        );
        assert_eq!(
            of(FailureReason::StartTimedOut),
            Some(DensityStopReason::TooSlow)
        );
        assert_eq!(
            of(FailureReason::WrongAnswer),
            Some(DensityStopReason::TooSlow)
        );
        assert_eq!(of(FailureReason::AnswerChanged), None);
        assert_eq!(of(FailureReason::ImageUnavailable), None);
    }
}
