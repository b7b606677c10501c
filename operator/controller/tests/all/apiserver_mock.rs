//! Conversations with a mock API server that gives answers that are rare from a real one:
//! conflicts, refusals, objects of other owners. They complement the end-to-end tests, which use a
//! real one.

use std::ops::ControlFlow;
use std::sync::Arc;

use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_controller::act::act;
use wasmbench_controller::context::Context;
use wasmbench_controller::error::Error;
use wasmbench_controller::report;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::observed::{Observed, ObservedLease, ObservedProbe};
use wasmbench_core::plan::{Plan, Stage, Step, Wake};
use wasmbench_core::scale::ScaleConfig;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::images::Images;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::RECORD_SCHEMA;

const RUN_UID: &str = "6f0c0e6e-0000-4000-8000-000000000001";

pub fn config() -> OperatorConfig {
    let config = json!({
        "operatorNamespace": "ops", "coldStartServiceAccount": "cold",
        "images": Images::in_registry("example.com", "1"),
        "scale": ScaleConfig::assumed(),
    });
    serde_json::from_value(config).unwrap()
}

pub fn run() -> BenchmarkRun {
    let text = format!(
        r"
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {{name: gatekeeper, namespace: team-a, uid: {RUN_UID}, generation: 1}}
spec:
  blocks: 1
  variants: [{{name: tortoise, preset: native}}]
  workloads: [{{name: greet}}]
  sweeps: {{warmLatency: {{}}}}
"
    );
    serde_yaml::from_str(&text).unwrap()
}

fn valid() -> ValidatedRun {
    validate(&run(), &config()).unwrap()
}

pub fn plan_of(step: Step) -> Plan {
    Plan {
        steps: vec![step],
        stage: Stage::Summarising {
            message: String::new(),
        },
        node: Some("bench-1".into()),
        completed: 0,
        wake: Wake::Now,
    }
}

/// One expected call: method, end of the path and after a `?` a part of the query, status code and body of the
/// response.
pub type Call = (&'static str, &'static str, u16, Value);

/// A context whose API server expects exactly these calls, in this order, and the server's task,
/// which returns the bodies of the requests.
pub fn conversation(calls: Vec<Call>) -> (Arc<Context>, tokio::task::JoinHandle<Vec<Value>>) {
    let (service, mut handle) = tower_test::mock::pair::<Request<Body>, Response<Body>>();
    let server = tokio::spawn(async move {
        let mut bodies = vec![];
        for (method, path, code, answer) in calls {
            let (request, send) = handle.next_request().await.expect("a call is missing");
            assert_eq!(request.method(), method, "{}", request.uri());
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            let parameters = request.uri().query().unwrap_or_default();
            assert!(
                request.uri().path().ends_with(path) && parameters.contains(query),
                "{} is not {path}?{query}",
                request.uri()
            );
            let bytes = request.into_body().collect_bytes().await.unwrap();
            bodies.push(serde_json::from_slice(&bytes).unwrap_or(Value::Null));
            let body = Body::from(serde_json::to_vec(&answer).unwrap());
            send.send_response(Response::builder().status(code).body(body).unwrap());
        }
        assert!(handle.next_request().await.is_none(), "a call too many");
        bodies
    });
    (
        Context::new(Client::new(service, "default"), config()),
        server,
    )
}

pub fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "code": code, "reason": reason, "message": message, "metadata": {},
    })
}

fn exists() -> Value {
    status(409, "AlreadyExists", "exists")
}

/// This call, and those that store a record of what it answers.
fn stored_after(call: Call) -> Vec<Call> {
    let none = status(404, "NotFound", "no such ConfigMap");
    let stored = json!({"metadata": {"name": "records"}});
    vec![
        call,
        ("GET", "", 404, none),
        ("POST", "/team-a/configmaps", 201, stored),
    ]
}

fn owned_by(uid: &str) -> Value {
    let owner = json!({"apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun", "name": "gatekeeper", "uid": uid});
    json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {"name": "taken", "ownerReferences": [owner]},
    })
}

/// What came of the step, and the bodies of its calls.
async fn carry_out(calls: Vec<Call>, step: Step) -> (Result<ControlFlow<()>, Error>, Vec<Value>) {
    let (context, server) = conversation(calls);
    let result = act(&context, &valid(), &Observed::default(), &plan_of(step)).await;
    drop(context);
    (result, server.await.unwrap())
}

fn deploy() -> Step {
    Step::DeploySubject(valid().order[0].clone())
}

/// The name of the only subject of [`run`], as the last part of its path.
fn pod_path() -> &'static str {
    let name = wasmbench_core::build::names::subject(&valid(), &valid().order[0]);
    Box::leak(format!("/pods/{name}").into_boxed_str())
}

#[tokio::test]
async fn a_subject_that_exists_already_counts_as_created() {
    let calls = vec![
        ("POST", "/team-a/pods", 409, exists()),
        ("GET", pod_path(), 200, owned_by(RUN_UID)),
    ];
    let (result, _) = carry_out(calls, deploy()).await;
    assert!(result.unwrap().is_continue());
}

#[tokio::test]
async fn a_strangers_pod_of_the_same_name_is_not_adopted() {
    let calls = vec![
        ("POST", "/team-a/pods", 409, exists()),
        ("GET", pod_path(), 200, owned_by("somebody-else")),
    ];
    let (result, _) = carry_out(calls, deploy()).await;
    assert!(
        matches!(result, Err(Error::NameTaken { kind: "pod", .. })),
        "{result:?}"
    );
}

#[tokio::test]
async fn a_pod_that_the_api_server_refuses_becomes_a_record_with_its_message() {
    let words = "violates PodSecurity restricted:latest: hostNetwork";
    let calls = stored_after(("POST", "/team-a/pods", 403, status(403, "Forbidden", words)));
    let (result, bodies) = carry_out(calls, deploy()).await;
    assert!(result.unwrap().is_break(), "nothing else wakes the run");
    let text = outcome_of(&bodies[2]);
    assert!(
        text.contains("PodRejected") && text.contains(words),
        "{text}"
    );
}

/// The outcome, as JSON, of the record that was stored with this request.
pub fn outcome_of(request: &Value) -> String {
    let map: ConfigMap = serde_json::from_value(request.clone()).unwrap();
    let entry = map.binary_data.unwrap().into_values().next().unwrap();
    let record = wasmbench_model::store::decode(&entry.0).unwrap();
    serde_json::to_string(&record.outcome).unwrap()
}

/// Some policies change Jobs instead of their pods, which then are what the Job asks for.
#[tokio::test]
async fn a_job_that_something_changed_on_its_way_becomes_a_record_that_names_it() {
    let containers = json!([{ "name": "probe" }, { "name": "linkerd-proxy" }]);
    let changed = json!({
        "metadata": { "name": "probe", "namespace": "ops" },
        "spec": { "template": { "spec": { "containers": containers } } },
    });
    let calls = stored_after(("POST", "/ops/jobs", 201, changed));
    let (result, bodies) = carry_out(calls, launch()).await;
    assert!(result.unwrap().is_break(), "nothing else wakes the run");
    let text = outcome_of(&bodies[2]);
    assert!(text.contains("ProbeAltered"), "{text}");
    assert!(
        text.contains("the container 'linkerd-proxy' was added"),
        "{text}"
    );
}

#[tokio::test]
async fn a_spent_quota_is_waited_for_and_gets_no_record() {
    let words = "exceeded quota: pods, requested: 1, used: 10, limited: 10";
    let calls = vec![("POST", "/team-a/pods", 403, status(403, "Forbidden", words))];
    let (result, _) = carry_out(calls, deploy()).await;
    assert!(matches!(result, Err(Error::Quota { .. })), "{result:?}");
}

#[tokio::test]
async fn a_namespace_that_is_too_new_for_pods_is_retried_and_gets_no_record() {
    let words = "pods is forbidden: error looking up service account team-a/default: \
                 serviceaccount \"default\" not found";
    let calls = vec![("POST", "/team-a/pods", 403, status(403, "Forbidden", words))];
    let (result, _) = carry_out(calls, deploy()).await;
    assert!(matches!(result, Err(Error::Act { .. })), "{result:?}");
}

#[tokio::test]
async fn an_api_server_in_trouble_is_an_error_and_no_record() {
    let calls = vec![(
        "POST",
        "/team-a/pods",
        500,
        status(500, "InternalError", "etcd is away"),
    )];
    let (result, _) = carry_out(calls, deploy()).await;
    assert!(matches!(result, Err(Error::Act { .. })), "{result:?}");
}

fn launch() -> Step {
    Step::LaunchProbe {
        trial: valid().order[0].clone(),
        subject_uid: "0a0a".into(),
        address: "10.0.0.8".parse().unwrap(),
        again: false,
    }
}

/// Launches a probe whose Job name is taken by the Job of this run and this trial.
async fn launch_with_taken_name(uid: &str, trial: &str) -> Result<ControlFlow<()>, Error> {
    let there = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {
            "name": "taken", "labels": {(labels::RUN_UID): uid}, "annotations": {(labels::TRIAL): trial},
        },
    });
    let calls = vec![
        ("POST", "/ops/jobs", 409, exists()),
        ("GET", "", 200, there),
    ];
    carry_out(calls, launch()).await.0
}

#[tokio::test]
async fn a_probe_that_exists_already_counts_as_launched() {
    let trial = valid().order[0].to_string();
    let launched = launch_with_taken_name(&valid().uid, &trial).await;
    assert!(launched.unwrap().is_continue());
}

/// The hash in the names of Jobs is short: whoever creates many runs may hit another run's name.
#[tokio::test]
async fn a_probe_of_another_run_or_trial_with_our_name_is_not_ours() {
    let (uid, trial) = (valid().uid, valid().order[0].to_string());
    for (uid, trial) in [("another", trial.as_str()), (&uid, "a/b/warm/b9")] {
        let error = launch_with_taken_name(uid, trial).await.unwrap_err();
        assert!(
            matches!(error, Error::NameTaken { kind: "Job", .. }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn losing_a_claim_to_another_run_is_no_error() {
    let existing = ObservedLease {
        node: "bench-1".into(),
        holder: None,
        resource_version: Some("41".into()),
        scaled: None,
    };
    let step = Step::ClaimNode {
        node: "bench-1".into(),
        existing: Some(existing),
    };
    let calls = vec![(
        "PUT",
        "/wasmbench-node-bench-1",
        409,
        status(409, "Conflict", "modified"),
    )];
    let (result, bodies) = carry_out(calls, step).await;
    assert!(result.unwrap().is_continue());
    assert_eq!(
        bodies[0]["metadata"]["resourceVersion"], "41",
        "the write is not guarded"
    );
}

#[tokio::test]
async fn a_claim_on_a_deleted_node_is_removed_unless_a_run_took_it_meanwhile() {
    let conflict = status(409, "Conflict", "the precondition failed");
    for (code, answer) in [(200, json!({})), (409, conflict)] {
        let lease = ObservedLease {
            node: "spot-1".into(),
            holder: None,
            resource_version: Some("41".into()),
            scaled: None,
        };
        let calls = vec![("DELETE", "/wasmbench-node-spot-1", code, answer)];
        let (result, bodies) = carry_out(calls, Step::ForgetNode { lease }).await;
        assert!(result.unwrap().is_continue());
        assert_eq!(bodies[0]["preconditions"]["resourceVersion"], "41");
    }
}

/// The record of the first trial, stored by another writer.
fn theirs() -> ConfigMap {
    let valid = valid();
    let trial = &valid.order[0];
    let mut stored = wasmbench_core::build::config_map::records(&valid, &trial.cell, 0, "bench-1");
    let ended = wasmbench_model::store::Ended::Measured;
    wasmbench_model::store::add(&mut stored, &trial.cell, trial, ended, b"theirs".to_vec());
    stored
}

#[tokio::test]
async fn a_record_that_was_stored_meanwhile_stays_as_it_is() {
    // The first write conflicts; the second read finds the trial recorded by the other writer.
    let stored = theirs();
    let calls = vec![
        ("GET", "", 404, status(404, "NotFound", "none")),
        ("POST", "/team-a/configmaps", 409, exists()),
        ("GET", "", 200, serde_json::to_value(&stored).unwrap()),
    ];
    let (result, _) = carry_out(calls, record_crash()).await;
    assert!(result.unwrap().is_continue());
}

#[tokio::test]
async fn records_of_another_schema_are_replaced_and_an_event_reports_it() {
    let mut stored = theirs();
    let other = "wasmbench.dev/record/v0";
    let annotations = stored.metadata.annotations.as_mut().unwrap();
    annotations.insert(labels::RECORD_SCHEMA.into(), other.into());
    let stored = serde_json::to_value(&stored).unwrap();
    let calls = vec![
        ("GET", "", 200, stored.clone()),
        ("PUT", "", 200, stored),
        ("POST", "/events", 201, json!({})),
    ];
    let (result, bodies) = carry_out(calls, record_crash()).await;
    assert!(result.unwrap().is_continue());
    let annotations = &bodies[1]["metadata"]["annotations"];
    assert_eq!(annotations[labels::RECORD_SCHEMA], RECORD_SCHEMA);
    let index = annotations[labels::RECORD_INDEX].as_str().unwrap();
    assert_eq!(index, "scout/b0 Failed SubjectCrashed\n");
    let note = bodies[2]["note"].as_str().unwrap();
    for expected in [other, RECORD_SCHEMA, "measured again"] {
        assert!(note.contains(expected), "{expected}: {note}");
    }
}

/// The trial's record, which reports that its subject crashed.
fn record_crash() -> Step {
    Step::RecordFailure {
        trial: valid().order[0].clone(),
        failure: Failure::new(FailureReason::SubjectCrashed, "exit code 1"),
        subject_pod: None,
    }
}

/// The error of a run whose record finds no `ConfigMap` of its name, and cannot create one.
async fn create_records(code: u16, reason: &str, words: &str) -> Error {
    let calls = vec![
        ("GET", "", 404, status(404, "NotFound", "none")),
        (
            "POST",
            "/team-a/configmaps",
            code,
            status(code, reason, words),
        ),
    ];
    let (result, _) = carry_out(calls, record_crash()).await;
    result.unwrap_err()
}

#[tokio::test]
async fn a_record_that_does_not_fit_is_reported_with_cause_and_remedy() {
    for (code, reason, words) in [
        (
            403,
            "Forbidden",
            "exceeded quota: few, requested: count/configmaps=1",
        ),
        (
            403,
            "Forbidden",
            "admission webhook \"no.maps\" denied the request",
        ),
        (
            500,
            "InternalError",
            "failed calling webhook \"no.maps\": no endpoints",
        ),
        (500, "", "etcdserver: mvcc: database space exceeded"),
    ] {
        let error = create_records(code, reason, words).await;
        let is_known = matches!(error, Error::ResultsRefused { .. });
        assert!(is_known && error.is_for_people(), "{error:?}");
        let message = error.to_string();
        assert!(
            message.contains(words) && message.contains("make room"),
            "{message}"
        );
    }
    let other = create_records(500, "InternalError", "etcd is away").await;
    assert!(!other.is_for_people(), "it may pass: {other}");
}

#[tokio::test]
async fn write_conflicts_are_retried_and_reported_as_conflicts() {
    let valid = valid();
    let cell = &valid.order[0].cell;
    let ours = wasmbench_core::build::config_map::records(&valid, cell, 0, "bench-1");
    let ours = serde_json::to_value(&ours).unwrap();
    let conflict = status(409, "Conflict", "the object has been modified");
    let attempt = [("GET", "", 200, ours), ("PUT", "", 409, conflict)];
    let calls = (0..5).flat_map(|_| attempt.clone()).collect();
    let (result, _) = carry_out(calls, record_crash()).await;
    let error = result.unwrap_err();
    assert!(matches!(error, Error::WriteConflict { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("tried again"), "{message}");
    for wrong in ["somebody else", "remove it"] {
        assert!(!message.contains(wrong), "it is the run's own: {message}");
    }
}

#[tokio::test]
async fn an_echo_server_that_the_api_server_refuses_becomes_a_record() {
    let words = "minimum cpu usage per Container is 100m, but request is 50m";
    let calls = stored_after(("POST", "/team-a/pods", 403, status(403, "Forbidden", words)));
    let start = Step::StartUpstream {
        trial: valid().order[0].clone(),
        restarts: 0,
    };
    let (result, bodies) = carry_out(calls, start).await;
    assert!(result.unwrap().is_break(), "nothing else wakes the run");
    let text = outcome_of(&bodies[2]);
    assert!(
        text.contains("UpstreamUnavailable") && text.contains(words),
        "{text}"
    );
}

/// The events say it for the Job; its pod was never there.
#[tokio::test]
async fn a_job_without_a_pod_fails_its_trial_with_the_job_controllers_message() {
    let words = "Error creating: pods \"p\" is forbidden: violates PodSecurity \"restricted\"";
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "regarding": {"kind": "Job", "name": "probe-1"}, "reason": "FailedCreate", "note": words,
        "eventTime": null,
    });
    let events = json!({"apiVersion": "events.k8s.io/v1", "kind": "EventList", "metadata": {}, "items": [event]});
    let calls = stored_after(("GET", "/ops/events", 200, events));
    let trial = valid().order[0].clone();
    let observed = Observed {
        probes: vec![ObservedProbe {
            trial: trial.clone(),
            job: "probe-1".into(),
            uid: "1".into(),
            created: jiff::Timestamp::UNIX_EPOCH,
            subject_uid: String::new(),
            deleting: false,
            end: None,
            pod: None,
        }],
        ..Observed::default()
    };
    let step = Step::RecordFailure {
        trial,
        failure: Failure::new(FailureReason::ProbeNotStarted, "no pod"),
        subject_pod: None,
    };
    let (context, server) = conversation(calls);
    let done = act(&context, &valid(), &observed, &plan_of(step)).await;
    assert!(done.unwrap().is_continue());
    drop(context);
    let text = outcome_of(&server.await.unwrap()[2]);
    for expected in [
        "ProbeNotStarted",
        "violates PodSecurity",
        "LimitRange or webhook",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_late_deletion_does_not_hit_a_new_pod_of_the_same_name() {
    let step = Step::RemoveSubject {
        pod: "subject-1".into(),
        uid: "0a0a".into(),
    };
    let conflict = status(
        409,
        "Conflict",
        "the UID in the precondition does not match",
    );
    let calls = vec![("DELETE", "/pods/subject-1", 409, conflict)];
    let (result, bodies) = carry_out(calls, step).await;
    assert!(result.unwrap().is_continue());
    assert_eq!(bodies[0]["preconditions"]["uid"], "0a0a");
}

#[tokio::test]
async fn a_late_deletion_does_not_hit_the_pod_of_a_new_probe_of_the_same_name() {
    let step = Step::RemoveProbe {
        job: "probe-1".into(),
        uid: "0a0a".into(),
    };
    let gone = status(
        409,
        "Conflict",
        "the UID in the precondition does not match",
    );
    let none = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": {}, "items": [],
    });
    let calls = vec![
        ("DELETE", "/jobs/probe-1", 409, gone),
        ("GET", "/ops/pods?controller-uid%3D0a0a", 200, none),
    ];
    let (result, bodies) = carry_out(calls, step).await;
    assert!(result.unwrap().is_continue());
    assert_eq!(bodies[0]["preconditions"]["uid"], "0a0a");
}

#[tokio::test]
async fn an_unchanged_status_is_not_written() {
    let valid = valid();
    let plan = Plan {
        steps: vec![],
        stage: Stage::Queued {
            message: "waiting".into(),
        },
        node: None,
        completed: 0,
        wake: Wake::OnChange,
    };
    let observed = Observed::default();
    let answer = json!(run());
    let calls = vec![("PATCH", "/gatekeeper/status", 200, answer)];
    let (context, server) = conversation(calls);
    let mut run = run();
    report::report(&context, &run, &valid, &observed, &plan, None)
        .await
        .unwrap();
    let now = jiff::Timestamp::now();
    run.status = Some(wasmbench_controller::status::status_of(
        &run, &valid, &observed, &plan, None, now,
    ));
    report::report(&context, &run, &valid, &observed, &plan, None)
        .await
        .unwrap();
    drop(context);
    let bodies = server.await.unwrap();
    assert_eq!(
        bodies[0]["metadata"]["uid"], RUN_UID,
        "a new run of the same name could be hit"
    );
}

#[test]
fn the_node_of_a_run_is_the_one_that_its_records_come_from() {
    let mut run = run();
    let status = json!({ "node": { "name": "taken-since" } });
    run.status = serde_json::from_value(status).unwrap();
    let mut plan = plan_of(launch());
    plan.completed = 1;
    let mut observed = Observed::default();
    observed.demands.node = Some("measured".into());
    let now = jiff::Timestamp::now();
    for node in [None, Some("expected".to_owned())] {
        plan.node = node;
        let status =
            wasmbench_controller::status::status_of(&run, &valid(), &observed, &plan, None, now);
        run.status = Some(status);
        let node = wasmbench_core::lifetime::recorded_node(&run);
        assert_eq!(node.as_deref(), Some("measured"), "the queue reads it");
    }
}
