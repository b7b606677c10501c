//! Pages as a browser requests them, over a mock cluster.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use kube::Client;
use kube::client::Body as KubeBody;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use tower_test::mock;

use super::*;
use crate::cluster::Cluster;
use crate::dashboard::access::Access;
use crate::dashboard::watched::Watched;

const ORIGIN: &str = "http://127.0.0.1:4321";
const FOREIGN: &str = "\"><img src=x onerror=alert(1)><script>alert(1)</script>";

/// Method and address of each request that reached the cluster, with its body.
type Log = Arc<std::sync::Mutex<Vec<(String, Value)>>>;

/// A dashboard of these runs, and the requests that reach the cluster. Each is answered with an
/// empty object.
fn dashboard(runs: Vec<Value>) -> (Router, Log) {
    let (service, mut handle) = mock::pair::<Request<KubeBody>, axum::http::Response<KubeBody>>();
    let calls = Arc::new(std::sync::Mutex::new(vec![]));
    let observed = calls.clone();
    tokio::spawn(async move {
        while let Some((request, send)) = handle.next_request().await {
            let line = format!("{} {}", request.method(), request.uri());
            let body = request.into_body().collect_bytes().await.unwrap();
            let body = serde_json::from_slice(&body).unwrap_or_default();
            observed.lock().unwrap().push((line, body));
            let answer = json!({"apiVersion": "v1", "kind": "Status", "metadata": {}, "items": []});
            let answer = serde_json::to_vec(&answer).unwrap();
            send.send_response(axum::http::Response::new(KubeBody::from(answer)));
        }
    });
    let cluster = Cluster::new(Client::new(service, "bench"), "bench".into());
    let runs = runs
        .into_iter()
        .map(|run| serde_json::from_value(run).unwrap());
    let watched = Watched::still(runs.collect());
    let access = Access::known(4321, "abc");
    let dashboard = Dashboard::new(cluster, watched, access, "runs".to_owned());
    (router(Arc::new(dashboard)), calls)
}

fn run(name: &str, state: &str) -> Value {
    let finished = if state == "Completed" {
        "True"
    } else {
        "False"
    };
    let condition = |type_: &str, status: &str, reason: &str| {
        json!({
            "type": type_, "status": status, "reason": reason, "message": FOREIGN,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
        "metadata": {
            "name": name, "namespace": "bench", "uid": format!("uid-{name}"), "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "variants": [{"name": "native", "preset": "native"}, {"name": "embedded", "preset": "wasmtime-embedded"}],
            "workloads": [{"name": "hello", "path": format!("/{FOREIGN}")}],
            "sweeps": {"throughput": {"connections": [4]}},
        },
        "status": {
            "conditions": [condition("Finished", finished, state), condition("Succeeded", finished, state)],
            "verdict": FOREIGN,
            "node": {"name": FOREIGN},
            "progress": {"completedTrials": 0, "totalTrials": 20, "text": "0/20", "message": FOREIGN},
        },
    })
}

async fn answer(router: &Router, request: Request<Body>) -> (u16, String) {
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn got(router: &Router, page: &str) -> (u16, String) {
    let request = Request::get(format!("/abc/{page}")).header("host", "127.0.0.1:4321");
    answer(router, request.body(Body::empty()).unwrap()).await
}

async fn sent(router: &Router, page: &str, form: &'static str) -> (u16, String) {
    let request = Request::post(format!("/abc/{page}"))
        .header("host", "127.0.0.1:4321")
        .header("origin", ORIGIN)
        .header("content-type", "application/x-www-form-urlencoded");
    answer(router, request.body(Body::from(form)).unwrap()).await
}

#[tokio::test]
async fn foreign_text_is_escaped_on_every_page() {
    let (router, _) = dashboard(vec![run("fast", "Measuring"), run("slow", "Completed")]);
    for page in [
        "",
        "runs/bench/fast",
        "runs/bench/slow",
        "runs/bench/fast/delete",
        "runs/bench/slow/cost?price=%3Cscript%3E&vcpus=%3Cscript%3E",
        "new",
        "new?like=bench/fast",
        "compare?run=bench/fast&run=bench/slow",
        "compare?run=%3Cscript%3E/x",
        "schedules/bench/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ] {
        let (_, html) = got(&router, page).await;
        assert!(html.contains("<h1>"), "{page}: {html}");
        for foreign in ["<script>", "<img", "onerror=alert(1)>"] {
            assert!(!html.contains(foreign), "{page} holds {foreign}: {html}");
        }
    }
}

#[tokio::test]
async fn every_response_forbids_foreign_content() {
    let (router, _) = dashboard(vec![]);
    for page in ["/abc/", "/abc/page.js", "/abc/nothing", "/wrong/"] {
        let request = Request::get(page)
            .header("host", "127.0.0.1:4321")
            .body(Body::empty())
            .unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{page}");
        assert!(!policy.contains("unsafe"), "{page}");
    }
}

#[tokio::test]
async fn a_missing_run_is_reported() {
    let (router, calls) = dashboard(vec![]);
    for page in [
        "runs/bench/gone",
        "runs/bench/gone/delete",
        "runs/bench/gone/files/x",
    ] {
        let (status, html) = got(&router, page).await;
        assert_eq!(status, 404, "{page}");
        assert!(html.contains("bench/gone"), "{html}");
    }
    assert_eq!(sent(&router, "runs/bench/gone/delete", "").await.0, 404);
    assert_eq!(*calls.lock().unwrap(), vec![]);
}

#[tokio::test]
async fn unfinished_runs_stand_in_the_order_of_their_turns_with_times() {
    let queued = |name: &str, place: u32, begins: &str| {
        let mut run = run(name, "Queued");
        run["status"]["node"] = Value::Null;
        run["status"]["progress"]["placeInQueue"] = json!(place);
        run["status"]["progress"]["estimatedStartTime"] = json!(begins);
        run
    };
    let (router, _) = dashboard(vec![
        queued("last", 2, "2026-01-01T02:00:00Z"),
        queued("next", 1, "2026-01-01T01:00:00Z"),
        run("now", "Measuring"),
        run("old", "Completed"),
    ]);
    let (_, html) = got(&router, "").await;
    let place = |name: &str| html.find(&format!("data-run=\"bench/{name}\""));
    let places = ["now", "next", "last", "old"].map(place);
    assert!(places.iter().all(Option::is_some), "{places:?}");
    assert!(places.is_sorted(), "{places:?}");
    assert!(html.contains("begins about "), "{html}");
}

#[tokio::test]
async fn the_decision_stands_above_the_trials_and_the_report() {
    let (router, _) = dashboard(vec![run("slow", "Completed")]);
    let (_, html) = got(&router, "runs/bench/slow").await;
    let parts = ["state", "decision", "trials", "report"];
    let places = parts.map(|part| html.find(&format!("<section id=\"{part}\"")));
    assert!(places.iter().all(Option::is_some), "{places:?} in {html}");
    assert!(places.is_sorted(), "{places:?}");
}

#[tokio::test]
async fn a_run_without_numbers_has_no_cost() {
    let (router, _) = dashboard(vec![run("fast", "Measuring")]);
    let (status, html) = got(&router, "runs/bench/fast/cost?price=0.10/h").await;
    assert_eq!(status, 200);
    assert!(html.contains("nothing has a cost"), "{html}");
}

#[tokio::test]
async fn a_change_is_confirmed_before_it_is_made() {
    let (router, calls) = dashboard(vec![run("fast", "Measuring")]);
    for change in ["suspend", "resume", "delete"] {
        let (status, html) = got(&router, &format!("runs/bench/fast/{change}")).await;
        assert!(status == 200 && html.contains("id=\"confirm\""), "{html}");
    }
    assert_eq!(*calls.lock().unwrap(), vec![]);
    assert_eq!(sent(&router, "runs/bench/fast/suspend", "").await.0, 303);
    assert_eq!(sent(&router, "runs/bench/fast/delete", "").await.0, 303);
    let calls = calls.lock().unwrap().clone();
    let path = "/apis/wasmbench.dev/v1alpha1/namespaces/bench/benchmarkruns/fast?";
    assert_eq!(calls[0].0, format!("PATCH {path}"));
    assert_eq!(calls[0].1["spec"]["suspend"], true);
    assert_eq!(calls[1].0, format!("DELETE {path}"));
    assert_eq!(calls[1].1["preconditions"]["uid"], "uid-fast");
}

#[tokio::test]
async fn a_run_that_would_be_refused_reaches_no_cluster() {
    let (router, calls) = dashboard(vec![]);
    let form = "do=create&manifest=kind%3A+BenchmarkRun";
    let (status, html) = sent(&router, "new", form).await;
    assert_eq!(status, 422);
    assert!(html.contains("The run was not created"), "{html}");
    assert!(
        html.contains("kind: BenchmarkRun"),
        "what was typed is lost: {html}"
    );
    assert_eq!(*calls.lock().unwrap(), vec![]);
}

#[tokio::test]
async fn the_plan_names_what_stands_in_its_way_and_looks_at_the_cluster_once_in_a_while() {
    let (router, calls) = dashboard(vec![]);
    let (_, html) = got(&router, "new").await;
    assert!(html.contains("In this cluster"), "{html}");
    let looked = calls.lock().unwrap().len();
    assert!(looked > 0);
    got(&router, "new").await;
    assert_eq!(calls.lock().unwrap().len(), looked);
}

#[tokio::test]
async fn records_are_not_read_while_a_trial_is_measured() {
    let mut measured = run("fast", "Measuring");
    // Only the phase keeps the records from being read.
    measured["status"]["seed"] = json!(1);
    measured["status"]["progress"]["completedTrials"] = json!(3);
    measured["status"]["progress"]["trial"] = json!("native/hello/throughput-c4/b2");
    measured["status"]["progress"]["phase"] = json!("Measuring");
    let mut between = measured.clone();
    between["metadata"]["name"] = json!("between");
    between["metadata"]["uid"] = json!("uid-between");
    between["status"]["progress"]["phase"] = json!("Preparing");
    let (router, calls) = dashboard(vec![measured, between]);
    got(&router, "runs/bench/fast").await;
    assert_eq!(*calls.lock().unwrap(), vec![]);
    got(&router, "runs/bench/between").await;
    let calls = calls.lock().unwrap().clone();
    assert!(calls[0].0.contains("/configmaps?"), "{calls:?}");
}
