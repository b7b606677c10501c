//! Variants that scale a Deployment which is there already: measured as it is, and never touched against its
//! owner's will.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::scale::{self, NAMESPACE, Service, delete, native, spec, unique};
use wasmbench_e2e::tenant::{account, assert_refused, client_as};
use wasmbench_e2e::{PATIENCE, eventually, nodes, runs};
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::record::Record;

#[tokio::test]
async fn a_deployment_with_a_secret_and_a_sidecar_is_measured_as_it_is() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "as-it-is").await;
    for record in scale::measured(&shop, "").await {
        let timed = record.load().and_then(|load| load.timed.as_ref());
        let meter = timed.and_then(|timed| timed.subject.as_ref());
        let processes = meter.and_then(|meter| meter.processes);
        // The service and its sidecar.
        assert_eq!(processes.map(|all| all.count), Some(2));
        let names = timed.map(|timed| timed.containers.keys().cloned().collect::<Vec<_>>());
        assert_eq!(names.unwrap_or_default(), ["shop", "sidecar"]);
    }
    shop.remove().await;
}

/// Outcomes of the variant that scales something.
fn of_shop(records: &[Record]) -> Vec<String> {
    let outcomes = runs::outcomes(records).into_iter();
    let mine = outcomes.filter(|(trial, _)| trial.starts_with("shop/"));
    mine.map(|(_, outcome)| outcome).collect()
}

#[tokio::test]
async fn an_object_that_is_not_offered_or_in_use_is_never_touched() {
    let client = wasmbench_e2e::client().await;
    let foreign = Service::create(&client, "foreign", &json!({}), 1).await;
    let in_use = json!({ "wasmbench.dev/offered": "true" });
    let in_use = Service::create(&client, "in-use", &in_use, 1).await;
    for (service, text) in [(foreign, "is not offered"), (in_use, "has 1 replicas")] {
        let before = service.runs().await;
        let spec = spec(&[native(), service.variant()], 1);
        runs::create(&client, NAMESPACE, &service.name, &spec).await;
        let run = runs::finished(&client, NAMESPACE, &service.name, 300).await;
        let records = runs::all_records(&client, &run).await;
        assert_eq!(of_shop(&records), ["Skipped NotOffered"; 2]);
        let skipped = &run.status.as_ref().expect("a status").skipped;
        assert!(
            skipped.iter().any(|one| one.message.contains(text)),
            "{skipped:#?}"
        );
        assert_eq!(
            (service.runs().await, service.replicas().await),
            (before, 1)
        );
        delete(&client, &service.name).await;
        service.remove().await;
    }
}

#[tokio::test]
async fn a_pod_with_the_same_labels_is_no_subject() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "decoy").await;
    let image = image(&client, "native").await;
    let decoy = json!({
        "metadata": { "name": format!("{}-decoy", shop.name), "labels": { "app": shop.name } },
        "spec": { "containers": [{ "name": "shop", "image": image }] },
    });
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let decoy = serde_json::from_value(decoy).expect("a pod");
    let decoy = pods
        .create(&PostParams::default(), &decoy)
        .await
        .expect("it is created");
    let spec = spec(&[native(), shop.variant()], 1);
    let (_, records) = runs::measured(&client, NAMESPACE, (&shop.name, &spec), 300, 2).await;
    let mut subjects = records.iter().filter_map(|record| record.subject.as_ref());
    assert!(subjects.all(|subject| Some(&subject.pod_uid) != decoy.uid().as_ref()));
    let _ = pods
        .delete(&decoy.name_any(), &DeleteParams::default())
        .await;
    delete(&client, &shop.name).await;
    shop.is_at_rest().await;
    shop.remove().await;
}

#[tokio::test]
async fn an_object_that_its_owner_takes_back_in_mid_run_is_not_touched() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "taken-back").await;
    let spec = spec(&[shop.variant()], 20);
    let run = runs::create(&client, NAMESPACE, &shop.name, &spec).await;
    runs::measuring(&client, NAMESPACE, &shop.name, 300).await;
    shop.patch(json!({ "spec": { "replicas": 2 } })).await;
    runs::finished(&client, NAMESPACE, &shop.name, 300).await;
    let records = runs::all_records(&client, &run).await;
    let outcomes = of_shop(&records);
    let is_recorded =
        |outcome: &String| outcome.ends_with(" TakenBack") || outcome.ends_with(" NotOffered");
    assert!(outcomes.iter().any(is_recorded), "{outcomes:?}");
    assert_eq!(shop.replicas().await, 2, "it is its owner's");
    let uid = run.metadata.uid.as_deref().expect("a uid");
    assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    delete(&client, &shop.name).await;
    shop.remove().await;
}

#[tokio::test]
async fn a_run_deleted_in_a_trial_leaves_the_deployment_at_0() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "deleted").await;
    let run = runs::create(&client, NAMESPACE, &shop.name, &spec(&[shop.variant()], 20)).await;
    runs::measuring(&client, NAMESPACE, &shop.name, 300).await;
    delete(&client, &shop.name).await;
    let uid = run.metadata.uid.as_deref().expect("a uid");
    eventually(PATIENCE, "the node is released", || async {
        left_of(&client, uid).await.is_empty().then_some(())
    })
    .await;
    // The claim goes only after the pods.
    assert_eq!((shop.replicas().await, shop.pods().await.len()), (0, 0));
    shop.remove().await;
}

#[tokio::test]
async fn who_may_not_patch_the_scale_may_not_start_such_a_run() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "rights").await;
    let user = format!("user-of-{}", shop.name);
    let may_create = |group: &str, resource: &str| json!({ "apiGroups": [group], "resources": [resource], "verbs": ["create"] });
    let role = json!({
        "metadata": { "name": user },
        "rules": [may_create("wasmbench.dev", "benchmarkruns"), may_create("", "pods")],
    });
    let binding = json!({
        "metadata": { "name": user },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": user },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
    });
    let params = PostParams::default();
    let roles: Api<Role> = Api::namespaced(client.clone(), NAMESPACE);
    let role = serde_json::from_value(role).expect("a role");
    roles.create(&params, &role).await.expect("it is created");
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), NAMESPACE);
    let binding = serde_json::from_value(binding).expect("a binding");
    bindings
        .create(&params, &binding)
        .await
        .expect("it is created");
    let theirs: Api<BenchmarkRun> = Api::namespaced(client_as(&user).await, NAMESPACE);
    let spec = serde_yaml::from_str(&spec(&[shop.variant()], 1)).expect("a spec");
    let run = BenchmarkRun::new(&shop.name, spec);
    let text = "patch deployments/scale";
    // The API server sees the binding a moment later.
    eventually(PATIENCE, "the policy answers", || async {
        let answer = theirs.create(&params, &run).await;
        match answer {
            Err(kube::Error::Api(status)) => status.message.contains(text).then_some(()),
            other => panic!("not forbidden: {other:?}"),
        }
    })
    .await;
    let _ = bindings.delete(&user, &DeleteParams::default()).await;
    let _ = roles.delete(&user, &DeleteParams::default()).await;
    shop.remove().await;
}

#[tokio::test]
async fn starts_count_from_the_scale_up_and_density_scales_to_each_number() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "starts").await;
    let spec = format!(
        "blocks: 1\nvariants: [{}]\nworkloads: [{{name: hello, expect: {{body: hello}}}}]\nsweeps:\n  \
         coldStart: {{samples: 2, class: Scaled, timeoutSeconds: 120}}\n  \
         density: {{instances: [1, 2], requests: 10, stop: {{timeoutSeconds: 120}}}}\n",
        shop.variant()
    );
    let (run, records) = runs::measured(&client, NAMESPACE, (&shop.name, &spec), 400, 2).await;
    let starts = records.iter().find_map(Record::cold_start).expect("starts");
    let pods = starts.samples.iter().flat_map(|sample| &sample.pods);
    for pod in pods {
        assert!(pod.pod.starts_with(&shop.name), "{pod:?}");
        let answered = pod.since_create(ColdStep::FirstCorrectAnswer);
        assert!(answered.is_some_and(|answered| answered > 0), "{pod:?}");
    }
    let density = records.iter().find_map(Record::density).expect("density");
    let instances: Vec<u32> = density.steps.iter().map(|step| step.instances).collect();
    assert_eq!(instances, [1, 2], "{:?}", density.stopped);
    shop.is_at_rest().await;
    let uid = run.metadata.uid.as_deref().expect("a uid");
    assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    delete(&client, &shop.name).await;
    shop.remove().await;
}

/// A run takes one of the nodes, so each has a companion.
#[tokio::test]
async fn a_companion_has_a_number_of_its_own() {
    let client = wasmbench_e2e::client().await;
    let name = unique("companion");
    let image = image(&client, "native").await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let nodes = nodes::free(&client).await;
    for (index, node) in nodes.iter().enumerate() {
        let pod = json!({
            "metadata": { "name": format!("{name}-{index}"), "labels": { "role": name } },
            "spec": {
                "nodeName": node, "terminationGracePeriodSeconds": 1,
                "containers": [{ "name": "db", "image": image }],
            },
        });
        let pod = serde_json::from_value(pod).expect("a pod");
        let created = pods.create(&PostParams::default(), &pod).await;
        created.expect("it is created");
    }
    let mine = ListParams::default().labels(&format!("role={name}"));
    let runs_now = |pod: &Pod| {
        let status = pod.status.as_ref();
        status.and_then(|status| status.phase.as_deref()) == Some("Running")
    };
    eventually(PATIENCE, "the companions run", || async {
        let found = pods.list(&mine).await.ok()?.items;
        let all = found.len() == nodes.len() && found.iter().all(runs_now);
        all.then_some(())
    })
    .await;
    let named = format!("companions: {{matchLabels: {{role: {name}}}}}\n");
    let spec = spec(&[native()], 1) + &named;
    let (_, records) = runs::measured(&client, NAMESPACE, (&name, &spec), 300, 1).await;
    let mut windows = records
        .iter()
        .filter_map(|record| record.load()?.timed.as_ref());
    let timed = windows.next().expect("a window");
    assert!(timed.companions_cpu_nanoseconds.is_some(), "{timed:?}");
    delete(&client, &name).await;
    for pod in pods.list(&mine).await.expect("pods are listed").items {
        let _ = pods.delete(&pod.name_any(), &DeleteParams::default()).await;
    }
}

/// What somebody could do who gets hold of the operator's token.
#[tokio::test]
async fn the_operators_account_scales_nothing_to_a_large_number() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "token").await;
    let theirs = client_as(&account("wasmbench")).await;
    let api: Api<k8s_openapi::api::apps::v1::Deployment> = Api::namespaced(theirs, NAMESPACE);
    let params = PatchParams::default();
    let patch = Patch::Merge(json!({ "spec": { "replicas": 101 } }));
    let answer = api.patch_scale(&shop.name, &params, &patch).await;
    assert_refused(answer, "at most 100 replicas");
    let patch = Patch::Merge(json!({ "spec": { "replicas": 1 } }));
    let whole = api.patch(&shop.name, &params, &patch).await;
    assert_refused(whole, "cannot patch resource");
    shop.remove().await;
}
