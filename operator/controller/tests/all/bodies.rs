//! Bodies from `ConfigMaps`: read in the run's namespace, and given to the probe in the operator's.

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use wasmbench_api::run::{BodyFrom, Method};
use wasmbench_controller::act::act;
use wasmbench_core::build::probe_job::Target;
use wasmbench_core::build::scout_job::scout_job;
use wasmbench_core::observed::{Observed, ObservedProbe};
use wasmbench_core::plan::{Plan, Step};
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::digest::sha256;

use crate::apiserver_mock::{Call, config, conversation, outcome_of, plan_of, run, status};

const BODY: &str = "{\"items\": []}";

/// The mock's run, whose workload sends a stored body.
fn sending() -> ValidatedRun {
    let mut run = run();
    run.spec.workloads[0].method = Method::Post;
    run.spec.workloads[0].body_from = Some(BodyFrom {
        config_map: "orders".into(),
        key: "small.json".into(),
    });
    validate(&run, &config()).unwrap()
}

fn orders() -> Value {
    json!({"metadata": {"name": "orders"}, "data": {"small.json": BODY}})
}

/// What was seen, if the body was this one at first.
fn observed(body: &str) -> Observed {
    Observed {
        bodies: [("greet".to_owned(), sha256(body.as_bytes()))].into(),
        ..Observed::default()
    }
}

fn launch() -> Step {
    Step::LaunchProbe {
        trial: sending().order[0].clone(),
        subject_uid: "0b0b".into(),
        address: "10.0.0.8".parse().unwrap(),
        again: false,
    }
}

/// The Job of that step, as the API server returns it.
fn job() -> Value {
    let run = sending();
    let trial = &run.order[0];
    let target = Target {
        node: "bench-1",
        subject_uid: "0b0b",
        address: "10.0.0.8".parse().unwrap(),
        upstream_uid: None,
        containers: None,
        companion_uids: None,
        requested_rps: &[],
    };
    let mut job = scout_job(&run, run.variant(trial).unwrap(), trial, target, &config());
    job.metadata.uid = Some("b0d1".into());
    serde_json::to_value(job).unwrap()
}

/// The bodies of the calls, and whether a step was refused.
async fn carried_out(calls: Vec<Call>, observed: &Observed, plan: &Plan) -> (Vec<Value>, bool) {
    let (context, server) = conversation(calls);
    let done = act(&context, &sending(), observed, plan).await.unwrap();
    drop(context);
    (server.await.unwrap(), done.is_break())
}

#[tokio::test]
async fn a_body_is_given_to_the_job_that_owns_it() {
    let calls = vec![
        ("GET", "/team-a/configmaps/orders", 200, orders()),
        ("POST", "/ops/jobs", 201, job()),
        (
            "POST",
            "/ops/configmaps",
            201,
            json!({"metadata": {"name": "probe"}}),
        ),
    ];
    let (bodies, is_refused) = carried_out(calls, &observed(BODY), &plan_of(launch())).await;
    assert!(!is_refused);
    let (map, job) = (&bodies[2], job());
    assert_eq!(map["metadata"]["name"], job["metadata"]["name"]);
    assert_eq!(map["metadata"]["ownerReferences"][0]["uid"], "b0d1");
    let map: ConfigMap = serde_json::from_value(map.clone()).unwrap();
    assert_eq!(map.binary_data.unwrap()["greet"].0, BODY.as_bytes());
}

#[tokio::test]
async fn a_body_that_is_not_the_first_becomes_a_record_that_ends_the_run() {
    for (found, reason) in [
        (orders(), "BodyChanged"),
        (json!({"metadata": {"name": "orders"}}), "BodyUnavailable"),
    ] {
        let calls = vec![
            ("GET", "/team-a/configmaps/orders", 200, found),
            ("GET", "", 404, status(404, "NotFound", "no such ConfigMap")),
            (
                "POST",
                "/team-a/configmaps",
                201,
                json!({"metadata": {"name": "records"}}),
            ),
        ];
        let (bodies, is_refused) = carried_out(calls, &observed("{}"), &plan_of(launch())).await;
        assert!(is_refused, "nothing else wakes the run");
        let text = outcome_of(&bodies[2]);
        assert!(text.contains(reason), "{text}");
    }
}

/// It ended between the two calls, or just after them.
#[tokio::test]
async fn an_operator_that_comes_back_gives_a_waiting_probe_its_body() {
    for code in [201, 409] {
        let answer = match code {
            201 => json!({"metadata": {"name": "probe-1"}}),
            _ => status(409, "AlreadyExists", "it is there"),
        };
        let calls = vec![
            ("GET", "/team-a/configmaps/orders", 200, orders()),
            ("POST", "/ops/configmaps", code, answer),
        ];
        let probe = ObservedProbe {
            trial: sending().order[0].clone(),
            job: "probe-1".into(),
            uid: "b0d1".into(),
            created: jiff::Timestamp::UNIX_EPOCH,
            subject_uid: String::new(),
            deleting: false,
            end: None,
            pod: None,
        };
        let observed = Observed {
            probes: vec![probe],
            ..observed(BODY)
        };
        let nothing = Plan {
            steps: vec![],
            ..plan_of(launch())
        };
        let (bodies, _) = carried_out(calls, &observed, &nothing).await;
        assert_eq!(bodies[1]["metadata"]["ownerReferences"][0]["uid"], "b0d1");
    }
}
