//! Whole trials against a minimal API server.

mod world;

use http::{Request, Response};
use kube::client::Body;
use serde_json::json;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_model::wire::cold_start::{ColdPod, ColdStep};

use self::world::{Fate, Shared, serve, service};
use super::*;
use crate::testing::free_port;

fn on_host(port: u16) -> ColdStartRequest {
    request(port, |request| {
        request.pod.spec.get_or_insert_default().host_network = Some(true);
        let annotations = request.pod.metadata.annotations.get_or_insert_default();
        annotations.insert("port".into(), port.to_string());
    })
}

/// A request for two samples, with enough time for a pod to come up, however busy the machine is.
fn request(port: u16, change: impl FnOnce(&mut ColdStartRequest)) -> ColdStartRequest {
    let mut request = serde_json::from_value(json!({
        "pod": { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "team-a" } },
        "selector": "a=b", "samples": 2, "class": "ImageCached", "concurrency": 1, "timeoutSeconds": 60, "port": port,
        "path": "/", "expect": { "body": "hello" }, "listeningLine": " listening on ",
    }))
    .unwrap();
    change(&mut request);
    request
}

/// The same for a pod that never comes up.
fn request_in_vain(port: u16) -> ColdStartRequest {
    request(port, |request| request.timeout_seconds = 3)
}

/// Runs a trial in a world with this fate; returns the document and the world afterwards.
fn trial(fate: Fate, request: &ColdStartRequest) -> (ColdStartDocument, Shared) {
    let world = Shared::default();
    let mut document = ColdStartDocument {
        schema: COLD_START_SCHEMA.into(),
        probe_version: "0".into(),
        ..ColdStartDocument::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (service, handle) = tower_test::mock::pair::<Request<Body>, Response<Body>>();
        tokio::spawn(serve(handle, world.clone(), fate));
        let client = Client::new(service, "team-a");
        document.failure = take(
            client,
            &Settings::from_environment(),
            request,
            &mut document,
        )
        .await
        .err();
    });
    assert!(world.lock().unwrap().pods.is_empty(), "pods are left");
    (document, world)
}

/// The pods of all samples; each sample must have some.
fn pods(document: &ColdStartDocument) -> Vec<&ColdPod> {
    let samples = document.samples.iter();
    assert!(samples.clone().all(|sample| !sample.pods.is_empty()));
    let pods: Vec<&ColdPod> = samples.flat_map(|sample| &sample.pods).collect();
    assert!(!pods.is_empty(), "{document:#?}");
    pods
}

fn reason(document: &ColdStartDocument) -> Option<FailureReason> {
    Some(document.failure.as_ref()?.reason.clone())
}

#[test]
fn every_sample_has_a_timeline_and_the_first_is_discarded() {
    let (document, world) = trial(Fate::Serves, &request(service(), |_| {}));
    assert_eq!(document.failure, None);
    let discarded: Vec<bool> = document.samples.iter().map(|s| s.discarded).collect();
    assert_eq!(discarded, [true, false, false]);
    let world = world.lock().unwrap();
    assert_eq!(
        (world.created, world.most_at_once),
        (3, 1),
        "one after the other"
    );
    for pod in pods(&document) {
        let at = |step| {
            pod.steps
                .get(&step)
                .unwrap_or_else(|| panic!("{step:?}: {pod:#?}"))
        };
        assert!(at(ColdStep::CreateSent).nanoseconds <= at(ColdStep::CreateAccepted).nanoseconds);
        assert!(at(ColdStep::Scheduled).nanoseconds <= at(ColdStep::ReadyPublished).nanoseconds);
        assert!(at(ColdStep::FirstCorrectAnswer).nanoseconds > 0 && pod.attempts >= 1);
        assert!(at(ColdStep::DeleteSent).nanoseconds <= at(ColdStep::DeletionFinished).nanoseconds);
        at(ColdStep::Listening);
        assert_eq!(pod.image_id.as_deref(), Some("sha256:1"), "our container's");
    }
    let added: Vec<String> = document.added.iter().map(ToString::to_string).collect();
    assert_eq!(added, ["ServiceAccount: imagePullSecrets regcred"]);
    assert_eq!(document.answer.unwrap().excerpt, "hello");
}

#[test]
fn pods_of_one_sample_are_created_at_once_under_names_of_their_own() {
    let request = request(service(), |request| request.concurrency = 4);
    let (document, world) = trial(Fate::Serves, &request);
    assert_eq!(document.failure, None);
    let world = world.lock().unwrap();
    assert_eq!((world.created, world.most_at_once), (12, 4));
    let name = |pod: &ColdPod| pod.pod.clone();
    let names: Vec<String> = document.samples[2].pods.iter().map(name).collect();
    assert_eq!(names, ["p-2-0", "p-2-1", "p-2-2", "p-2-3"]);
}

#[test]
fn a_pod_that_is_refused_or_crashes_ends_the_trial_with_a_reason() {
    let port = service();
    let (patient, in_vain) = (request(port, |_| {}), request_in_vain(port));
    for (fate, request, expected) in [
        (Fate::Refused, &patient, FailureReason::PodRejected),
        (Fate::Crashes, &patient, FailureReason::SubjectCrashed),
        (Fate::Injected, &patient, FailureReason::SubjectAltered),
        (Fate::HasNoRoom, &in_vain, FailureReason::Unschedulable),
    ] {
        let (document, _) = trial(fate, request);
        assert_eq!(reason(&document), Some(expected), "{:?}", document.failure);
        assert_eq!(
            document.samples.len(),
            1,
            "no sample follows one that failed"
        );
    }
}

#[test]
fn the_wait_for_a_spent_quota_is_not_part_of_the_start() {
    let (document, world) = trial(Fate::ServesOverQuota(3), &request(service(), |_| {}));
    assert_eq!(document.failure, None);
    assert_eq!(world.lock().unwrap().over_quota, 3);
    // The start counts from the attempt that was accepted, three pauses of 250 ms later.
    let sent = pods(&document)[0].steps[&ColdStep::CreateSent];
    assert!(sent.nanoseconds >= 700_000_000, "{document:#?}");
    let (document, _) = trial(Fate::ServesOverQuota(1000), &request_in_vain(service()));
    let failure = document.failure.expect("a reason");
    assert_eq!(failure.reason, FailureReason::QuotaSpent);
    assert!(failure.message.contains("raise the quota"), "{failure:?}");
}

#[test]
fn a_service_that_never_answers_differs_from_one_that_answers_wrongly() {
    // A system port that nothing uses.
    let silent = request_in_vain(1);
    let mut wrong = request_in_vain(service());
    wrong.expect.body = Some("goodbye".into());
    for (fate, request, expected, observed) in [
        (
            Fate::Serves,
            &silent,
            FailureReason::NeverListened,
            "refused",
        ),
        (Fate::Serves, &wrong, FailureReason::WrongAnswer, "'hello'"),
        (
            Fate::StaysSilent,
            &wrong,
            FailureReason::StartTimedOut,
            "within 3 s",
        ),
    ] {
        let (document, _) = trial(fate, request);
        let failure = document.failure.as_ref().expect("a reason");
        assert_eq!(failure.reason, expected, "{failure:?}");
        assert!(failure.message.contains("2 of 2 starts"), "{failure:?}");
        assert!(failure.message.contains(observed), "{failure:?}");
        let late = document.samples.iter().map(|sample| sample.late().count());
        assert_eq!(late.collect::<Vec<_>>(), [1, 1], "two samples are enough");
    }
}

#[test]
fn a_start_that_is_late_is_recorded_removed_and_the_trial_goes_on() {
    let mut in_time = request(service(), |request| request.samples = 4);
    in_time.timeout_seconds = 5;
    let (document, world) = trial(Fate::ServesExcept(2), &in_time);
    assert_eq!(document.failure, None, "{document:#?}");
    assert_eq!(world.lock().unwrap().created, 5);
    let late = document.samples.iter().map(|sample| sample.late().count());
    assert_eq!(late.collect::<Vec<_>>(), [0, 0, 1, 0, 0]);
    let sample = &document.samples[2];
    assert!(sample.counts() && sample.node.is_none(), "{sample:#?}");
    let late = sample.late().next().unwrap();
    // The time begins a moment before the request that creates the pod.
    assert!(late.waited_nanoseconds > 4_500_000_000, "{late:?}");
    assert_eq!(late.failure.reason, FailureReason::StartTimedOut);
    let steps = &sample.pods[0].steps;
    assert!(!steps.contains_key(&ColdStep::FirstCorrectAnswer));
    assert!(steps.contains_key(&ColdStep::DeletionFinished));
}

#[test]
fn a_pod_in_time_keeps_its_times_if_another_is_late() {
    let mut two = request(service(), |request| request.concurrency = 2);
    (two.timeout_seconds, two.samples) = (5, 2);
    // The discarded sample has the first two pods.
    let (document, _) = trial(Fate::ServesExcept(2), &two);
    assert_eq!(document.failure, None, "{document:#?}");
    let [late, other] = &document.samples[1].pods[..] else {
        panic!("{document:#?}");
    };
    assert!(late.late.is_some() && other.late.is_none());
    for step in [ColdStep::Listening, ColdStep::FirstCorrectAnswer] {
        assert!(other.steps.contains_key(&step), "{other:#?}");
    }
}

#[test]
fn a_late_pod_that_a_quota_kept_back_had_less_time_and_fails_the_trial() {
    let mut kept_back = request_in_vain(1);
    kept_back.timeout_seconds = 5;
    let (document, _) = trial(Fate::ServesOverQuota(3), &kept_back);
    let failure = document.failure.expect("a reason");
    assert!(
        failure.message.contains("after its time began"),
        "{failure:?}"
    );
    assert_eq!(document.samples.len(), 1);
}

#[test]
fn without_the_requested_line_the_step_listening_is_absent() {
    let silent = request(service(), |request| {
        request.listening_line = Some("at your service".into());
    });
    let (document, _) = trial(Fate::Serves, &silent);
    assert_eq!(document.failure, None);
    let is_so = |pod: &&ColdPod| !pod.steps.contains_key(&ColdStep::Listening);
    assert!(pods(&document).iter().all(is_so), "{document:#?}");
}

#[test]
fn a_floor_follows_the_samples_and_its_failure_is_not_that_of_the_trial() {
    let (open, closed) = (request(service(), |_| {}), request_in_vain(1));
    let with_floor = |floor: &ColdStartRequest| {
        let mut floor = floor.clone();
        floor.pod.metadata.name = Some("floor".into());
        floor.samples = 1;
        request(service(), |measured| measured.floor = Some(Box::new(floor)))
    };
    let (document, world) = trial(Fate::Serves, &with_floor(&open));
    assert_eq!((&document.failure, &document.floor_failure), (&None, &None));
    assert_eq!(world.lock().unwrap().created, 5);
    let floor: Vec<(bool, &str)> = document
        .floor
        .iter()
        .map(|sample| (sample.discarded, sample.pods[0].pod.as_str()))
        .collect();
    assert_eq!(floor, [(true, "floor-0-0"), (false, "floor-1-0")]);
    let (document, _) = trial(Fate::Serves, &with_floor(&closed));
    assert_eq!(document.failure, None);
    assert_eq!(document.samples.len(), 3);
    let failure = document.floor_failure.expect("a reason");
    assert_eq!(failure.reason, FailureReason::NeverListened);
}

#[test]
fn on_the_nodes_network_the_port_is_polled_before_the_pod_exists() {
    let (document, _) = trial(Fate::ServesOnHost, &on_host(free_port()));
    assert_eq!(document.failure, None);
    let first = document.samples[0].pods.len();
    assert_eq!((first, pods(&document).len()), (1, 3));
    for pod in &pods(&document)[first..] {
        let answer = pod.steps[&ColdStep::FirstCorrectAnswer];
        // The API reported the address at once; the service listened a second later.
        assert!(pod.attempts > 10, "{pod:#?}");
        assert!(answer.nanoseconds >= 1_000_000_000, "{pod:#?}");
        let gap = answer.uncertainty_nanoseconds.expect("a gap");
        assert!(gap < 1_000_000_000, "{pod:#?}");
    }
}

#[test]
fn a_node_port_that_something_else_uses_is_not_measured() {
    let (document, world) = trial(Fate::Serves, &on_host(service()));
    let failure = document.failure.expect("a reason");
    assert!(failure.message.contains("is taken"), "{failure:?}");
    assert_eq!(world.lock().unwrap().created, 1, "only the discarded one");
}

fn wrong(document: &ColdStartDocument) -> Vec<bool> {
    document.samples.iter().map(|s| s.wrong_class).collect()
}

#[test]
fn each_pod_carries_what_it_found_on_the_node() {
    let (document, _) = trial(Fate::Serves, &request(service(), |_| {}));
    let is_so = |pod: &&ColdPod| pod.class == Some(ColdStartClass::ImageCached);
    assert!(pods(&document).iter().all(is_so), "{document:#?}");
    assert_eq!(wrong(&document), [false; 3]);
}

#[test]
fn samples_of_the_wrong_class_are_kept_marked_and_taken_again() {
    // Both pods of the discarded sample and one of the next sample pull.
    let pulled = request(service(), |request| request.concurrency = 2);
    let (document, world) = trial(Fate::ServesPulled(3), &pulled);
    assert_eq!(document.failure, None);
    assert_eq!(wrong(&document), [false, true, false, false]);
    assert_eq!(world.lock().unwrap().created, 8);
    let counting = document.samples.iter().filter(|sample| sample.counts());
    assert_eq!(counting.count(), 2);
}

#[test]
fn refills_end_with_the_budget_and_the_trial_keeps_wrong_samples() {
    let (document, world) = trial(Fate::ServesPulled(99), &request(service(), |_| {}));
    assert_eq!(document.failure, None);
    assert_eq!(wrong(&document), [false, true, true, true, true]);
    assert_eq!(world.lock().unwrap().created, 5);
}

#[test]
fn without_events_a_sample_counts_and_is_not_verified() {
    let (document, world) = trial(Fate::ServesUnseen, &request(service(), |_| {}));
    assert_eq!(wrong(&document), [false; 3]);
    assert!(document.samples.iter().all(|sample| !sample.is_verified()));
    assert_eq!(world.lock().unwrap().created, 3);
}

#[test]
fn the_class_is_not_checked_where_it_does_not_matter() {
    let any = request(service(), |request| request.class = None);
    let (document, _) = trial(Fate::ServesPulled(99), &any);
    assert_eq!(wrong(&document), [false; 3]);
    assert!(document.samples.iter().all(|sample| !sample.is_verified()));
}

#[test]
fn a_node_cold_sample_whose_image_was_there_is_of_the_wrong_class() {
    let cold = request(service(), |request| {
        request.class = Some(ColdStartClass::NodeCold);
    });
    let (document, _) = trial(Fate::ServesPulled(99), &cold);
    assert_eq!(wrong(&document), [false; 3]);
    let is_so = |pod: &&ColdPod| pod.pull.is_some_and(|pull| pull.milliseconds == 1000);
    assert!(pods(&document).iter().all(is_so), "{document:#?}");
    let (document, _) = trial(Fate::ServesPulled(2), &cold);
    assert_eq!(wrong(&document), [false, false, true, true, true]);
}

#[test]
fn each_sample_records_the_nodes_cpu_time_until_its_pods_were_up() {
    let request = request(service(), |_| {});
    let (document, _) = trial(Fate::Serves, &request);
    assert_eq!(document.samples.len(), 3);
    for sample in &document.samples {
        let node = sample.node.expect("the node's CPU time");
        let time = sample.pods[0].since_create(ColdStep::FirstCorrectAnswer);
        let duration = i64::try_from(node.duration_nanoseconds).unwrap();
        assert!(duration >= time.unwrap(), "{sample:#?}");
    }
    let (document, _) = trial(Fate::Crashes, &request);
    assert_eq!(document.samples[0].node, None);
}

/// The same for pods that an object makes, which have to be on this node.
fn scaled(node: &str) -> ColdStartRequest {
    request(service(), |request| {
        request.class = None;
        request.scaled = serde_json::from_value(json!({
            "group": "apps", "version": "v1", "resource": "deployments", "kind": "Deployment", "name": "shop",
            "uid": "object", "node": node,
        }))
        .unwrap();
    })
}

#[test]
fn pods_that_an_object_makes_are_timed_from_the_scale_up_and_gone_after_it() {
    let (document, world) = trial(Fate::Serves, &scaled("bench-1"));
    assert_eq!(document.failure, None);
    let all = pods(&document);
    assert_eq!(all.len(), 3, "one of them is discarded");
    for pod in all {
        assert!(pod.pod.starts_with("shop-"), "{pod:?}");
        let answer = pod.since_create(ColdStep::FirstCorrectAnswer);
        assert!(answer.is_some_and(|answer| answer > 0), "{pod:?}");
        assert!(!pod.steps.contains_key(&ColdStep::Listening), "{pod:?}");
        assert!(
            pod.steps.contains_key(&ColdStep::ContainerStarted),
            "{pod:?}"
        );
        assert_eq!(pod.image_id.as_deref(), Some("sha256:2, sha256:1"));
        assert_eq!(pod.template.as_deref(), Some("6d8f"));
        assert!(
            pod.steps.contains_key(&ColdStep::DeletionFinished),
            "{pod:?}"
        );
    }
    assert_eq!(world.lock().unwrap().replicas, 0);
}

#[test]
fn a_pod_on_another_node_is_no_subject() {
    let (document, world) = trial(Fate::Serves, &scaled("bench-2"));
    let failure = document.failure.unwrap();
    assert_eq!(failure.reason, FailureReason::SubjectAltered);
    assert!(failure.message.contains("pin it"), "{}", failure.message);
    assert_eq!(world.lock().unwrap().replicas, 0);
}

#[test]
fn a_pod_of_an_object_that_crashes_is_no_start_even_if_it_serves_after_that() {
    for fate in [Fate::Crashes, Fate::ServesAgain] {
        let (document, world) = trial(fate, &scaled("bench-1"));
        let failure = document.failure.unwrap();
        assert_eq!(
            failure.reason,
            FailureReason::SubjectCrashed,
            "{}",
            failure.message
        );
        let named = "container shop ended with exit code 3";
        assert!(failure.message.contains(named), "{}", failure.message);
        assert_eq!(world.lock().unwrap().replicas, 0);
    }
}

#[test]
fn an_object_that_its_owner_withdraws_between_two_starts_is_not_scaled_again() {
    let (document, world) = trial(Fate::Withdrawn, &scaled("bench-1"));
    let failure = document.failure.unwrap();
    assert_eq!(failure.reason, FailureReason::TakenBack);
    assert!(
        failure.message.contains("annotation"),
        "{}",
        failure.message
    );
    let world = world.lock().unwrap();
    assert_eq!((world.created, world.replicas), (1, 0));
}

#[test]
fn a_pod_may_be_the_objects_by_way_of_any_kind_that_the_administrator_lists() {
    let mut listed = scaled("bench-1");
    let object = listed.scaled.as_mut().unwrap();
    object.between = vec![["apps", "StatefulSet", "statefulsets"].map(str::to_owned)];
    let (document, _) = trial(Fate::ServesBySet, &listed);
    assert_eq!(document.failure, None);
    assert_eq!(pods(&document).len(), 3);
}
