//! A minimal API server whose pods start at once, are refused, crash or stay silent, and a service
//! that really answers.

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

/// What happens to pods.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Fate {
    Serves,
    /// Like `Serves`, on a port that is open only while the pod exists.
    ServesOnHost,
    /// Like `Serves`, but the first pods, this many of them, pull their images.
    ServesPulled(usize),
    /// Like `Serves`, but the kubelet's events are lost.
    ServesUnseen,
    /// Like `Serves`, but the namespace's quota is spent for the first attempts, this many of them.
    ServesOverQuota(usize),
    /// Like `Serves`, but a container is injected into the pods.
    Injected,
    /// Like `Serves`, but the pod with this number, from 0, stays silent.
    ServesExcept(usize),
    Refused,
    Crashes,
    /// Like `Serves`, but the owner of the object withdraws it once it is back at 0 for the first time.
    Withdrawn,
    /// Like `Serves`, but the object makes its pods by way of a `StatefulSet`.
    ServesBySet,
    /// Like `Serves`, but the pod's own controller had to start its container again.
    ServesAgain,
    HasNoRoom,
    StaysSilent,
}

#[derive(Default)]
pub(super) struct World {
    pub(super) pods: BTreeMap<String, Value>,
    events: Vec<String>,
    pub(super) most_at_once: usize,
    pub(super) created: usize,
    /// Attempts that failed because of a spent quota.
    pub(super) over_quota: usize,
    /// How many pods an object is to make, and how many it has made.
    pub(super) replicas: usize,
    made: usize,
    /// The kubelet's events.
    kubelet_events: Vec<Value>,
    /// The service of the current pod, if it comes and goes with the pod.
    service: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl World {
    fn send(&mut self, kind: &str, mut pod: Value) {
        pod["metadata"]["resourceVersion"] = json!((self.events.len() + 2).to_string());
        let event = json!({ "type": kind, "object": pod });
        self.events.push(format!("{event}\n"));
    }
}

pub(super) type Shared = Arc<Mutex<World>>;

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
        let status = |name: &str, image: &str, state: &Value| {
            json!({
                "name": name, "image": "a", "imageID": image, "ready": true, "restartCount": 0,
                "state": state,
            })
        };
        // Ours is not the first, as behind an injected one.
        let statuses = if pod["metadata"]["ownerReferences"].is_null() {
            [
                status("another", "sha256:2", &json!({ "waiting": {} })),
                status("subject", "sha256:1", container),
            ]
        } else {
            [
                status("proxy", "sha256:2", &json!({ "running": {} })),
                status("shop", "sha256:1", container),
            ]
        };
        pod["status"]["containerStatuses"] = json!(statuses);
    }
    pod
}

/// Adds the kubelet's event that reports whether it pulled the image.
fn record_pull(world: &mut World, pod: &Value, fate: Fate) {
    let pulled = match fate {
        Fate::ServesUnseen => return,
        Fate::ServesPulled(first) => world.created <= first,
        Fate::Serves
        | Fate::ServesOnHost
        | Fate::ServesOverQuota(_)
        | Fate::Injected
        | Fate::Withdrawn
        | Fate::ServesBySet
        | Fate::ServesExcept(_)
        | Fate::Refused
        | Fate::Crashes
        | Fate::ServesAgain
        | Fate::HasNoRoom
        | Fate::StaysSilent => false,
    };
    let message = if pulled {
        "Successfully pulled image \"a\" in 1s (1s including waiting). Image size: 1 bytes."
    } else {
        "Container image \"a\" already present on machine"
    };
    world.kubelet_events.push(json!({
        "metadata": {}, "reason": "Pulled", "message": message,
        "involvedObject": { "kind": "Pod", "uid": pod["metadata"]["uid"] },
    }));
}

fn create(world: &mut World, pod: &Value, fate: Fate) -> Response<Body> {
    if fate == Fate::Refused {
        return refusal(403, "Forbidden");
    }
    if let Fate::ServesOverQuota(first) = fate
        && world.over_quota < first
    {
        world.over_quota += 1;
        return refusal(403, "pods \"p\" is forbidden: exceeded quota: one");
    }
    let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
    world.pods.insert(name, pod.clone());
    world.created += 1;
    record_pull(world, pod, fate);
    if fate == Fate::ServesOnHost {
        world.service = Some(passing_service(&pod["metadata"]["annotations"]["port"]));
    }
    world.most_at_once = world.most_at_once.max(world.pods.len());
    world.send("ADDED", pod.clone());
    let running = json!({ "running": {} });
    match fate {
        Fate::ServesExcept(number) if number + 1 == world.created => {}
        Fate::Serves
        | Fate::Injected
        | Fate::Withdrawn
        | Fate::ServesBySet
        | Fate::ServesOnHost
        | Fate::ServesOverQuota(_)
        | Fate::ServesPulled(_)
        | Fate::ServesExcept(_)
        | Fate::ServesUnseen => {
            world.send(
                "MODIFIED",
                with_status(pod, &["PodScheduled"], &Value::Null),
            );
            let all = ["PodScheduled", "PodReadyToStartContainers", "Ready"];
            world.send("MODIFIED", with_status(pod, &all, &running));
        }
        Fate::Crashes => {
            let ended = json!({ "terminated": { "exitCode": 3 } });
            world.send("MODIFIED", with_status(pod, &[], &ended));
        }
        Fate::ServesAgain => {
            let mut pod = with_status(pod, &["PodScheduled", "Ready"], &running);
            let status = &mut pod["status"]["containerStatuses"][1];
            status["restartCount"] = json!(1);
            status["lastState"] = json!({ "terminated": { "exitCode": 3 } });
            world.send("MODIFIED", pod);
        }
        Fate::HasNoRoom => {
            let mut pod = pod.clone();
            pod["status"] = json!({ "conditions": [{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available",
            }] });
            world.send("MODIFIED", pod);
        }
        Fate::Refused | Fate::StaysSilent => {}
    }
    reply(201, pod)
}

fn log_of(name: &str) -> String {
    // The service has answered since.
    let then = jiff::Timestamp::now() - Duration::from_secs(1);
    format!("{then} one moment\n{then} wasmbench: {name} listening on 0.0.0.0:8080\n")
}

/// The body of a watch, which ends once it has sent something; the client then watches again.
async fn news(world: &Shared, since: usize) -> String {
    for _ in 0..2000 {
        let news: String = {
            let world = world.lock().unwrap();
            world
                .events
                .iter()
                .skip(since.saturating_sub(1))
                .cloned()
                .collect()
        };
        if !news.is_empty() {
            return news;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    String::new()
}

fn owners(kind: &str, name: &str) -> Value {
    json!([{ "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true }])
}

/// An object makes so many pods, beside one with the same labels that somebody else has made.
fn scale(world: &mut World, wanted: u64, fate: Fate) {
    world.replicas = usize::try_from(wanted).unwrap();
    while world.replicas > 0 && world.pods.len() < world.replicas {
        let name = format!("shop-{}", world.made);
        world.made += 1;
        let metadata = |name: &str, kind: &str, owner: &str| {
            json!({
                "name": name, "namespace": "team-a", "uid": name, "ownerReferences": owners(kind, owner),
                "labels": { "pod-template-hash": "6d8f" },
            })
        };
        let spec = json!({ "nodeName": "bench-1", "containers": [{ "name": "shop" }, { "name": "proxy" }] });
        let decoy = json!({ "metadata": metadata("decoy", "Other", "stranger"), "spec": spec });
        world.send("ADDED", decoy);
        let (kind, owner) = if fate == Fate::ServesBySet {
            ("StatefulSet", "set")
        } else {
            ("Other", "object")
        };
        let pod = json!({ "metadata": metadata(&name, kind, owner), "spec": spec });
        create(world, &pod, fate);
    }
    if world.replicas == 0 {
        for pod in std::mem::take(&mut world.pods).into_values() {
            world.send("DELETED", pod);
        }
    }
}

fn partial(metadata: &Value) -> Value {
    let kind = "PartialObjectMetadata";
    json!({ "kind": kind, "apiVersion": "meta.k8s.io/v1", "metadata": metadata })
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
        assert!(query.contains("container=subject"), "{query}");
        return reply(200, &log_of(&name));
    }
    if parts.uri.path().ends_with("/deployments/shop") {
        let world = world.lock().unwrap();
        let is_withdrawn = fate == Fate::Withdrawn && world.made > 0 && world.replicas == 0;
        let offer = if is_withdrawn { "false" } else { "true" };
        let metadata = json!({
            "name": "shop", "uid": "object", "resourceVersion": "1",
            "annotations": { "wasmbench.dev/offered": offer },
        });
        return reply(200, &partial(&metadata));
    }
    if parts.uri.path().ends_with("/statefulsets/set") {
        let owners = owners("Other", "object");
        let metadata = json!({ "name": "set", "uid": "set", "ownerReferences": owners });
        return reply(200, &partial(&metadata));
    }
    if parts.uri.path().ends_with("/deployments/shop/scale") {
        if parts.method == Method::PATCH {
            let patch: Value =
                serde_json::from_slice(&body.collect_bytes().await.unwrap()).unwrap();
            let wanted = patch["spec"]["replicas"].as_u64().unwrap();
            scale(&mut world.lock().unwrap(), wanted, fate);
        }
        let world = world.lock().unwrap();
        let metadata = json!({ "name": "shop", "uid": "object", "resourceVersion": "1" });
        let spec = json!({ "replicas": world.replicas });
        return reply(
            200,
            &json!({ "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec }),
        );
    }
    if parts.uri.path().ends_with("/events") {
        assert!(query.contains("reason%3DPulled"), "{query}");
        let list = json!({
            "kind": "EventList", "apiVersion": "v1", "metadata": {},
            "items": world.lock().unwrap().kubelet_events,
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
            // As the pod's ServiceAccount asks for.
            pod["spec"]["imagePullSecrets"] = json!([{ "name": "regcred" }]);
            if fate == Fate::Injected {
                pod["spec"]["containers"] = json!([{ "name": "istio-proxy" }]);
            }
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
                    world.send("DELETED", pod.clone());
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

pub(super) async fn serve(
    mut handle: Handle<Request<Body>, Response<Body>>,
    world: Shared,
    fate: Fate,
) {
    while let Some((request, send)) = handle.next_request().await {
        let world = world.clone();
        tokio::spawn(async move {
            let send: SendResponse<Response<Body>> = send;
            send.send_response(answer(world, fate, request).await);
        });
    }
}

/// A service that answers `hello`, and its port.
pub(super) fn service() -> u16 {
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

/// A service that begins to listen on `port` after a second, and serves until it is ended.
fn passing_service(port: &Value) -> (Arc<AtomicBool>, JoinHandle<()>) {
    let port: u16 = port.as_str().unwrap().parse().unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let until = ended.clone();
    let service = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
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
