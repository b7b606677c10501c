//! The installed operator: its configuration, a restart, its memory.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use wasmbench_core::config::OperatorConfig;

use crate::kubectl::kubectl;
use crate::{operator_namespace, processes};

/// An image of the installed configuration, by its name in the catalogue. In tests the native gateway plays
/// the role of the user's own container.
pub async fn image(client: &Client, name: &str) -> String {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &operator_namespace());
    let map = api.get("wasmbench-config").await;
    let map = map.expect("the chart's ConfigMap exists");
    let text = &map.data.expect("data")["config.yaml"];
    let config: OperatorConfig = serde_yaml::from_str(text).expect("it parses");
    config.images.reference(name).to_owned()
}

/// An image of this checkout that only tests use, by its name in `hack/images`.
pub async fn test_image(client: &Client, name: &str) -> String {
    let native = image(client, "native").await;
    let (repository, tag) = native.rsplit_once("/native:").expect("one of ours");
    format!("{repository}/{name}:{tag}")
}

/// A gateway's image that is in the local cluster's registry and shares no layer with the images on
/// its nodes. Its user is a name.
pub fn pulled_image() -> String {
    let image = std::env::var("WASMBENCH_REGISTRY_IMAGE");
    image.expect("WASMBENCH_REGISTRY_IMAGE names no image: run 'make e2e'")
}

/// Restarts the operator, waits until it is ready, and returns the name of its pod.
pub async fn restarted() -> String {
    let namespace = operator_namespace();
    let operator = ["deployment/wasmbench", "-n", &namespace];
    let calls: [&[&str]; 2] = [&["restart"], &["status", "--timeout=600s"]];
    for call in calls {
        let output = kubectl(&[&["rollout"], call, &operator].concat()).await;
        assert!(output.ok, "{output:?}");
    }
    let selector = "app.kubernetes.io/component=operator";
    let pods = [
        "get", "pods", "-n", &namespace, "-o", "name", "-l", selector,
    ];
    let found = kubectl(&pods).await.stdout;
    let pod = found.trim().strip_prefix("pod/").expect("a pod");
    pod.to_owned()
}

/// The operator's memory in MiB, as this machine's kernel counts it: `VmRSS` for the current value,
/// `VmHWM` for the maximum.
pub fn memory(which: &str) -> f64 {
    let pid = processes::operator().expect("the operator runs on this machine");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    let value = lines
        .find(|(name, _)| *name == which)
        .map(|(_, value)| value.trim());
    let kibibytes = value
        .and_then(|value| value.strip_suffix(" kB"))
        .expect(which);
    let kibibytes: f64 = kibibytes.parse().expect("a number");
    kibibytes / 1024.0
}
