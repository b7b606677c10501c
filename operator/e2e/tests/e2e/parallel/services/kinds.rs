//! What the controllers of other projects make pods of: an Argo Rollout, by its own scale, and a SpinApp, which has none,
//! by that of its Deployment.

use kube::Client;
use kube::api::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use wasmbench_e2e::controllers::{ARGO_ROLLOUTS, SPIN_OPERATOR, with_controller};
use wasmbench_e2e::operator::image;
use wasmbench_e2e::scale::{self, NAMESPACE, Service, deployments, native, unique};
use wasmbench_e2e::{PATIENCE, eventually, nodes, runs, runtime_class};

fn kind(group: &str, name: &str, plural: &str) -> ApiResource {
    let gvk = GroupVersionKind::gvk(group, "v1alpha1", name);
    ApiResource::from_gvk_with_plural(&gvk, plural)
}

fn offer() -> Value {
    json!({ "wasmbench.dev/offered": "true" })
}

/// Why a run skips the service.
async fn why_skipped(client: &Client, service: &Service) -> String {
    let name = format!("{}-again", service.name);
    let spec = scale::spec(&[native(), service.variant()], 1);
    runs::create(client, NAMESPACE, &name, &spec).await;
    let run = runs::finished(client, NAMESPACE, &name, 300).await;
    let skipped = run.status.expect("a status").skipped.into_iter();
    let messages: Vec<String> = skipped.map(|one| one.message).collect();
    scale::delete(client, &name).await;
    messages.join("\n")
}

/// A Rollout whose updates wait until somebody promotes them.
async fn rollout(client: &Client) -> Service {
    let name = unique("rollout");
    let nodes = nodes::free(client).await;
    let pod = json!({
        "nodeSelector": { "kubernetes.io/hostname": nodes[0] },
        "terminationGracePeriodSeconds": 1,
        "containers": [{ "name": "shop", "image": image(client, "native").await }],
    });
    let labels = json!({ "app": name });
    let spec = json!({
        "replicas": 0,
        "selector": { "matchLabels": labels },
        "template": { "metadata": { "labels": labels }, "spec": pod },
        "strategy": { "canary": { "steps": [{ "pause": {} }] } },
    });
    let service = Service::new(client, kind("argoproj.io", "Rollout", "rollouts"), name);
    service.add(&offer(), &spec).await;
    service
}

#[tokio::test]
#[ignore = "needs the controller of Argo Rollouts: make test-systems"]
async fn a_rollout_is_measured_by_its_scale_and_skipped_in_mid_update() {
    let client = wasmbench_e2e::client().await;
    with_controller(ARGO_ROLLOUTS, || async {
        let shop = rollout(&client).await;
        // At once: its controller may not have seen it.
        scale::measured(&shop, "").await;
        let annotations = json!({ "version": "2" });
        let template = json!({ "metadata": { "annotations": annotations } });
        shop.patch(json!({ "spec": { "template": template } }))
            .await;
        eventually(PATIENCE, "the update has begun", || async {
            let status = shop.content().await["status"].clone();
            (status["currentPodHash"] != status["stableRS"]).then_some(())
        })
        .await;
        let why = why_skipped(&client, &shop).await;
        assert!(why.contains("in the middle of a rollout"), "{why}");
    })
    .await;
}

/// A SpinApp that runs under the RuntimeClass of this name, and before it its Deployment, whose replicas the operator
/// leaves to others.
async fn spin_app(client: &Client, name: &str) -> [Service; 2] {
    let of_kind = |kind: ApiResource| Service::new(client, kind, name.to_owned());
    let kind = |name: &str, plural: &str| kind("core.spinkube.dev", name, plural);
    let executor = json!({
        "createDeployment": true, "deploymentConfig": { "runtimeClassName": name },
    });
    let none = json!({});
    of_kind(kind("SpinAppExecutor", "spinappexecutors"))
        .add(&none, &executor)
        .await;
    let app = of_kind(kind("SpinApp", "spinapps"));
    let spec = json!({
        "image": image(client, "http").await,
        "executor": name,
        "enableAutoscaling": true,
        "deploymentAnnotations": offer(),
        "podLabels": { "app": name },
    });
    app.add(&none, &spec).await;
    [of_kind(deployments()), app]
}

#[tokio::test]
#[ignore = "needs the operator of SpinKube: make test-systems"]
async fn a_spin_app_is_measured_by_the_scale_of_its_deployment() {
    let client = wasmbench_e2e::client().await;
    let node = nodes::free(&client).await.swap_remove(0);
    let name = unique("spin");
    // A SpinApp cannot name its node, and a RuntimeClass can.
    runtime_class::create_on(&client, &name, "wasmtime", &node).await;
    with_controller(SPIN_OPERATOR, || async {
        let [shop, app] = spin_app(&client, &name).await;
        // Its Deployment begins with a pod.
        shop.runs().await;
        shop.patch(json!({ "spec": { "replicas": 0 } })).await;
        shop.is_at_rest().await;
        scale::measured(&shop, &nodes::placement(&node)).await;
        let why = why_skipped(&client, &app).await;
        assert!(why.contains("no scale subresource"), "{why}");
    })
    .await;
    runtime_class::delete(&client, &name).await;
}
