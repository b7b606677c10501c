//! RuntimeClasses that a test creates, and programs on the nodes that act as their shims.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use k8s_openapi::api::node::v1::RuntimeClass;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::processes::kubelets;

/// Creates a RuntimeClass, unless an earlier test left one.
pub async fn create(client: &Client, name: &str, handler: &str) {
    add(
        client,
        &json!({"metadata": {"name": name}, "handler": handler}),
    )
    .await;
}

/// Creates a RuntimeClass that puts its pods on this node.
pub async fn create_on(client: &Client, name: &str, handler: &str, node: &str) {
    let scheduling = json!({"nodeSelector": {"kubernetes.io/hostname": node}});
    let class = json!({"metadata": {"name": name}, "handler": handler, "scheduling": scheduling});
    add(client, &class).await;
}

async fn add(client: &Client, class: &Value) {
    let class: RuntimeClass = serde_json::from_value(class.clone()).expect("a RuntimeClass");
    let api: Api<RuntimeClass> = Api::all(client.clone());
    match api.create(&PostParams::default(), &class).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        created => drop(created.expect("the RuntimeClass is created")),
    }
}

/// Deletes the RuntimeClass.
pub async fn delete(client: &Client, name: &str) {
    let api: Api<RuntimeClass> = Api::all(client.clone());
    let _ = api.delete(name, &DeleteParams::default()).await;
}

/// A program on every node, where containerd looks for shims; it is removed on drop.
#[derive(Debug)]
pub struct ShimOnNodes(Vec<PathBuf>);

impl ShimOnNodes {
    /// Installs a shell script as the shim of `runtime`.
    pub fn script(runtime: &str, text: &str) -> Self {
        // A node is a container on this machine: its files are visible through its processes.
        let path = |kubelet| {
            let name = format!("/proc/{kubelet}/root/usr/local/bin/containerd-shim-{runtime}-v1");
            PathBuf::from(name)
        };
        let paths: Vec<PathBuf> = kubelets().map(path).collect();
        assert!(!paths.is_empty(), "a kubelet runs on this machine");
        for path in &paths {
            std::fs::write(path, text).expect("the node's files can be written");
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(path, executable).expect("it becomes executable");
        }
        Self(paths)
    }
}

impl Drop for ShimOnNodes {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}
