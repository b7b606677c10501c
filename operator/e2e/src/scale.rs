//! Deployments and the like that are there already, in the namespace in which `hack/e2e/run` lets runs scale what its
//! owner offers.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_model::wire::record::Record;

use crate::evidence::left_of;
use crate::operator::image;
use crate::{PATIENCE, answered, eventually, nodes, runs};

/// The namespace, which all these tests share: the chart lists namespaces by name.
pub const NAMESPACE: &str = "e2e-scale";

/// A Deployment of a test, or another object that makes pods.
pub struct Service {
    client: Client,
    kind: ApiResource,
    /// Its name, which no other test has.
    pub name: String,
}

/// The kind of Deployments.
pub fn deployments() -> ApiResource {
    ApiResource::erase::<Deployment>(&())
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
        let spec = json!({
            "replicas": replicas,
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": pod },
        });
        let service = Self::new(client, deployments(), name);
        service.add(annotations, &spec).await;
        service
    }

    /// The object of this kind and name, whose pods have that name as their label `app`.
    pub fn new(client: &Client, kind: ApiResource, name: String) -> Self {
        let client = client.clone();
        Self { client, kind, name }
    }

    /// Creates it with this spec.
    pub async fn add(&self, annotations: &Value, spec: &Value) {
        let mut object = DynamicObject::new(&self.name, &self.kind).data(json!({ "spec": spec }));
        let annotations = serde_json::from_value(annotations.clone());
        object.metadata.annotations = annotations.expect("annotations");
        let created = self.api().create(&PostParams::default(), &object).await;
        created.expect("the object is created");
    }

    fn api(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), NAMESPACE, &self.kind)
    }

    /// The variant that scales it, as YAML.
    pub fn variant(&self) -> String {
        let ApiResource { group, plural, .. } = &self.kind;
        let name = &self.name;
        format!("{{name: shop, scale: {{group: {group}, resource: {plural}, name: {name}}}}}")
    }

    /// What it is now, without its metadata.
    pub async fn content(&self) -> Value {
        let api = self.api();
        answered("the object exists", || api.get(&self.name))
            .await
            .data
    }

    /// How many pods it is to make.
    pub async fn replicas(&self) -> i64 {
        self.content().await["spec"]["replicas"]
            .as_i64()
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
        eventually(PATIENCE, "the object has a pod", || async {
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
        eventually(PATIENCE, "the object is back at 0", || async {
            let is_down = self.replicas().await == 0 && self.pods().await.is_empty();
            is_down.then_some(())
        })
        .await;
    }

    /// Its owner changes it.
    pub async fn patch(&self, patch: Value) {
        let params = PatchParams {
            field_manager: Some("its-owner".into()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(patch);
        let patched = self.api().patch(&self.name, &params, &patch).await;
        patched.expect("the owner may change it");
    }

    /// Removes it.
    pub async fn remove(self) {
        let params = DeleteParams::background();
        let _ = self.api().delete(&self.name, &params).await;
    }
}

/// The variant to compare with, as YAML.
pub fn native() -> String {
    "{name: native, preset: native}".to_owned()
}

/// A run of these variants, as YAML.
pub fn spec(variants: &[String], blocks: u32) -> String {
    format!(
        "blocks: {blocks}\nnoiseFloor: false\nvariants: [{}]\n\
         workloads: [{{name: sleep, path: '/sleep?ms=20', expect: {{body: slept}}}}]\n\
         sweeps: {{warmLatency: {{requests: 50, warmupRequests: 10}}}}\n",
        variants.join(", ")
    )
}

/// Deletes a run.
pub async fn delete(client: &Client, name: &str) {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), NAMESPACE);
    let _ = api.delete(name, &DeleteParams::background()).await;
}

/// Measures the service in two blocks: each trial has a fresh pod and finds its CPU time and its rate, and nothing is
/// left. `more` is added to the run's spec. Returns the service's records.
pub async fn measured(service: &Service, more: &str) -> Vec<Record> {
    let Service { client, name, .. } = service;
    let spec = spec(&[native(), service.variant()], 2) + more;
    let (run, mut records) = runs::measured(client, NAMESPACE, (name, &spec), 300, 4).await;
    records.retain(|record| record.trial.cell.variant == "shop");
    let subjects = records.iter().filter_map(|record| record.subject.as_ref());
    let pods: BTreeSet<&str> = subjects.map(|subject| &*subject.pod_uid).collect();
    assert_eq!(pods.len(), 2, "each trial has a fresh pod");
    for record in &records {
        let timed = record.load().and_then(|load| load.timed.as_ref());
        let meter = timed.and_then(|timed| timed.subject.as_ref());
        assert!(
            meter.is_some_and(|meter| meter.cpu_nanoseconds > 0),
            "{timed:?}"
        );
    }
    let rows = run.status.iter().flat_map(|status| &status.summary);
    let mut rates = rows.filter_map(|row| Some((&*row.variant, row.warm_latency.as_ref()?.rps)));
    assert!(
        rates.any(|(variant, rate)| variant == "shop" && rate > 0.0),
        "{:#?}",
        run.status
    );
    service.is_at_rest().await;
    let uid = run.metadata.uid.as_deref().expect("a uid");
    assert_eq!(left_of(client, uid).await, Vec::<String>::new());
    delete(client, name).await;
    records
}

async fn secret(client: &Client, name: &str) {
    let api: Api<k8s_openapi::api::core::v1::Secret> = Api::namespaced(client.clone(), NAMESPACE);
    let secret =
        json!({ "metadata": { "name": name }, "stringData": { "password": "open sesame" } });
    let secret = serde_json::from_value(secret).expect("a Secret");
    let created = api.create(&PostParams::default(), &secret).await;
    created.expect("the Secret is created");
}
