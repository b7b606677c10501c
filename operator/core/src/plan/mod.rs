//! What to do next for one run: the rules. Pure: `plan(run, observed, now)` looks at a run and at what
//! was seen of the cluster, and returns steps, progress and when to look again. It keeps no state
//! of its own: kill the operator at any moment, and the next plan continues from what is there.
//!
//! The rules, in the order in which they are applied:
//! 1. A suspended run has no pods and no node.
//! 2. When every trial has a record, the leftovers are removed, the node is released (even if the
//!    report cannot be written), and the report is written. The number of blocks is decided
//!    beforehand ([`blocks()`]).
//! 3. A run measures only while it holds the claim on its node; others wait for their turn ([`claim`]).
//!    Nothing starts on a node while anything of another run is there ([`occupied`]). A trial during which
//!    an operator that leads no more launched another probe there has no record ([`overlap`]). Nor has one
//!    whose node is unavailable: the run waits for it ([`interruption`]). What else has ended is
//!    recorded even without the node, and what else there is, removed. A run whose demands no node
//!    meets for ten minutes ends like one whose trials all have a record.
//! 4. What cannot work is recorded as skipped instead of being tried again and again
//!    ([`exclusion`]).
//! 5. Scouts come first: a workload under which a variant cannot be compared is not measured for it
//!    (`incomparable`). The baseline's also finds the peak of which rates are shares (`rate`).
//! 6. One trial at a time: fresh subject, one probe, record; nothing is removed before its record
//!    has been seen ([`trial`]). A subject may come from an object that is there already, which the run
//!    scales up and back to 0 ([`scaled`]). In a cold-start trial the operator creates no subject: the probe
//!    creates the pods, and any that a killed probe leaves behind are removed ([`cold_start`]).

mod again;
mod altered_pod;
mod blocks;
mod claim;
mod cold_start;
mod comparable;
mod estimate;
mod exclusion;
mod incomparable;
mod interruption;
mod next;
mod node_event;
mod occupied;
mod overlap;
mod pace;
mod pod_start;
mod pods;
mod rate;
mod scaled;
mod trial;
mod upstream;

use jiff::{SignedDuration, Timestamp};
use wasmbench_api::run::TWIN;
use wasmbench_api::status::TrialPhase;
use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::record::TrialId;

pub use blocks::{Blocks, blocks, complete_blocks};
pub use claim::relevant_nodes;
pub use estimate::{expected_trial_seconds, quiet_seconds};
pub use exclusion::Exclusion;
pub use incomparable::{Incomparable, incomparable};
pub use node_event::{POD_REFUSED, SANDBOX_FAILED, explained, refused, wants_event};
pub use overlap::is_to_remove;
pub use pace::{Remaining, delay, remaining};
pub use rate::requested_rps;

use crate::fit::Obstacle;
use crate::observed::{Observed, ObservedLease, ObservedPod, RunName};
use crate::scale::{ObservedTarget, Target};
use crate::validate::ValidatedRun;

/// How often to check whether the node that a run holds, or is to take, takes pods again.
const NODE_CHECK: SignedDuration = SignedDuration::from_secs(15);
/// How often to check whether deleted objects are gone.
const LEFT_CHECK: SignedDuration = SignedDuration::from_secs(1);
/// How often to check whether what another run has on the node is gone.
const OCCUPANT_CHECK: SignedDuration = SignedDuration::from_secs(5);
/// How long a run waits for a node that meets its demands: an autoscaler may add one.
const UNMATCHED: SignedDuration = SignedDuration::from_mins(10);
/// What a run does once every trial has a record.
const WRITING: &str = "writing the report";

/// One thing to do. Each is carried out by one builder and one or two API calls.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum Step {
    /// Take a free node.
    ClaimNode {
        /// Its name.
        node: String,
        /// The existing claim, if any, which is free to take over.
        existing: Option<ObservedLease>,
    },
    /// Release the node.
    ReleaseNode {
        /// Its name.
        node: String,
    },
    /// Remove the claim on a node that is gone.
    ForgetNode {
        /// The claim, which nobody holds.
        lease: ObservedLease,
    },
    /// Remove what a run that is over has left on a node.
    Sweep(RunName),
    /// Start the echo server of the proxy workload.
    StartUpstream {
        /// The trial that needs it first.
        trial: TrialId,
        /// How many times it was started before, which is part of its name.
        restarts: usize,
    },
    /// Remove an echo server.
    RemoveUpstream {
        /// Name of its pod.
        pod: String,
        /// Uid of its pod.
        uid: String,
    },
    /// Create a trial's subject.
    DeploySubject(TrialId),
    /// Note in the claim that an object is scaled up, and then have it make the pod of a trial.
    ScaleUp {
        /// Which trial.
        trial: TrialId,
        /// The object.
        target: Box<Target>,
        /// The object as it was observed: a write against another one fails.
        found: Box<ObservedTarget>,
    },
    /// Note in the claim that a probe will scale an object up, to so many pods at most.
    NoteTarget {
        /// Which trial.
        trial: TrialId,
        /// The object.
        target: Box<Target>,
        /// The object as it was observed.
        found: Box<ObservedTarget>,
        /// The most pods.
        most: u32,
    },
    /// Have the noted object make no more pods.
    ScaleDown {
        /// The object.
        target: Box<Target>,
        /// The version of it that was observed.
        resource_version: Option<String>,
    },
    /// Remove the note of an object of which nothing is left.
    ForgetTarget,
    /// Create a trial's probe Job, pointed at the running subject.
    LaunchProbe {
        /// Which trial.
        trial: TrialId,
        /// Uid of the subject's pod.
        subject_uid: String,
        /// Its address.
        address: std::net::IpAddr,
        /// Whether the result of an earlier probe was lost.
        again: bool,
    },
    /// Create the Job of a cold-start or density trial, which creates its pods itself.
    LaunchColdStart {
        /// Which trial.
        trial: TrialId,
        /// Whether the result of an earlier probe was lost.
        again: bool,
    },
    /// Read what the probe printed and store the record.
    CollectRecord {
        /// Which trial.
        trial: TrialId,
        /// Name of the probe's pod.
        probe_pod: String,
        /// Name of the subject's pod, if it still exists.
        subject_pod: Option<String>,
    },
    /// Store a record with the reason why there is no measurement.
    RecordFailure {
        /// Which trial.
        trial: TrialId,
        /// Why.
        failure: Failure,
        /// Name of the subject's pod, if there is one.
        subject_pod: Option<String>,
    },
    /// Store records for trials that will not be tried.
    RecordSkipped(Exclusion),
    /// Remove a subject's pod.
    RemoveSubject {
        /// Name of the pod.
        pod: String,
        /// Its uid.
        uid: String,
    },
    /// Remove a probe Job with its pod.
    RemoveProbe {
        /// Name of the Job.
        job: String,
        /// Its uid.
        uid: String,
    },
    /// Compute and write the report.
    Summarise,
}

impl Step {
    fn remove_subject(pod: &ObservedPod) -> Self {
        Self::RemoveSubject {
            pod: pod.name.clone(),
            uid: pod.uid.clone(),
        }
    }

    /// Whether this step is taken only when no probe is measuring any more.
    pub fn ends_probe(&self) -> bool {
        self.records() || matches!(self, Self::ReleaseNode { .. })
    }

    /// Whether this step stores the record of a trial that was tried.
    fn records(&self) -> bool {
        matches!(
            self,
            Self::CollectRecord { .. } | Self::RecordFailure { .. }
        )
    }

    /// Whether this step starts a probe.
    fn launches(&self) -> bool {
        matches!(
            self,
            Self::LaunchProbe { .. } | Self::LaunchColdStart { .. }
        )
    }

    /// Whether this step starts something on the node.
    pub fn starts(&self) -> bool {
        let creates_pods = matches!(
            self,
            Self::StartUpstream { .. } | Self::DeploySubject(_) | Self::ScaleUp { .. }
        );
        self.launches() || creates_pods
    }
}

/// What to do for a run, and what to report about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in this order.
    pub steps: Vec<Step>,
    /// Where the run is.
    pub stage: Stage,
    /// The node it holds or wants, once known.
    pub node: Option<String>,
    /// Trials that have a record.
    pub completed: usize,
    /// When to look again if nothing happens.
    pub wake: Wake,
}

impl Plan {
    /// Whether the plan starts a probe: from then until the probe ends, the node is left
    /// undisturbed.
    pub fn starts_probe(&self) -> bool {
        self.steps.iter().any(Step::launches)
    }
}

/// Where a run is. Derived each time, never read back.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum Stage {
    /// It waits for its node.
    Queued {
        /// What it waits for, for people.
        message: String,
    },
    /// No node meets its demands.
    NoNode {
        /// What it demands, and what to do.
        message: String,
    },
    /// A trial is being prepared or measured.
    Measuring {
        /// Which one.
        trial: TrialId,
        /// What happens to it.
        phase: TrialPhase,
        /// The same for people.
        message: String,
    },
    /// Every trial has a record; the report is being written, or what is left of the run has to go.
    Summarising {
        /// Which of them, for people.
        message: String,
    },
    /// The user stopped it.
    Suspended,
    /// The report exists.
    Done,
    /// The report exists, and trials have no record, because no node met the run's demands for too
    /// long.
    GaveUp {
        /// What it demanded, and what to do.
        message: String,
    },
}

/// When to look again if nothing happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once: the steps' effects decide what comes next.
    Now,
    /// At this time, when a deadline ends or the next check is due.
    At(Timestamp),
    /// Only when something changes.
    OnChange,
}

/// What to do next for `run`, given what was `observed` at `now`.
pub fn plan(run: &ValidatedRun, observed: &Observed, now: Timestamp) -> Plan {
    let planned = run.planned(observed.blocks);
    let completed = planned
        .iter()
        .filter(|trial| observed.records.contains_key(trial))
        .count();
    if run.spec.suspend {
        return suspended(run, observed, completed, now);
    }
    // A report is final: whoever read it must not find other numbers in it later.
    if completed == planned.len() || observed.report {
        return finishing(run, observed, completed, now);
    }
    let next = |steps, stage, node, wake| Plan {
        steps,
        stage,
        node,
        completed,
        wake,
    };
    let waiting = |message, wake| next(vec![], Stage::Queued { message }, None, wake);
    if claim::held(run, observed).is_none()
        && let Some(plan) = without_node(run, observed, completed, now)
    {
        return plan;
    }
    let (node, obstacle) = match claim::claim(run, observed, now) {
        claim::Claim::Held(node) => (node, None),
        claim::Claim::Interrupted { node, obstacle } => (node, Some(obstacle)),
        claim::Claim::Take { node, existing } => {
            let message = format!("taking node {node}");
            let stage = Stage::Queued { message };
            let steps = claiming(observed, node.clone(), existing);
            return next(steps, stage, Some(node), Wake::Now);
        }
        // The queue wakes a run whose turn has changed.
        claim::Claim::Queue { message } => return waiting(message, Wake::OnChange),
        claim::Claim::Occupied { node, occupants } => {
            let (steps, message) = occupied::wait(&node, &occupants);
            let wake = Wake::At(pods::later(now, OCCUPANT_CHECK));
            return next(steps, Stage::Queued { message }, Some(node), wake);
        }
        claim::Claim::Unavailable { message } => {
            let wake = Wake::At(pods::later(now, NODE_CHECK));
            return waiting(message, wake);
        }
        claim::Claim::Unmatched { message } => {
            return unmatched(run, observed, completed, &message, now);
        }
    };
    let (steps, stage, wake) = on_node(run, observed, &node, obstacle, now);
    let plan = next(steps, stage, Some(node), wake);
    occupied::without_starts(plan, observed, now)
}

/// What a run that holds no node does before it claims one. What has ended is recorded; whatever else
/// is there took effect late, on a node that the run may not get back.
fn without_node(
    run: &ValidatedRun,
    observed: &Observed,
    completed: usize,
    now: Timestamp,
) -> Option<Plan> {
    let ((steps, stage, wake), node) =
        if let Some((step, stage, node)) = trial::ended(run, observed, now) {
            let recording = (vec![step], stage, Wake::Now);
            let next = interruption::after_loss(observed, &node, recording, now);
            (next, Some(node))
        } else {
            let message = "removing what it has left on a node".to_owned();
            let stage = Stage::Queued { message };
            ((remove_everything(observed), stage, Wake::Now), None)
        };
    (!steps.is_empty()).then_some(Plan {
        steps,
        stage,
        node,
        completed,
        wake,
    })
}

/// A run that claims a node also removes the claims on deleted ones.
fn claiming(observed: &Observed, node: String, existing: Option<ObservedLease>) -> Vec<Step> {
    let gone = observed.gone.iter().cloned();
    let forgets = gone.map(|lease| Step::ForgetNode { lease });
    let takes = Step::ClaimNode { node, existing };
    [takes].into_iter().chain(forgets).collect()
}

/// What to do on the node that the run holds.
fn on_node(
    run: &ValidatedRun,
    observed: &Observed,
    node: &str,
    obstacle: Option<Obstacle>,
    now: Timestamp,
) -> (Vec<Step>, Stage, Wake) {
    if let Some(next) = overlap::next(observed, now) {
        return next;
    }
    let next = || trial::next(run, observed, now);
    let (steps, stage, wake) = match (exclusion::next(run, observed), obstacle) {
        (Some(exclusion), _) => skipping(exclusion),
        (None, None) => interruption::after_loss(observed, node, next(), now),
        (None, Some(why)) => interruption::interrupted(run, observed, node, &why, next(), now),
    };
    (steps, with_left_out(stage, run, observed), wake)
}

/// No node meets the run's demands, or the one that it holds is gone.
fn unmatched(
    run: &ValidatedRun,
    observed: &Observed,
    completed: usize,
    message: &str,
    now: Timestamp,
) -> Plan {
    let since = observed.unmatched_since.unwrap_or(now);
    if now >= pods::later(since, UNMATCHED) {
        return finishing(run, observed, completed, now);
    }
    Plan {
        steps: releasing(run, observed, now),
        stage: Stage::NoNode {
            message: format!("{message}; the run ends after {UNMATCHED:#} without one"),
        },
        node: None,
        completed,
        // Of a node that joins, the queue learns; it does not follow the one that the run holds.
        wake: Wake::At(match observed.turn {
            Some(_) => pods::later(since, UNMATCHED),
            None => pods::later(now, NODE_CHECK),
        }),
    }
}

/// The stage, with what is not measured because of what the scouts saw, and with whether anything is left to
/// compare: both are known long before the report.
fn with_left_out(stage: Stage, run: &ValidatedRun, observed: &Observed) -> Stage {
    let Stage::Measuring {
        trial,
        phase,
        message,
    } = stage
    else {
        return stage;
    };
    let texts: Vec<String> = incomparable(run, observed)
        .iter()
        .filter(|found| found.variant != TWIN)
        .map(|found| {
            let reason = &found.failure.reason;
            format!("{} under {} ({reason})", found.variant, found.workload)
        })
        .collect();
    let left_out = (!texts.is_empty()).then(|| format!("not measured: {}", texts.join(", ")));
    let parts = [Some(message), left_out, comparable::obstacle(run, observed)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let message = parts.join("; ");
    Stage::Measuring {
        trial,
        phase,
        message,
    }
}

fn skipping(exclusion: Exclusion) -> (Vec<Step>, Stage, Wake) {
    let message = format!("skipping {}: {}", exclusion.what, exclusion.failure.message);
    let stage = Stage::Measuring {
        trial: exclusion.trials[0].clone(),
        phase: TrialPhase::Recording,
        message,
    };
    (vec![Step::RecordSkipped(exclusion)], stage, Wake::Now)
}

fn suspended(run: &ValidatedRun, observed: &Observed, completed: usize, now: Timestamp) -> Plan {
    let (steps, node) = (releasing(run, observed, now), claim::held(run, observed));
    // Its node is released only after something has gone, and not everything that goes is noticed.
    let is_at_rest = steps.is_empty() && node.is_none() && is_over(observed, now);
    Plan {
        steps,
        stage: Stage::Suspended,
        node,
        completed,
        wake: if is_at_rest {
            Wake::OnChange
        } else {
            Wake::At(pods::later(now, LEFT_CHECK))
        },
    }
}

/// Removes the run's pods, and releases its node only when nothing of the run can put load on it any
/// more.
fn releasing(run: &ValidatedRun, observed: &Observed, now: Timestamp) -> Vec<Step> {
    let mut steps = remove_everything(observed);
    let node = claim::held(run, observed).filter(|_| at_rest(observed, now));
    steps.extend(node.map(|node| Step::ReleaseNode { node }));
    steps
}

fn finishing(run: &ValidatedRun, observed: &Observed, completed: usize, now: Timestamp) -> Plan {
    let held = claim::held(run, observed);
    // The node goes before the report, which may fail again and again while others wait for it.
    let mut steps = releasing(run, observed, now);
    let releases = steps
        .iter()
        .any(|step| matches!(step, Step::ReleaseNode { .. }));
    if !observed.report {
        steps.push(Step::Summarise);
    }
    let wake = match (steps.is_empty(), is_over(observed, now)) {
        (true, true) => Wake::OnChange,
        (true, false) => Wake::At(pods::later(now, LEFT_CHECK)),
        (false, _) => Wake::Now,
    };
    let gave_up = completed < run.planned(observed.blocks).len();
    let stage = match (wake == Wake::OnChange, gave_up) {
        (true, false) => Stage::Done,
        (false, false) => summarising(observed, now),
        (is_over, true) => giving_up(claim::unmatched(observed), is_over),
    };
    Plan {
        steps,
        stage,
        node: held.filter(|_| !releases),
        completed,
        wake,
    }
}

/// What a run still does that has all its records: a pod may take long to end, and its report is read meanwhile.
fn summarising(observed: &Observed, now: Timestamp) -> Stage {
    let message = match (observed.report, last_left(observed, now)) {
        (false, _) => WRITING.to_owned(),
        (true, Some(left)) => format!("the report is written; waiting until {left}"),
        (true, None) => "the report is written; releasing the node".to_owned(),
    };
    Stage::Summarising { message }
}

/// Something of the run that has to end before the run does, and how it ends.
fn last_left(observed: &Observed, now: Timestamp) -> Option<String> {
    let late = observed.late.iter().map(|late| &late.job);
    let jobs = observed.probes.iter().map(|probe| &probe.job).chain(late);
    let jobs = jobs.map(|job| format!("probe {job} is gone"));
    let pods = pods_of(observed).filter(|pod| !pods::stays(observed, pod, now));
    let pods = pods.map(|pod| format!("pod {} is gone", pod.name));
    let scaled = observed.scaled().into_iter();
    let scaled = scaled.map(|(scaled, _)| format!("{} is back at 0 replicas", scaled.target));
    jobs.chain(pods).chain(scaled).next()
}

/// Until the report exists, the run reports that it has no node, and since when.
fn giving_up(message: String, is_over: bool) -> Stage {
    if is_over {
        Stage::GaveUp { message }
    } else {
        Stage::NoNode { message }
    }
}

/// A run is done when nothing of it is left except its results and pods that somebody else holds: a
/// finished run is never looked at again.
fn is_over(observed: &Observed, now: Timestamp) -> bool {
    has_no_probe(observed)
        && observed.scaled().is_none()
        && pods_of(observed).all(|pod| pods::stays(observed, pod, now))
}

fn remove_everything(observed: &Observed) -> Vec<Step> {
    let subjects = observed.subjects.iter().chain(&observed.cold_subjects);
    let upstreams = observed
        .upstreams
        .iter()
        .filter(|pod| pod.deleting.is_none());
    let of_upstreams = upstreams.map(|pod| Step::RemoveUpstream {
        pod: pod.name.clone(),
        uid: pod.uid.clone(),
    });
    let removals = overlap::removals(observed).chain(pods::removals(&observed.probes, subjects));
    let scaled = scaled::scale_down(observed);
    removals.chain(of_upstreams).chain(scaled).collect()
}

/// Whether nothing of the run can use the node any more. A Job that still exists may yet start its
/// pod.
fn at_rest(observed: &Observed, now: Timestamp) -> bool {
    has_no_probe(observed)
        && scaled::is_at_rest(observed, now)
        && !pods_of(observed).any(ObservedPod::works)
}

fn has_no_probe(observed: &Observed) -> bool {
    observed.probes.is_empty() && observed.late.is_empty()
}

/// The run's pods, except those of probes. What an object's owner has taken back is no pod of the run, and may
/// stay for ever.
fn pods_of(observed: &Observed) -> impl Iterator<Item = &ObservedPod> {
    let made = observed.subjects.iter().chain(&observed.cold_subjects);
    let subjects = made.chain(scaled::subjects(observed));
    subjects
        .map(|subject| &subject.pod)
        .chain(&observed.upstreams)
}
