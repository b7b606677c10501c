//! The echo server of the proxy workload: one pod per run, the same for all variants. One that ends
//! is started again, because a node may kill any pod once; a trial that used it is lost.

use jiff::{SignedDuration, Timestamp};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use crate::build::names;
use crate::observed::{Observed, ObservedPod, PodState};
use crate::plan::next::Next;
use crate::plan::pods::{POD_GOES, because, fail, later, since, subject_of};
use crate::plan::{Step, Wake, again, altered_pod};
use crate::validate::ValidatedRun;

/// How long the echo server may take to start running.
const START: SignedDuration = SignedDuration::from_secs(120);
/// How many times an echo server that has ended is started again.
const RESTARTS: usize = 2;

/// What `trial` has to wait for; `None` if it needs no echo server or has one, or if what used one is
/// on its way out.
pub(super) fn next(
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
    now: Timestamp,
) -> Option<Next> {
    let (probe, _) = again::probes(observed, trial);
    if !run.has_upstream(trial) || probe.is_some_and(|probe| probe.deleting) {
        return None;
    }
    match observed.upstream() {
        None if probe.is_some() => Some(lost(observed, trial)),
        None => Some(missing(run, observed, trial, now)),
        Some(pod) => pending(observed, trial, pod, now),
    }
}

/// A probe is given the address of one that runs: what it uses is gone once another is on its way.
fn lost(observed: &Observed, trial: &TrialId) -> Next {
    let message = "the echo server ended while the trial used it: see its pod's log";
    let failure = Failure::new(FailureReason::UpstreamLost, message);
    fail(trial, failure, subject_of(observed, trial))
}

fn unavailable(observed: &Observed, trial: &TrialId, message: impl Into<String>) -> Next {
    let failure = Failure::new(FailureReason::UpstreamUnavailable, message);
    fail(trial, failure, subject_of(observed, trial))
}

/// No echo server works.
fn missing(run: &ValidatedRun, observed: &Observed, trial: &TrialId, now: Timestamp) -> Next {
    let ended = observed.upstreams.len();
    if ended > RESTARTS {
        let message = format!(
            "the echo server ended {ended} times: see the logs of its pods, and the upstream image \
             in the chart"
        );
        return unavailable(observed, trial, message);
    }
    // A subject is given the address when it is created.
    if let Some(subject) =
        subject_of(observed, trial).filter(|subject| subject.pod.deleting.is_none())
    {
        let step = Step::remove_subject(&subject.pod);
        let message = format!("removing a pod of {trial} that uses an earlier echo server");
        return Next::waiting(message, Wake::Now).by(step);
    }
    let is_taken = |restarts: &usize| {
        let name = names::upstream(run, *restarts);
        observed.upstreams.iter().any(|pod| pod.name == name)
    };
    let step = Step::StartUpstream {
        trial: trial.clone(),
        restarts: (0..ended).find(|name| !is_taken(name)).unwrap_or(ended),
    };
    let wake = Wake::At(later(now, START));
    Next::waiting("starting the echo server", wake).by(step)
}

/// What is in the way of using this echo server.
fn pending(
    observed: &Observed,
    trial: &TrialId,
    pod: &ObservedPod,
    now: Timestamp,
) -> Option<Next> {
    if let Some(failure) = altered_pod::altered(pod, FailureReason::UpstreamUnavailable) {
        return Some(fail(trial, failure, subject_of(observed, trial)));
    }
    let waiting = |until| {
        Some(Next::waiting(
            "waiting for the echo server",
            Wake::At(until),
        ))
    };
    if let Some(since) = pod.deleting {
        return waiting(later(since.max(now), POD_GOES));
    }
    let deadline = since(pod.created, START);
    match &pod.state {
        PodState::Running if pod.ip.is_some() => None,
        _ if again::probes(observed, trial).0.is_some() => Some(lost(observed, trial)),
        _ if now < deadline => waiting(deadline),
        state @ (PodState::Pending(_) | PodState::Running | PodState::Ended { .. }) => {
            let message = format!(
                "the echo server did not run within {START:#}{}: check the upstream image in the \
                 chart",
                because(state)
            );
            Some(unavailable(observed, trial, message))
        }
    }
}
