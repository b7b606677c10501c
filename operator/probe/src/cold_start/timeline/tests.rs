//! Timelines from what the API, the log and the poller report, in any order.

use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde_json::{Value, json};
use wasmbench_model::wire::cold_start::ColdStep as S;

use super::*;

const START: i64 = 1_000_000_000_000;

fn condition(type_: &str) -> Value {
    json!({ "type": type_, "status": "True", "lastTransitionTime": "2026-11-21T07:00:00Z" })
}

/// A pod as the API reports it after the first `done` steps: scheduled, sandbox, running with an
/// address, ready.
fn pod(done: usize) -> Pod {
    let names = [
        "PodScheduled",
        "PodReadyToStartContainers",
        "ContainersReady",
        "Ready",
    ];
    let mut status =
        json!({ "conditions": names[..done].iter().map(|c| condition(c)).collect::<Vec<_>>() });
    if done >= 3 {
        status["podIP"] = json!("10.0.0.8");
        status["containerStatuses"] = json!([{
            "name": "subject", "image": "a", "imageID": "sha256:1", "ready": true, "restartCount": 0,
            "state": { "running": { "startedAt": "2026-11-21T07:00:01Z" } },
        }]);
    }
    serde_json::from_value(json!({
        "metadata": { "name": "p", "creationTimestamp": "2026-11-21T07:00:00Z" }, "status": status,
    }))
    .unwrap()
}

fn timeline() -> Timeline {
    Timeline::new("p".into(), START)
}

fn at(pod: &ColdPod, step: S) -> Option<i64> {
    pod.steps.get(&step).map(|moment| moment.nanoseconds)
}

#[test]
fn a_start_becomes_a_timeline_with_the_clock_of_each_step() {
    let mut timeline = timeline();
    timeline.accepted(START + 1, START + 9);
    for (done, time) in [(0, 10), (1, 20), (2, 30)] {
        assert_eq!(timeline.saw(&pod(done), START + time), None);
    }
    assert!(timeline.saw(&pod(3), START + 40).is_some());
    assert_eq!(
        timeline.saw(&pod(4), START + 50),
        None,
        "the address is reported once"
    );
    assert!(!timeline.is_up());
    timeline.answered(START + 60, Some(5), 3);
    timeline.listens(START + 35, true);
    assert!(timeline.is_up());
    let pod = timeline.finish();
    let nanoseconds: Vec<i64> = pod
        .steps
        .values()
        .map(|moment| moment.nanoseconds)
        .collect();
    assert_eq!(nanoseconds, [1, 9, 20, 30, 35, 40, 40, 50, 60]);
    assert_eq!(
        pod.steps[&S::CreateAccepted].uncertainty_nanoseconds,
        Some(8)
    );
    assert_eq!(pod.steps[&S::SandboxReady].clock, Clock::WatchArrival);
    assert_eq!(pod.steps[&S::SandboxReady].uncertainty_nanoseconds, None);
    assert_eq!(pod.steps[&S::Listening].clock, Clock::LogStamp);
    assert_eq!(
        pod.steps[&S::FirstCorrectAnswer].uncertainty_nanoseconds,
        Some(5)
    );
    assert_eq!(
        (pod.attempts, pod.image_id.as_deref()),
        (3, Some("sha256:1"))
    );
    assert_eq!(pod.api_stamps["running"], "2026-11-21T07:00:01Z");
    assert_eq!(pod.since_create(S::Listening), Some(34));
}

#[test]
fn unobserved_steps_are_absent() {
    let mut timeline = timeline();
    timeline.accepted(START, START + 1);
    timeline.saw(&pod(4), START + 50);
    let pod = timeline.finish();
    assert_eq!(at(&pod, S::Listening), None);
    assert_eq!(at(&pod, S::FirstCorrectAnswer), None);
    assert_eq!(at(&pod, S::DeletionFinished), None);
}

const MILLISECOND: i64 = 1_000_000;

/// The listening step for a timestamp this many milliseconds after the start, with the answer after
/// 60.
fn listening(stamp: i64, named: bool, refused: Option<i64>) -> Option<Moment> {
    let mut timeline = timeline();
    timeline.answered(START + 60 * MILLISECOND, None, 1);
    if let Some(refused) = refused {
        timeline.refused(START + refused * MILLISECOND);
    }
    timeline.listens(START + stamp * MILLISECOND, named);
    timeline.finish().steps.remove(&S::Listening)
}

#[test]
fn an_unnamed_first_line_after_an_answer_is_ignored() {
    assert_eq!(listening(61, false, None), None);
    let before = listening(60, true, None).unwrap();
    assert_eq!(listening(60, false, None), Some(before));
    assert_eq!(
        (before.nanoseconds, before.clock),
        (60 * MILLISECOND, Clock::LogStamp)
    );
}

#[test]
fn a_late_stamp_of_a_named_line_yields_to_the_answer() {
    for stamp in [61, 2_000] {
        let moment = listening(stamp, true, None).unwrap();
        assert_eq!(moment.nanoseconds, 60 * MILLISECOND);
        assert_eq!(moment.clock, Clock::Probe);
        assert_eq!(moment.uncertainty_nanoseconds, None);
    }
}

#[test]
fn a_service_listened_after_the_last_refused_connection() {
    let uncertainty = |stamp, refused| {
        let moment = listening(stamp, true, Some(refused)).unwrap();
        moment.uncertainty_nanoseconds
    };
    assert_eq!(uncertainty(50, 48), Some(2_000_000));
    assert_eq!(uncertainty(90, 48), Some(12_000_000), "up to the answer");
    for named in [true, false] {
        assert_eq!(listening(47, named, Some(48)), None, "printed too early");
    }
}

proptest! {
    #[test]
    fn however_events_repeat_the_first_arrival_of_each_step_counts(
        events in prop::collection::vec((0usize..=4, 0i64..1_000_000), 1..40),
    ) {
        let mut events = events;
        events.sort_by_key(|(_, time)| *time);
        let mut timeline = timeline();
        let addresses = events
            .iter()
            .filter(|(done, time)| timeline.saw(&pod(*done), START + time).is_some())
            .count();
        let first = |least: usize| events.iter().find(|(done, _)| *done >= least).map(|(_, t)| *t);
        let result = timeline.finish();
        prop_assert_eq!(at(&result, S::Scheduled), first(1));
        prop_assert_eq!(at(&result, S::SandboxReady), first(2));
        prop_assert_eq!(at(&result, S::ContainerStarted), first(3));
        prop_assert_eq!(at(&result, S::ReadyPublished), first(4));
        prop_assert_eq!(addresses, usize::from(first(3).is_some()));
    }

    #[test]
    fn a_timeline_reads_back_as_it_was_written(
        times in prop::collection::vec(proptest::option::of(-1_000i64..1_000_000_000_000), 11),
    ) {
        use strum::IntoEnumIterator as _;
        let mut timeline = timeline();
        for (step, time) in S::iter().zip(times) {
            if let Some(time) = time {
                timeline.reach(step, START + time, Clock::Probe, None);
            }
        }
        let pod = timeline.finish();
        let json = serde_json::to_string(&pod).unwrap();
        prop_assert_eq!(serde_json::from_str::<ColdPod>(&json).unwrap(), pod);
    }
}

fn pull(milliseconds: u64) -> ImagePull {
    ImagePull {
        milliseconds,
        with_waiting_milliseconds: milliseconds,
        image_bytes: None,
    }
}

#[test]
fn a_pull_began_its_duration_before_the_container_was_known() {
    let mut timeline = Timeline::new("p".into(), 0);
    timeline.pulled(
        Some(pull(200)),
        Some(900 * MILLISECOND),
        Some(930 * MILLISECOND),
    );
    let pod = timeline.finish();
    let began = pod.steps[&ColdStep::ImagePullStarted];
    assert_eq!(began.nanoseconds, 730 * MILLISECOND);
    assert_eq!(began.clock, Clock::KubeletDuration);
    // The pull ended between 900 and 930 ms, and took 200 to 201 ms.
    assert_eq!(began.uncertainty_nanoseconds, Some(31_000_000));
    let ended = pod.steps[&ColdStep::ImagePulled];
    assert_eq!(
        (ended.nanoseconds, ended.clock),
        (900 * MILLISECOND, Clock::ContainerdEvent)
    );
    assert_eq!(pod.pull, Some(pull(200)));
}

#[test]
fn a_pull_never_begins_after_its_end() {
    let mut timeline = Timeline::new("p".into(), 0);
    timeline.pulled(
        Some(pull(3)),
        Some(900 * MILLISECOND),
        Some(930 * MILLISECOND),
    );
    let began = timeline.finish().steps[&ColdStep::ImagePullStarted];
    assert_eq!(began.nanoseconds, 900 * MILLISECOND);
    assert_eq!(began.uncertainty_nanoseconds, Some(4_000_000));
}

#[test]
fn without_the_evidence_of_a_pull_its_steps_are_absent() {
    let image = Some(900 * MILLISECOND);
    for (reported, image, container, steps) in [
        (Some(pull(200)), None, Some(930 * MILLISECOND), 0),
        (None, image, Some(930 * MILLISECOND), 1),
        (Some(pull(200)), image, None, 1),
        // A container older than the image was not made from it.
        (Some(pull(200)), image, Some(800 * MILLISECOND), 1),
    ] {
        let mut timeline = Timeline::new("p".into(), 0);
        timeline.pulled(reported, image, container);
        assert_eq!(timeline.finish().steps.len(), steps);
    }
}
