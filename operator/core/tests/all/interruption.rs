//! What counts of a trial whose node became unavailable, and what is measured again.

use jiff::{SignedDuration, Timestamp};
use wasmbench_core::observed::{
    JobEnd, ObservedNode, ObservedPod, ObservedProbe, ObservedSubject, PodState,
};
use wasmbench_core::plan::{Stage, Step, plan};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::Likeness;
use wasmbench_model::wire::failure::FailureReason;

use crate::common;
use crate::nodes::{holding, observed};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// `NOW`, so many seconds later.
fn after(seconds: i64) -> Timestamp {
    NOW + SignedDuration::from_secs(seconds)
}

fn ended(code: i32) -> PodState {
    PodState::Ended {
        exit_code: Some(code),
        reason: "Ended".into(),
        message: String::new(),
    }
}

/// A pod on the node `bench-1`, whose name is its uid.
fn pod(name: &str, created: Timestamp, state: PodState) -> ObservedPod {
    ObservedPod {
        name: name.into(),
        uid: name.into(),
        created,
        deleting: None,
        node: Some("bench-1".into()),
        likeness: Likeness::Unaltered,
        ip: Some([10, 0, 0, 8].into()),
        state,
    }
}

/// The subject of the first trial.
fn subject(run: &ValidatedRun, pod: ObservedPod) -> ObservedSubject {
    let trial = run.order[0].clone();
    ObservedSubject { trial, pod }
}

/// A probe of the first trial, which measures the pod with this uid.
fn probe(run: &ValidatedRun, job: &str, subject_uid: &str) -> ObservedProbe {
    ObservedProbe {
        trial: run.order[0].clone(),
        job: job.into(),
        uid: job.into(),
        created: NOW,
        subject_uid: subject_uid.into(),
        deleting: false,
        end: None,
        pod: Some(pod(job, NOW, PodState::Running)),
    }
}

/// Everything by which a node is lost after a trial began there.
fn losses() -> [fn(&mut Vec<ObservedNode>); 3] {
    [
        |nodes| nodes[0].ready_changed = Some(after(5)),
        |nodes| nodes[0].ready = false,
        Vec::clear,
    ]
}

#[test]
fn a_failure_on_a_lost_node_is_not_recorded_even_after_the_node_is_released() {
    let run = common::validated();
    let mut observed = observed(&run);
    observed.subjects = vec![subject(&run, pod("subject", NOW, ended(137)))];
    let steps = plan(&run, &observed, after(9)).steps;
    assert!(
        matches!(steps[..], [Step::RecordFailure { .. }]),
        "{steps:?}"
    );
    for is_lost in losses() {
        let mut observed = observed.clone();
        is_lost(&mut observed.nodes);
        let steps = plan(&run, &observed, after(9)).steps;
        assert!(
            matches!(steps[..], [Step::RemoveSubject { .. }]),
            "{steps:?}"
        );
    }
}

#[test]
fn a_measurement_is_recorded_even_if_its_node_is_lost_afterwards() {
    let run = common::validated();
    for is_lost in losses() {
        let mut observed = observed(&run);
        let mut probe = probe(&run, "probe", "subject");
        probe.pod = Some(pod("probe", NOW, ended(0)));
        observed.probes = vec![probe];
        is_lost(&mut observed.nodes);
        let steps = plan(&run, &observed, after(9)).steps;
        assert!(
            matches!(steps[..], [Step::CollectRecord { .. }]),
            "{steps:?}"
        );
    }
}

#[test]
fn a_probe_that_repeats_a_lost_result_keeps_running_on_a_cordoned_node() {
    let run = common::validated();
    let mut observed = holding(&run);
    observed.nodes[0].cordoned = true;
    let lost = ObservedProbe {
        end: Some(JobEnd::Completed),
        pod: None,
        ..probe(&run, "lost", "earlier")
    };
    observed.probes = vec![lost, probe(&run, "again", "subject")];
    observed.subjects = vec![subject(&run, pod("subject", NOW, PodState::Running))];
    observed.upstreams = vec![pod("echo", NOW, PodState::Running)];
    let plan = plan(&run, &observed, NOW);
    assert!(matches!(plan.stage, Stage::Measuring { .. }), "{plan:?}");
    assert_eq!(plan.steps, []);
}

#[test]
fn an_echo_server_ended_by_a_reboot_excuses_no_failure_once_replaced() {
    let run = common::validated();
    let mut observed = holding(&run);
    observed.nodes[0].ready_changed = Some(after(5));
    observed.subjects = vec![subject(&run, pod("subject", after(9), ended(1)))];
    observed.upstreams = vec![
        pod("echo", NOW, ended(137)),
        pod("echo-again", after(7), PodState::Running),
    ];
    let steps = plan(&run, &observed, after(20)).steps;
    assert!(
        matches!(steps[..], [Step::RecordFailure { .. }]),
        "{steps:?}"
    );
}

#[test]
fn a_probe_does_not_wait_for_the_echo_server_that_follows_its_own() {
    let run = common::validated();
    let mut observed = holding(&run);
    observed.subjects = vec![subject(&run, pod("subject", NOW, PodState::Running))];
    observed.probes = vec![probe(&run, "probe", "subject")];
    observed.upstreams = vec![
        pod("echo", NOW, ended(137)),
        pod("echo-again", after(7), PodState::Pending(None)),
    ];
    let steps = plan(&run, &observed, after(20)).steps;
    let [Step::RecordFailure { failure, .. }] = &steps[..] else {
        panic!("{steps:?}");
    };
    assert_eq!(failure.reason, FailureReason::UpstreamLost);
}

#[test]
fn a_probe_removed_by_the_run_has_not_lost_its_echo_server() {
    for run in [common::validated(), common::validated_cold()] {
        let mut observed = holding(&run);
        let mut probe = probe(&run, "probe", "subject");
        probe.deleting = true;
        observed.probes = vec![probe];
        let plan = plan(&run, &observed, NOW);
        assert!(plan.steps.is_empty(), "{plan:?}");
    }
}
