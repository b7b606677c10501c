//! What a run says between its last record and its end.

use jiff::Timestamp;
use wasmbench_core::observed::{Observed, ObservedPod, ObservedSubject, PodState};
use wasmbench_core::plan::{Stage, plan};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::Likeness;
use wasmbench_model::store::Ended;

use crate::common;
use crate::nodes::holding;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// Every trial has a record, and the last subject has not ended yet.
fn recorded(run: &ValidatedRun) -> Observed {
    let mut observed = holding(run);
    let trials = run.order.iter().cloned();
    observed.records = trials.map(|trial| (trial, Ended::Measured)).collect();
    let pod = ObservedPod {
        name: "last-subject".into(),
        uid: "last-subject".into(),
        created: NOW,
        deleting: Some(NOW),
        node: Some("bench-1".into()),
        likeness: Likeness::Unaltered,
        ip: None,
        state: PodState::Running,
    };
    let trial = run.order[0].clone();
    observed.subjects = vec![ObservedSubject { trial, pod }];
    observed
}

fn message(run: &ValidatedRun, observed: &Observed) -> String {
    let stage = plan(run, observed, NOW).stage;
    let Stage::Summarising { message } = stage else {
        panic!("{stage:?}");
    };
    message
}

#[test]
fn a_run_whose_report_is_written_names_the_pod_that_it_waits_for() {
    let run = common::validated();
    let mut observed = recorded(&run);
    assert_eq!(message(&run, &observed), "writing the report");
    observed.report = true;
    assert_eq!(
        message(&run, &observed),
        "the report is written; waiting until pod last-subject is gone"
    );
    observed.subjects.clear();
    assert_eq!(
        message(&run, &observed),
        "the report is written; releasing the node"
    );
    observed.leases.clear();
    assert_eq!(plan(&run, &observed, NOW).stage, Stage::Done);
}
