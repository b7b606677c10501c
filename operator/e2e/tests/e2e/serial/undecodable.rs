//! One bad object never stops the others. For a moment the CRD accepts anything.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::json;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{PATIENCE, eventually, runs};

const TINY: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";

/// The runs of the namespace, whether or not they decode.
fn objects(client: &kube::Client, namespace: &str) -> Api<DynamicObject> {
    let resource = ApiResource::erase::<wasmbench_api::BenchmarkRun>(&());
    Api::namespaced_with(client.clone(), namespace, &resource)
}

/// Creates an object from before the CRD had its bounds, as an upgrade leaves it.
async fn create_undecodable(client: &kube::Client, namespace: &str) {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = "benchmarkruns.wasmbench.dev";
    let strict = crds.get(name).await.expect("the CRD is installed");
    let mut loose = serde_json::to_value(&strict).expect("JSON");
    loose["metadata"]["managedFields"] = json!(null);
    let schema = &mut loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    schema["spec"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let loose: CustomResourceDefinition = serde_json::from_value(loose).expect("a CRD");
    crds.replace(name, &PostParams::default(), &loose)
        .await
        .expect("the CRD is loosened");
    let api = objects(client, namespace);
    let object = serde_json::from_value::<DynamicObject>(json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": "garbage"},
        "spec": {"blocks": "many", "variants": {"a": 1}},
    }));
    let object = object.expect("an object");
    let created = eventually(PATIENCE, "the loose schema is served", || async {
        api.create(&PostParams::default(), &object).await.ok()
    })
    .await;
    assert_eq!(created.data["spec"]["blocks"], "many");
    let restored = json!({"spec": strict.spec});
    crds.patch(name, &PatchParams::default(), &Patch::Merge(&restored))
        .await
        .expect("the CRD is restored");
}

#[tokio::test]
async fn an_object_that_does_not_decode_is_marked_and_the_others_go_on() {
    with_namespace("garbage", |client, namespace| async move {
        create_undecodable(&client, &namespace).await;
        runs::create(&client, &namespace, "healthy", TINY).await;
        let run = runs::finished(&client, &namespace, "healthy", 60).await;
        assert_eq!(runs::outcomes(&runs::records(&client, &run).await).len(), 1);
        let api = objects(&client, &namespace);
        eventually(PATIENCE, "the object reports why it is refused", || async {
            let found = api.get("garbage").await.ok()?;
            let mut conditions = found.data["status"]["conditions"].as_array()?.iter();
            let accepted = conditions.find(|one| one["type"] == "Accepted")?;
            (accepted["reason"] == "Undecodable").then_some(())
        })
        .await;
    })
    .await;
}
