//! What can go wrong while a run or a schedule is reconciled. Waiting and failed trials are not
//! errors: an error means that the cluster could not be read or written.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use wasmbench_model::store;
use wasmbench_model::waiting::is_refused;
use wasmbench_report::files;
use wasmbench_results::runs::history::stored;

/// Longest pause between two attempts while the error may still pass, as when an API server
/// restarts.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// The pause between two attempts once the error has lasted.
const LASTING_PAUSE: Duration = Duration::from_mins(5);
/// The same if people have to do something first, who then look whether it helped.
const PAUSE_FOR_PEOPLE: Duration = Duration::from_mins(1);
/// First pause after an error.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Why a reconcile failed.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
pub enum Error {
    /// A read failed.
    #[error("could not read {what}")]
    Observe {
        /// What was read.
        what: &'static str,
        /// Why.
        #[source]
        source: kube::Error,
    },
    /// A write failed.
    #[error("could not {what}")]
    Act {
        /// Verb and object.
        what: String,
        /// Why.
        #[source]
        source: kube::Error,
    },
    /// The status could not be written.
    #[error("could not write the status")]
    Report {
        /// Why.
        #[source]
        source: kube::Error,
    },
    /// An object that the run or the schedule needs belongs to someone else.
    #[error("{kind} {name} exists and belongs to somebody else: rename or remove it")]
    NameTaken {
        /// Kind of the object.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// Others changed a `ConfigMap` between each read and the write that followed.
    #[error(
        "others change ConfigMap {name} faster than the run can write it: it is tried again, and nothing is lost; to see who writes it: kubectl get configmap {name} -o yaml --show-managed-fields"
    )]
    WriteConflict {
        /// Name of the `ConfigMap`.
        name: String,
    },
    /// The API server refuses a `ConfigMap` with results.
    #[error(
        "ConfigMap {name} with results cannot be written: {message}: make room for it (the namespace's quota, etcd's space), or exempt it from the webhook or policy; what was measured is kept until then"
    )]
    ResultsRefused {
        /// Name of the `ConfigMap`.
        name: String,
        /// The API server's message.
        message: String,
    },
    /// The namespace's quota has no room for a pod now. Terminating pods count, too.
    #[error(
        "the namespace's quota is spent, and no pod can be created: {message}: raise the quota, or remove pods"
    )]
    Quota {
        /// The API server's message.
        message: String,
    },
    /// The API server refuses the run of a schedule.
    #[error("the run {name} is refused: {message}")]
    RunRefused {
        /// Name of the run.
        name: String,
        /// The API server's message.
        message: String,
    },
    /// The stored history of a schedule cannot be read.
    #[error(
        "the history in ConfigMap {name} cannot be read: {source}: keep a copy of it, remove it, and it begins anew"
    )]
    History {
        /// Name of the `ConfigMap`.
        name: String,
        /// Why.
        source: stored::Error,
    },
    /// A record could not be packed or unpacked.
    #[error("could not handle a record")]
    Record(#[from] store::Error),
    /// The report could not be written as text.
    #[error("could not render the report")]
    Render(#[from] files::Error),
    /// An object that a run has scaled up is not as before yet.
    #[error("{target} is on its way back to 0 replicas, and its node is released after that")]
    OnItsWayBack {
        /// The object.
        target: String,
    },
    /// The API server refuses to set the replicas of an object that a run scales.
    #[error(
        "the API server refuses to set the replicas of {target} to {replicas}: {message}: exempt the operator from the policy that refuses it, or give it that right again"
    )]
    ScaleRefused {
        /// The object.
        target: String,
        /// How many.
        replicas: u32,
        /// The API server's message.
        message: String,
    },
    /// This process may not begin a trial.
    #[error("this process may not begin a trial: {0}")]
    NotLeader(String),
    /// The API server did not answer in time.
    #[error("the API server took longer than {0:?}")]
    TimedOut(Duration),
    /// A bug: the code panicked. Other objects are not affected.
    #[error("reconciling this object panicked: {0}")]
    Panicked(String),
}

impl Error {
    /// A stable name with few values: the reason of Events and a label of metrics.
    pub fn reason(&self) -> &'static str {
        self.into()
    }

    /// Whether someone who reads the status can do something about it.
    pub fn is_for_people(&self) -> bool {
        match self {
            Self::NameTaken { .. }
            | Self::WriteConflict { .. }
            | Self::ResultsRefused { .. }
            | Self::Quota { .. }
            | Self::RunRefused { .. }
            | Self::ScaleRefused { .. }
            | Self::History { .. } => true,
            Self::Observe { .. }
            | Self::Act { .. }
            | Self::Report { .. }
            | Self::Record(_)
            | Self::Render(_)
            | Self::OnItsWayBack { .. }
            | Self::NotLeader(_)
            | Self::TimedOut(_)
            | Self::Panicked(_) => false,
        }
    }
}

/// The API server's message, if the refusal is permanent (policy, an invalid field).
pub fn refused(error: &kube::Error) -> Option<String> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    is_refused(status.code, &status.message).then(|| status.message.clone())
}

/// The messages of an error and all its causes, for logs and messages.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Failures in a row after which a run releases its node: four minutes of pauses.
const LASTING: u32 = 19;
/// The same if people have to do something first: 45 s of pauses. Pods that are terminating and count
/// for a quota are gone by then.
const LASTING_FOR_PEOPLE: u32 = 6;

/// Failures in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    count: u32,
    /// Whether the last one waits for people.
    for_people: bool,
}

impl Failures {
    fn last(self) -> bool {
        let enough = if self.for_people {
            LASTING_FOR_PEOPLE
        } else {
            LASTING
        };
        self.count >= enough
    }
}

/// Counts the failures in a row of each run or schedule, so that it waits longer after each.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: Mutex<HashMap<String, Failures>>,
}

impl Backoff {
    /// Counts a failure, which may wait `for_people`, and returns the pause before the next attempt.
    pub fn failed(&self, uid: &str, for_people: bool) -> Duration {
        let mut all = crate::lock(&self.failures);
        let failures = all.entry(uid.to_owned()).or_default();
        let was_lasting = failures.last();
        let pause = FIRST_PAUSE.saturating_mul(2u32.saturating_pow(failures.count));
        failures.count = failures.count.saturating_add(1);
        failures.for_people = for_people;
        match (was_lasting, for_people) {
            (true, true) => PAUSE_FOR_PEOPLE,
            (true, false) => LASTING_PAUSE,
            (false, _) => pause.min(LONGEST_PAUSE),
        }
    }

    /// Whether this run has kept failing for so long that others must not wait for it.
    pub fn is_lasting(&self, uid: &str) -> bool {
        let failures = crate::lock(&self.failures);
        failures.get(uid).is_some_and(|failures| failures.last())
    }

    /// Forgets the failures of a run that succeeded or is gone.
    pub fn succeeded(&self, uid: &str) {
        crate::lock(&self.failures).remove(uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_in_a_row_waits_longer_up_to_a_limit() {
        let backoff = Backoff::default();
        let pauses: Vec<u64> = (0..20)
            .map(|_| backoff.failed("a", false).as_secs())
            .collect();
        assert_eq!(pauses[..6], [1, 2, 4, 8, 15, 15]);
        assert_eq!(pauses[17..], [15, 15, 300]);
    }

    #[test]
    fn failures_last_when_minutes_have_passed() {
        let backoff = Backoff::default();
        let mut passed = Duration::ZERO;
        while !backoff.is_lasting("a") {
            passed += backoff.failed("a", false);
        }
        assert!((200..300).contains(&passed.as_secs()), "{passed:?}");
        backoff.succeeded("a");
        assert!(!backoff.is_lasting("a"));
    }

    #[test]
    fn a_run_that_waits_for_people_holds_a_node_for_less_than_a_minute() {
        let backoff = Backoff::default();
        let mut passed = Duration::ZERO;
        while !backoff.is_lasting("a") {
            passed += backoff.failed("a", true);
        }
        assert!((30..60).contains(&passed.as_secs()), "{passed:?}");
        assert_eq!(backoff.failed("a", true), PAUSE_FOR_PEOPLE);
    }

    #[test]
    fn a_success_resets_the_backoff_and_other_runs_are_not_delayed() {
        let backoff = Backoff::default();
        backoff.failed("a", false);
        assert_eq!(backoff.failed("b", false).as_secs(), 1);
        backoff.succeeded("a");
        assert_eq!(backoff.failed("a", false).as_secs(), 1);
    }
}
