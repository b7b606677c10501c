//! Whole trials against an API server of a few lines, in which pods start at once, are refused,
//! crash or stay silent, and a service that really answers.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use http::{Method, Request, Response};
use kube::client::Body;
use serde_json::{Value, json};
use tower_test::mock::{Handle, SendResponse};
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_core::wire::cold_start::{ColdPod, ColdStep};

use super::*;

/// What becomes of pods.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Serves,
    /// Like `Serves`, on a port that is open as long as the pod is there.
    ServesOnHost,
    /// Like `Serves`, but the images of the first so many pods are pulled.
    ServesPulled(usize),
    /// Like `Serves`, but the kubelet's events are lost.
    ServesUnseen,
    Refused,
    Crashes,
    HasNoRoom,
    StaysSilent,
}

#[derive(Default)]
struct World {
    pods: BTreeMap<String, Value>,
    events: Vec<String>,
    most_at_once: usize,
    created: usize,
    /// The kubelet's events.
    said: Vec<Value>,
    /// The service of the pod that is there, where it comes and goes with it.
    service: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl World {
    fn tell(&mut self, kind: &str, mut pod: Value) {
        pod["metadata"]["resourceVersion"] = json!((self.events.len() + 2).to_string());
        let event = json!({ "type": kind, "object": pod });
        self.events.push(format!("{event}\n"));
    }
}

type Shared = Arc<Mutex<World>>;

fn reply(status: u16, body: &impl ToString) -> Response<Body> {
    let body = Body::from(body.to_string().into_bytes());
    Response::builder().status(status).body(body).unwrap()
}

fn refusal(code: u16, reason: &str) -> Response<Body> {
    let status = json!({
        "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason,
    });
    reply(code, &status)
}

fn with_status(pod: &Value, conditions: &[&str], container: &Value) -> Value {
    let mut pod = pod.clone();
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|type_| json!({ "type": type_, "status": "True" }))
        .collect();
    pod["status"] = json!({ "conditions": conditions });
    if !container.is_null() {
        pod["status"]["podIP"] = json!("127.0.0.1");
        pod["status"]["containerStatuses"] = json!([{
            "name": "subject", "image": "a", "imageID": "sha256:1", "ready": true, "restartCount": 0,
            "state": container,
        }]);
    }
    pod
}

/// The kubelet says whether it pulled the image.
fn say(world: &mut World, pod: &Value, fate: Fate) {
    let pulled = match fate {
        Fate::ServesUnseen => return,
        Fate::ServesPulled(first) => world.created <= first,
        _ => false,
    };
    let message = if pulled {
        "Successfully pulled image \"a\" in 1s (1s including waiting). Image size: 1 bytes."
    } else {
        "Container image \"a\" already present on machine"
    };
    world.said.push(json!({
        "metadata": {}, "reason": "Pulled", "message": message,
        "involvedObject": { "kind": "Pod", "uid": pod["metadata"]["uid"] },
    }));
}

fn create(world: &mut World, pod: &Value, fate: Fate) -> Response<Body> {
    if fate == Fate::Refused {
        return refusal(403, "Forbidden");
    }
    let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
    world.pods.insert(name, pod.clone());
    world.created += 1;
    say(world, pod, fate);
    if fate == Fate::ServesOnHost {
        world.service = Some(passing_service(&pod["metadata"]["annotations"]["port"]));
    }
    world.most_at_once = world.most_at_once.max(world.pods.len());
    world.tell("ADDED", pod.clone());
    let running = json!({ "running": {} });
    match fate {
        Fate::Serves | Fate::ServesOnHost | Fate::ServesPulled(_) | Fate::ServesUnseen => {
            world.tell(
                "MODIFIED",
                with_status(pod, &["PodScheduled"], &Value::Null),
            );
            let all = ["PodScheduled", "PodReadyToStartContainers", "Ready"];
            world.tell("MODIFIED", with_status(pod, &all, &running));
        }
        Fate::Crashes => {
            let ended = json!({ "terminated": { "exitCode": 3 } });
            world.tell("MODIFIED", with_status(pod, &[], &ended));
        }
        Fate::HasNoRoom => {
            let mut pod = pod.clone();
            pod["status"] = json!({ "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available",
            }] });
            world.tell("MODIFIED", pod);
        }
        Fate::Refused | Fate::StaysSilent => {}
    }
    reply(201, pod)
}

fn log_of(name: &str) -> String {
    let now = jiff::Timestamp::now();
    format!("{now} one moment\n{now} wasmbench: {name} listening on 0.0.0.0:8080\n")
}

/// The body of a watch ends when it has told something; then it is asked for again.
async fn news(world: &Shared, since: usize) -> String {
    for _ in 0..2000 {
        let told: String = {
            let world = world.lock().unwrap();
            world
                .events
                .iter()
                .skip(since.saturating_sub(1))
                .cloned()
                .collect()
        };
        if !told.is_empty() {
            return told;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    String::new()
}

async fn answer(world: Shared, fate: Fate, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let name = parts
        .uri
        .path()
        .split('/')
        .nth(6)
        .unwrap_or_default()
        .to_owned();
    if parts.uri.path().ends_with("/log") {
        assert!(query.contains("timestamps=true"), "{query}");
        return reply(200, &log_of(&name));
    }
    if parts.uri.path().ends_with("/events") {
        assert!(query.contains("reason%3DPulled"), "{query}");
        let list = json!({
            "kind": "EventList", "apiVersion": "v1", "metadata": {},
            "items": world.lock().unwrap().said,
        });
        return reply(200, &list);
    }
    if query.contains("watch=true") {
        let since = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("resourceVersion="));
        return reply(200, &news(&world, since.unwrap().parse().unwrap()).await);
    }
    match parts.method {
        Method::POST => {
            let bytes = body.collect_bytes().await.unwrap();
            let mut pod: Value = serde_json::from_slice(&bytes).unwrap();
            pod["metadata"]["uid"] = json!(format!("uid of {}", pod["metadata"]["name"]));
            create(&mut world.lock().unwrap(), &pod, fate)
        }
        Method::DELETE => {
            let mut world = world.lock().unwrap();
            if let Some((ended, service)) = world.service.take() {
                ended.store(true, Ordering::Relaxed);
                service.join().unwrap();
            }
            match world.pods.remove(&name) {
                Some(pod) => {
                    world.tell("DELETED", pod.clone());
                    reply(200, &pod)
                }
                None => refusal(404, "NotFound"),
            }
        }
        _ => {
            let version = world.lock().unwrap().events.len() + 1;
            let list = json!({
                "kind": "PodList", "apiVersion": "v1",
                "metadata": { "resourceVersion": version.to_string() }, "items": [],
            });
            reply(200, &list)
        }
    }
}

async fn serve(mut handle: Handle<Request<Body>, Response<Body>>, world: Shared, fate: Fate) {
    while let Some((request, send)) = handle.next_request().await {
        let world = world.clone();
        tokio::spawn(async move {
            let send: SendResponse<Response<Body>> = send;
            send.send_response(answer(world, fate, request).await);
        });
    }
}

/// A service that answers `hello`, and its port.
fn service() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    port
}

/// A service that begins to listen on `port` a little later, until it is ended.
fn passing_service(port: &Value) -> (Arc<AtomicBool>, JoinHandle<()>) {
    let port: u16 = port.as_str().unwrap().parse().unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let until = ended.clone();
    let service = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        while !until.load(Ordering::Relaxed) {
            let Ok((mut stream, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    (ended, service)
}

fn on_host(port: u16) -> ColdStartRequest {
    request(port, |request| {
        request.pod.spec.get_or_insert_default().host_network = Some(true);
        let annotations = request.pod.metadata.annotations.get_or_insert_default();
        annotations.insert("port".into(), port.to_string());
    })
}

fn request(port: u16, change: impl FnOnce(&mut ColdStartRequest)) -> ColdStartRequest {
    let mut request = serde_json::from_value(json!({
        "pod": { "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "team-a" } },
        "selector": "a=b", "samples": 2, "class": "ImageCached", "concurrency": 1, "timeoutSeconds": 2, "port": port,
        "path": "/", "expect": { "body": "hello" }, "listeningLine": " listening on ",
    }))
    .unwrap();
    change(&mut request);
    request
}

/// What a trial gives in a world with this fate, and the world afterwards.
fn trial(fate: Fate, request: &ColdStartRequest) -> (ColdStartDocument, Shared) {
    let world = Shared::default();
    let mut document = ColdStartDocument {
        schema: COLD_START_SCHEMA.into(),
        probe_version: "0".into(),
        failure: None,
        samples: vec![],
        floor: vec![],
        floor_failure: None,
        answer: None,
        environment: Environment::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (service, handle) = tower_test::mock::pair::<Request<Body>, Response<Body>>();
        tokio::spawn(serve(handle, world.clone(), fate));
        let client = Client::new(service, "team-a");
        document.failure = take(client, Path::new("/nothing"), request, &mut document)
            .await
            .err();
    });
    assert!(world.lock().unwrap().pods.is_empty(), "pods are left");
    (document, world)
}

fn reason(document: &ColdStartDocument) -> Option<ProbeFailureReason> {
    document.failure.as_ref().map(|failure| failure.reason)
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
    for pod in document.samples.iter().flat_map(|sample| &sample.pods) {
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
    }
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
    for (fate, expected) in [
        (Fate::Refused, ProbeFailureReason::PodRejected),
        (Fate::Crashes, ProbeFailureReason::SubjectCrashed),
        (Fate::HasNoRoom, ProbeFailureReason::Unschedulable),
        (Fate::StaysSilent, ProbeFailureReason::StartTimedOut),
    ] {
        let (document, _) = trial(fate, &request(port, |_| {}));
        assert_eq!(reason(&document), Some(expected), "{:?}", document.failure);
        assert_eq!(
            document.samples.len(),
            1,
            "no sample follows one that failed"
        );
    }
}

#[test]
fn a_service_that_never_answers_or_answers_wrongly_is_told_apart() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (document, _) = trial(Fate::Serves, &request(closed, |_| {}));
    assert_eq!(reason(&document), Some(ProbeFailureReason::NeverListened));
    let other = request(service(), |request| {
        request.expect.body = Some("goodbye".into());
    });
    let (document, _) = trial(Fate::Serves, &other);
    assert_eq!(reason(&document), Some(ProbeFailureReason::WrongAnswer));
}

#[test]
fn without_the_line_that_was_named_there_is_no_listening() {
    let silent = request(service(), |request| {
        request.listening_line = Some("at your service".into());
    });
    let (document, _) = trial(Fate::Serves, &silent);
    assert_eq!(document.failure, None);
    let mut pods = document.samples.iter().flat_map(|sample| &sample.pods);
    assert!(pods.all(|pod| !pod.steps.contains_key(&ColdStep::Listening)));
}

#[test]
fn a_floor_follows_the_samples_and_its_failure_is_not_that_of_the_trial() {
    let (port, closed) = (service(), 1);
    let with_floor = |port: u16| {
        request(service(), |measured| {
            let floor = request(port, |floor| {
                floor.pod.metadata.name = Some("floor".into());
                floor.samples = 1;
                floor.timeout_seconds = 1;
            });
            measured.floor = Some(Box::new(floor));
        })
    };
    let (document, world) = trial(Fate::Serves, &with_floor(port));
    assert_eq!((&document.failure, &document.floor_failure), (&None, &None));
    assert_eq!(world.lock().unwrap().created, 5);
    let floor: Vec<(bool, &str)> = document
        .floor
        .iter()
        .map(|sample| (sample.discarded, sample.pods[0].pod.as_str()))
        .collect();
    assert_eq!(floor, [(true, "floor-0-0"), (false, "floor-1-0")]);
    let (document, _) = trial(Fate::Serves, &with_floor(closed));
    assert_eq!(document.failure, None);
    assert_eq!(document.samples.len(), 3);
    let failure = document.floor_failure.expect("a reason");
    assert_eq!(failure.reason, ProbeFailureReason::NeverListened);
}

#[test]
fn on_the_nodes_network_the_port_is_asked_before_the_pod_is_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let (document, _) = trial(Fate::ServesOnHost, &on_host(port));
    assert_eq!(document.failure, None);
    let counted = document.samples.iter().filter(|sample| !sample.discarded);
    for pod in counted.flat_map(|sample| &sample.pods) {
        let answer = pod.steps[&ColdStep::FirstCorrectAnswer];
        // The API told the address at once; the service listened 50 ms later.
        assert!(pod.attempts > 10, "{pod:#?}");
        assert!(answer.nanoseconds >= 50_000_000, "{pod:#?}");
        let gap = answer.uncertainty_nanoseconds.expect("a gap");
        assert!(gap < 50_000_000, "{pod:#?}");
    }
}

#[test]
fn a_port_of_the_node_that_something_else_has_is_not_measured() {
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
    let mut pods = document.samples.iter().flat_map(|sample| &sample.pods);
    assert!(pods.all(|pod| pod.class == Some(ColdStartClass::ImageCached)));
    assert_eq!(wrong(&document), [false; 3]);
}

#[test]
fn samples_of_the_wrong_class_are_kept_marked_and_taken_again() {
    // The discarded pod and those of the next sample pull.
    let pulled = request(service(), |request| request.concurrency = 2);
    let (document, world) = trial(Fate::ServesPulled(3), &pulled);
    assert_eq!(document.failure, None);
    assert_eq!(wrong(&document), [false, true, false, false]);
    assert_eq!(world.lock().unwrap().created, 8);
    let counting = document.samples.iter().filter(|sample| sample.counts());
    assert_eq!(counting.count(), 2);
}

#[test]
fn refills_end_with_the_budget_and_the_trial_says_what_it_saw() {
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
fn where_the_class_does_not_matter_nobody_looks() {
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
    let mut pods = document.samples.iter().flat_map(|sample| &sample.pods);
    assert!(pods.all(|pod| pod.pull.is_some_and(|pull| pull.milliseconds == 1000)));
    let (document, _) = trial(Fate::ServesPulled(2), &cold);
    assert_eq!(wrong(&document), [false, false, true, true, true]);
}
