//! Deployments that are there already, in the namespace in which `hack/e2e/run` lets runs scale what its owner
//! offers.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};

use crate::operator::image;
use crate::{PATIENCE, answered, eventually, nodes};

/// The namespace, which all these tests share: the chart lists namespaces by name.
pub const NAMESPACE: &str = "e2e-scale";

/// A Deployment of a test.
pub struct Service {
    client: Client,
    /// Its name, which no other test has.
    pub name: String,
}

fn deployments(client: &Client) -> Api<Deployment> {
    Api::namespaced(client.clone(), NAMESPACE)
}

/// A name that no other test has.
pub fn unique(prefix: &str) -> String {
    let stamp = jiff::Timestamp::now().as_millisecond() % 100_000_000;
    format!("{prefix}-{stamp}")
}

impl Service {
    /// Creates a service with an init container, a sidecar and a variable from a Secret, pinned to a node. Its
    /// owner offers it.
    pub async fn offered(client: &Client, prefix: &str) -> Self {
        let annotations = json!({ "wasmbench.dev/offered": "true" });
        Self::create(client, prefix, &annotations, 0).await
    }

    /// The same with these annotations and so many replicas.
    pub async fn create(client: &Client, prefix: &str, annotations: &Value, replicas: u32) -> Self {
        let name = unique(prefix);
        let image = image(client, "native").await;
        let nodes = nodes::free(client).await;
        let node = &nodes[name.len() % nodes.len()];
        let password = json!({ "secretKeyRef": { "name": name, "key": "password" } });
        let pod = json!({
            "nodeSelector": { "kubernetes.io/hostname": node },
            "terminationGracePeriodSeconds": 1,
            "initContainers": [{ "name": "first", "image": image, "args": ["--help"] }],
            "containers": [
                {
                    "name": "shop", "image": image, "env": [{ "name": "PASSWORD", "valueFrom": password }],
                    "readinessProbe": { "httpGet": { "path": "/health", "port": 8080 } },
                },
                { "name": "sidecar", "image": image, "args": ["--listen", "0.0.0.0:8081"] },
            ],
        });
        Self::with_pod(client, name, (annotations, replicas), &pod).await
    }

    /// Creates a service whose template has this pod. The pod finds a Secret of the service's name, with the key
    /// `password`.
    pub async fn with_pod(
        client: &Client,
        name: String,
        (annotations, replicas): (&Value, u32),
        pod: &Value,
    ) -> Self {
        secret(client, &name).await;
        let labels = json!({ "app": name });
        let deployment = serde_json::from_value(json!({
            "metadata": { "name": name, "annotations": annotations },
            "spec": {
                "replicas": replicas,
                "selector": { "matchLabels": labels },
                "template": { "metadata": { "labels": labels }, "spec": pod },
            },
        }));
        let created = deployments(client)
            .create(&PostParams::default(), &deployment.expect("a Deployment"))
            .await;
        created.expect("the Deployment is created");
        let client = client.clone();
        Self { client, name }
    }

    /// The variant that scales it, as YAML.
    pub fn variant(&self) -> String {
        let name = &self.name;
        format!("{{name: shop, scale: {{resource: deployments, name: {name}}}}}")
    }

    /// How many pods it is to make.
    pub async fn replicas(&self) -> i32 {
        let api = deployments(&self.client);
        let found = answered("the Deployment exists", || api.get(&self.name)).await;
        found
            .spec
            .and_then(|spec| spec.replicas)
            .unwrap_or_default()
    }

    /// Its pods, or those of others with its labels.
    pub async fn pods(&self) -> Vec<Pod> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), NAMESPACE);
        let mine = ListParams::default().labels(&format!("app={}", self.name));
        answered("pods are listed", || api.list(&mine)).await.items
    }

    /// Waits until it has a pod that runs, and returns its uid.
    pub async fn runs(&self) -> String {
        eventually(PATIENCE, "the Deployment has a pod", || async {
            let pods = self.pods().await;
            let phase = |pod: &Pod| pod.status.as_ref()?.phase.clone();
            let running = pods
                .iter()
                .find(|pod| phase(pod).as_deref() == Some("Running"));
            running.and_then(ResourceExt::uid)
        })
        .await
    }

    /// Waits until it makes no pods and has none.
    pub async fn is_at_rest(&self) {
        eventually(PATIENCE, "the Deployment is back at 0", || async {
            let is_down = self.replicas().await == 0 && self.pods().await.is_empty();
            is_down.then_some(())
        })
        .await;
    }

    /// Its owner changes it.
    pub async fn patch(&self, patch: Value) {
        let api = deployments(&self.client);
        let params = PatchParams {
            field_manager: Some("its-owner".into()),
            ..PatchParams::default()
        };
        let patched = api.patch(&self.name, &params, &Patch::Merge(patch)).await;
        patched.expect("the owner may change it");
    }

    /// Removes it.
    pub async fn remove(self) {
        let params = DeleteParams::background();
        let _ = deployments(&self.client).delete(&self.name, &params).await;
    }
}

async fn secret(client: &Client, name: &str) {
    let api: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let secret =
        json!({ "metadata": { "name": name }, "stringData": { "password": "open sesame" } });
    let secret = serde_json::from_value(secret).expect("a Secret");
    let created = api.create(&PostParams::default(), &secret).await;
    created.expect("the Secret is created");
}
