//! What a run reports if no node fits: while it waits, and after it has ended.

use jiff::Timestamp;
use wasmbench_api::conditions;
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus};
use wasmbench_controller::status::{Conclusion, status_of};
use wasmbench_core::lifetime::unmatched_since;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage, Wake};
use wasmbench_core::validate::validate;
use wasmbench_results::summary::collect::summarize;

use crate::common;
use crate::results_support::{all_measured, run};

const MESSAGE: &str = "no node has the labels gpu=yes";

/// The status at this stage, if the first `recorded` trials were measured.
fn status(stage: Stage, recorded: usize) -> BenchmarkRunStatus {
    status_after(None, stage, recorded, Timestamp::UNIX_EPOCH)
}

/// The same after an earlier status.
fn status_after(
    earlier: Option<BenchmarkRunStatus>,
    stage: Stage,
    recorded: usize,
    now: Timestamp,
) -> BenchmarkRunStatus {
    let input = run();
    let mut records = all_measured(&input);
    records.truncate(recorded);
    let conclusion = Conclusion::from_summary(&summarize(&input, &records), vec![]);
    let mut run = BenchmarkRun::new(&input.name, input.spec);
    run.metadata.uid = Some(input.uid);
    run.status = earlier;
    let valid = validate(&run, &common::config()).unwrap();
    let has_ended = matches!(stage, Stage::GaveUp { .. });
    let plan = Plan {
        steps: vec![],
        stage,
        node: None,
        completed: recorded,
        wake: Wake::OnChange,
    };
    let observed = Observed::default();
    let conclusion = has_ended.then_some(&conclusion);
    status_of(&run, &valid, &observed, &plan, conclusion, now)
}

/// Status, reason and message of a condition.
fn condition<'a>(status: &'a BenchmarkRunStatus, type_: &str) -> (&'a str, &'a str, &'a str) {
    let mut all = status.conditions.iter();
    let found = all.find(|one| one.type_ == type_).expect("it is set");
    (&found.status, &found.reason, &found.message)
}

#[test]
fn a_run_without_a_node_is_stalled_and_has_not_ended() {
    let message = MESSAGE.to_owned();
    let status = status(Stage::NoNode { message }, 5);
    let reason = conditions::NO_MATCHING_NODE;
    assert_eq!(
        condition(&status, conditions::STALLED),
        ("True", reason, MESSAGE)
    );
    assert_eq!(condition(&status, conditions::FINISHED).0, "False");
    assert_eq!(
        condition(&status, conditions::SUCCEEDED),
        ("Unknown", reason, MESSAGE)
    );
    assert!(status.results.is_none());
}

#[test]
fn a_run_that_gave_up_ends_with_the_results_of_its_records() {
    let message = MESSAGE.to_owned();
    let gave_up = Stage::GaveUp { message };
    let ended = status(gave_up.clone(), 30);
    assert_eq!(condition(&ended, conditions::FINISHED).0, "True");
    assert_eq!(condition(&ended, conditions::STALLED).0, "True");
    let (succeeded, reason, text) = condition(&ended, conditions::SUCCEEDED);
    assert_eq!((succeeded, reason), ("False", conditions::NO_MATCHING_NODE));
    assert!(
        text.starts_with("30 of ") && text.ends_with(MESSAGE),
        "{text}"
    );
    assert!(ended.results.is_some() && !ended.summary.is_empty());
    assert!(ended.completion_time.is_some());
    let nothing = status(gave_up, 0);
    assert!(
        condition(&nothing, conditions::SUCCEEDED)
            .2
            .starts_with("0 of ")
    );
    assert_eq!(condition(&nothing, conditions::TRUSTWORTHY).0, "Unknown");
}

#[test]
fn the_time_without_a_node_begins_when_the_run_first_reports_it() {
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    let message = MESSAGE.to_owned();
    let waiting = status(Stage::Queued { message }, 0);
    let mut earlier = waiting;
    for now in [at(700), at(701), at(900)] {
        let message = MESSAGE.to_owned();
        earlier = status_after(Some(earlier), Stage::NoNode { message }, 0, now);
        let mut run = BenchmarkRun::new("a", run().spec);
        run.status = Some(earlier.clone());
        assert_eq!(unmatched_since(&run), Some(at(700)));
    }
}
