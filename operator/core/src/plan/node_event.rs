//! Why a node could not start a pod, or a Job could not create one. A pod whose sandbox cannot be
//! created has nothing about it in its status: only the kubelet's event does, in containerd's words.
//! The same is true of a Job whose pod is refused. Pure.

use wasmbench_model::quote::quotation;
use wasmbench_model::wire::failure::{Failure, FailureReason};

/// Reason of the kubelet's event about a sandbox that it could not create.
pub const SANDBOX_FAILED: &str = "FailedCreatePodSandBox";
/// Reason of the Job controller's event about a pod that it could not create.
pub const POD_REFUSED: &str = "FailedCreate";
/// How waiting for a pod whose sandbox cannot be created ends, in the operator and in the probe.
const MAY_LACK_A_SANDBOX: FailureReason = FailureReason::StartTimedOut;
/// What containerd reports, and what to do about it. The first match counts.
const REMEDIES: [(&str, &str); 5] = [
    (
        "no runtime for",
        "the node's containerd does not have the RuntimeClass's handler: add the runtime to its \
         configuration and restart it, or correct the handler",
    ),
    (
        "no runtime handler",
        "the node's containerd does not have the RuntimeClass's handler: add the runtime to its \
         configuration and restart it, or correct the handler",
    ),
    (
        "binary not installed",
        "the shim is not on the node: install its program on containerd's PATH",
    ),
    // The shim was there once, and containerd remembers where.
    (
        "no such file or directory",
        "the shim is not on the node: install its program on containerd's PATH",
    ),
    (
        "failed to start shim",
        "the shim does not work on this node: start its program there by hand, and see containerd's \
         log",
    ),
];

/// Whether an event may explain a failure with this reason further.
pub fn wants_event(failure: &Failure) -> bool {
    failure.reason == MAY_LACK_A_SANDBOX
}

/// `failure`, explained by what the kubelet reported (`event`). If the event names a known cause, no
/// pod of the variant can start.
pub fn explained(failure: Failure, event: &str) -> Failure {
    let known = REMEDIES.iter().find(|(text, _)| event.contains(text));
    let event = quotation(event);
    let Some((_, remedy)) = known else {
        let message = format!("{}; the node reported: {event}", failure.message);
        return Failure { message, ..failure };
    };
    let message = format!("{remedy} (the node reported: {event})");
    Failure::new(FailureReason::SubjectNotStarted, message)
}

/// `failure` of a probe whose Job got no pod, in the words of the Job controller's `event`.
pub fn refused(failure: Failure, event: &str) -> Failure {
    let message = format!(
        "the probe's pod is refused: {}: exempt the operator's namespace from what refuses it: \
         its pod security level (probes with meter.level cgroup or node need privileged), quota, \
         LimitRange or webhook",
        quotation(event)
    );
    Failure { message, ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(event: &str) -> Failure {
        let failure = Failure::new(FailureReason::StartTimedOut, "it did not run");
        explained(failure, event)
    }

    #[test]
    fn every_sandbox_failure_has_a_remedy() {
        for (event, remedy) in [
            (
                "unable to get OCI runtime for sandbox: no runtime for \"wasmtime\" is configured",
                "add the runtime to its configuration",
            ),
            (
                "failed to start shim: runtime \"io.containerd.x.v1\" binary not installed",
                "install its program",
            ),
            (
                "failed to start shim: start failed: exit status 1",
                "by hand",
            ),
            (
                "plugin type=ptp: no address",
                "it did not run; the node reported: \"plugin",
            ),
        ] {
            let Failure { reason, message } = failure(event);
            let quoted = quotation(event);
            assert!(
                message.contains(remedy) && message.contains(&quoted),
                "{message}"
            );
            let is_known = !remedy.starts_with("it did not run");
            assert_eq!(
                reason == FailureReason::SubjectNotStarted,
                is_known,
                "{reason}"
            );
        }
    }

    #[test]
    fn no_event_is_needed_for_a_pod_that_ran() {
        let wants = |reason| wants_event(&Failure::new(reason, ""));
        assert!(wants(FailureReason::StartTimedOut));
        assert!(!wants(FailureReason::SubjectCrashed));
    }
}
