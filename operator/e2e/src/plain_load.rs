//! What a plain client finds of a service: sockets in Go without the load generator (`hack/go/shop/client.go`), in a
//! pod on the service's node, as the probe is. Also pods of services that nothing but the test makes.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, LogParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::operator::test_image;
use crate::{PATIENCE, answered, eventually};

/// Connections of the load under which rates are compared.
pub const CONNECTIONS: u32 = 4;
/// Its length in seconds, after a warm-up as long: a just-in-time compiler works for seconds on half a CPU.
pub const SECONDS: u32 = 5;
/// The name of the client's pod.
const CLIENT: &str = "plain-client";

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Requests per second on [`CONNECTIONS`].
    pub per_second: f64,
    /// The median latency on one connection, in microseconds.
    pub p50_microseconds: f64,
}

/// Where the pods are.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The node.
    pub node: &'a str,
}

/// A pod of this container, with an empty folder `/data` and under the `restricted` pod security standard.
fn pod(place: Place<'_>, name: &str, container: &Value) -> Pod {
    let mut container = container.clone();
    container["name"] = json!("main");
    container["volumeMounts"] = json!([{ "name": "data", "mountPath": "/data" }]);
    container["securityContext"] =
        json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
    let pod = serde_json::from_value(json!({
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": {
            "nodeSelector": { "kubernetes.io/hostname": place.node },
            "tolerations": [{ "operator": "Exists" }],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
            "volumes": [{ "name": "data", "emptyDir": {} }],
            "containers": [container],
        },
    }));
    pod.expect("a pod")
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| &status.conditions);
    let mut conditions = conditions.flatten();
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Starts a pod of this container, waits until it is ready, and returns its address. Its label `app` is its name.
pub async fn start(client: &Client, place: Place<'_>, name: &str, container: &Value) -> String {
    let pods: Api<Pod> = Api::namespaced(client.clone(), place.namespace);
    let pod = pod(place, name, container);
    let created = pods.create(&PostParams::default(), &pod).await;
    created.expect("the pod is created");
    eventually(PATIENCE, "the pod is ready", || async {
        let pod = answered("the pod exists", || pods.get(name)).await;
        let address = pod.status.as_ref()?.pod_ip.clone()?;
        is_ready(&pod).then_some(address)
    })
    .await
}

/// Removes the pod, and waits until it is gone.
pub async fn remove(client: &Client, place: Place<'_>, name: &str) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), place.namespace);
    let deleted = pods.delete(name, &DeleteParams::default()).await;
    deleted.expect("the pod is deleted");
    eventually(PATIENCE, "the pod is gone", || async {
        pods.get_opt(name).await.ok()?.is_none().then_some(())
    })
    .await;
}

/// What the plain client finds of the service at this address and port. It waits until the service answers; `request`
/// are its arguments. No request may fail.
pub async fn load(client: &Client, place: Place<'_>, address: &str, request: &[String]) -> Figures {
    let mut command = vec![
        "/app/shop".to_owned(),
        "load".to_owned(),
        format!("-to={address}"),
        format!("-connections=1,{CONNECTIONS}"),
        format!("-seconds={SECONDS}"),
    ];
    command.extend_from_slice(request);
    let image = test_image(client, "service-go").await;
    let container = json!({ "image": image, "command": command });
    let pods: Api<Pod> = Api::namespaced(client.clone(), place.namespace);
    let created = pods
        .create(&PostParams::default(), &pod(place, CLIENT, &container))
        .await;
    created.expect("the client's pod is created");
    let found = eventually(PATIENCE, "the client has printed its figures", || async {
        let text = pods.logs(CLIENT, &LogParams::default()).await.ok()?;
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let found: Vec<Value> = lines.collect();
        (found.len() == 2).then_some(found)
    })
    .await;
    remove(client, place, CLIENT).await;
    assert!(found.iter().all(|line| line["failed"] == 0), "{found:?}");
    Figures {
        per_second: found[1]["perSecond"].as_f64().expect("a rate"),
        p50_microseconds: found[0]["p50Microseconds"].as_f64().expect("a latency"),
    }
}
