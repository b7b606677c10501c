//! Two processes and one Lease, on an API server in memory and a clock that only waiting moves.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response};
use k8s_openapi::api::batch::v1::Job;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
/// How long the Lease counts while no window is open.
const COUNTS: Duration = Duration::from_secs(20);

/// What the API server has.
#[derive(Default)]
struct State {
    lease: Option<Value>,
    pods: BTreeSet<String>,
    writes: u64,
    is_away: bool,
}

#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

fn failure(code: u16, reason: &str) -> (u16, Value) {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason,
        "message": reason, "metadata": {},
    });
    (code, status)
}

impl State {
    fn answer(&mut self, method: &Method, path: &str, body: Value) -> (u16, Value) {
        if self.is_away {
            return failure(500, "InternalError");
        }
        if let Some((_, pod)) = path.split_once("/pods/") {
            return if self.pods.contains(pod) {
                (200, json!({ "metadata": { "name": pod } }))
            } else {
                failure(404, "NotFound")
            };
        }
        let version = |lease: &Value| lease["metadata"]["resourceVersion"].clone();
        let current = self.lease.clone();
        match (method.as_str(), &current) {
            ("GET" | "PUT", None) => failure(404, "NotFound"),
            ("GET", Some(lease)) => (200, lease.clone()),
            ("POST", Some(_)) => failure(409, "AlreadyExists"),
            ("PUT", Some(lease)) if version(lease) != version(&body) => failure(409, "Conflict"),
            _ => {
                self.writes += 1;
                let mut lease = body;
                lease["metadata"]["resourceVersion"] = json!(self.writes.to_string());
                self.lease = Some(lease.clone());
                (200, lease)
            }
        }
    }
}

impl Server {
    /// An API server with the pods `a` and `b`.
    fn with_pods() -> Self {
        let server = Self::default();
        server.state().pods = ["a", "b"].map(str::to_owned).into();
        server
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A process that knows this API server.
    fn process(&self) -> Arc<Leader> {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect_bytes().await.unwrap();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                let (code, answer) = server.state().answer(&head.method, head.uri.path(), body);
                let body = Body::from(serde_json::to_vec(&answer).unwrap());
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        });
        let client = Client::new(service, "default");
        Arc::new(Leader::new(client, "ops", ServerClock::default()))
    }
}

/// The process `pod`, which leads as soon as it can.
fn acquiring(process: &Arc<Leader>, pod: &'static str) -> JoinHandle<()> {
    let process = process.clone();
    tokio::spawn(async move { process.acquire(pod, &AtomicBool::new(false)).await })
}

fn keeping(process: &Arc<Leader>) -> JoinHandle<NotLeader> {
    let process = process.clone();
    tokio::spawn(async move { process.keep().await })
}

/// How long it takes until `waiting` is over.
async fn until<T>(waiting: JoinHandle<T>) -> (T, Duration) {
    let begin = Instant::now();
    let ended = timeout(Duration::from_mins(10), waiting).await;
    (ended.expect("it ends").unwrap(), begin.elapsed())
}

/// How long a takeover takes from a Lease that counts for so long.
fn takeover(counts: Duration) -> std::ops::RangeInclusive<Duration> {
    counts..=counts + 2 * RETRY
}

/// The epoch as probes carry it.
fn epoch(process: &Leader) -> String {
    let job = process.epoch().expect("it leads").launch(Job::default());
    job.metadata.labels.unwrap()[labels::EPOCH].clone()
}

#[tokio::test(start_paused = true)]
async fn one_process_leads_and_the_other_one_takes_over_as_soon_as_it_ends() {
    let server = Server::with_pods();
    let [a, b] = [server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    let kept = keeping(&a);
    let waits = acquiring(&b, "b");
    sleep(Duration::from_mins(5)).await;
    assert!(!waits.is_finished() && !kept.is_finished());
    kept.abort();
    a.release().await;
    let ((), took) = until(waits).await;
    assert!(took <= RETRY, "{took:?}");
    assert_eq!([epoch(&a), epoch(&b)], ["1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stands_by_is_ready() {
    let server = Server::with_pods();
    let [a, b] = [server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    let ready = AtomicBool::new(false);
    let _ = timeout(SECOND, b.acquire("b", &ready)).await;
    assert!(ready.load(Ordering::Relaxed));
}

#[tokio::test(start_paused = true)]
async fn a_restarted_container_and_a_process_whose_pod_is_gone_are_not_waited_for() {
    let server = Server::with_pods();
    let [a, again, b] = [server.process(), server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    let ((), took) = until(acquiring(&again, "a")).await;
    assert_eq!((epoch(&again).as_str(), took), ("2", Duration::ZERO));
    let waits = acquiring(&b, "b");
    sleep(SECOND).await;
    server.state().pods.remove("a");
    let ((), took) = until(waits).await;
    assert!(took <= RETRY, "{took:?}");
    assert_eq!(epoch(&b), "3");
}

#[tokio::test(start_paused = true)]
async fn a_paused_process_is_replaced_and_ends_when_it_goes_on() {
    let server = Server::with_pods();
    let [a, b] = [server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    // Nobody renews the Lease of `a` until `b` has it.
    let ((), took) = until(acquiring(&b, "b")).await;
    assert!(takeover(COUNTS).contains(&took), "{took:?}");
    let why = a.cover(SECOND).await.unwrap_err();
    assert!(matches!(why, NotLeader::Late), "{why}");
    let (why, took) = until(keeping(&a)).await;
    assert!(matches!(why, NotLeader::Late), "{why}");
    assert_eq!(took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_process_whose_lease_was_taken_early_ends_at_the_next_renewal() {
    let server = Server::with_pods();
    let [a, b] = [server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    server.state().pods.remove("a");
    b.acquire("b", &AtomicBool::new(false)).await;
    let why = a.cover(SECOND).await.unwrap_err();
    assert!(
        matches!(&why, NotLeader::Replaced(pod) if pod == "b"),
        "{why}"
    );
    server.state().lease = None;
    let why = b.cover(SECOND).await.unwrap_err();
    assert!(matches!(why, NotLeader::Gone), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_learns_before_a_window_that_it_was_replaced_ends_at_once() {
    let server = Server::with_pods();
    let [a, b] = [server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    let kept = keeping(&a);
    // It is not due for another two minutes.
    a.cover(Duration::from_mins(2)).await.unwrap();
    sleep(SECOND).await;
    server.state().pods.remove("a");
    b.acquire("b", &AtomicBool::new(false)).await;
    a.cover(SECOND).await.unwrap_err();
    let (why, took) = until(kept).await;
    assert!(matches!(why, NotLeader::Replaced(_)), "{why}");
    assert!(took < SECOND, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn no_call_is_made_in_a_window_and_nobody_takes_over_before_its_end() {
    const WINDOW: Duration = Duration::from_mins(1);
    let server = Server::with_pods();
    let [a, b] = [server.process(), server.process()];
    a.acquire("a", &AtomicBool::new(false)).await;
    let kept = keeping(&a);
    sleep(12 * SECOND).await;
    a.cover(WINDOW).await.unwrap();
    let before = server.state().writes;
    sleep(WINDOW.saturating_sub(SECOND)).await;
    assert_eq!(server.state().writes, before);
    sleep(2 * SECOND).await;
    assert_eq!(
        server.state().writes,
        before + 1,
        "renewed after the window"
    );
    // A process that is paused in a window is replaced after it.
    a.cover(WINDOW).await.unwrap();
    kept.abort();
    let ((), took) = until(acquiring(&b, "b")).await;
    let counts = (WINDOW + COUNTS).saturating_sub(held::RENEW);
    assert!(takeover(counts).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_away_for_a_moment_ends_no_process_and_a_long_outage_does() {
    let server = Server::with_pods();
    let a = server.process();
    a.acquire("a", &AtomicBool::new(false)).await;
    let kept = keeping(&a);
    sleep(4 * SECOND).await;
    server.state().is_away = true;
    sleep(8 * SECOND).await;
    server.state().is_away = false;
    sleep(Duration::from_mins(1)).await;
    assert!(!kept.is_finished());
    server.state().is_away = true;
    let (why, took) = until(kept).await;
    assert!(matches!(why, NotLeader::Late), "{why}");
    assert!(took < COUNTS, "others may take the Lease then: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_response_was_lost_replaces_nobody() {
    let server = Server::with_pods();
    let a = server.process();
    a.acquire("a", &AtomicBool::new(false)).await;
    // As if an earlier renewal had taken effect.
    server.state().lease.as_mut().unwrap()["metadata"]["resourceVersion"] = json!("lost");
    a.cover(SECOND).await.unwrap();
    a.cover(SECOND).await.unwrap();
}
