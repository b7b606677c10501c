//! Cold starts of the class `NodeCold` on a real node: the image is pulled from a registry in every
//! sample, and kept if a foreign pod needs it.

use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::json;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::operator::pulled_image;
use wasmbench_e2e::{PATIENCE, answered, eventually, runs};
use wasmbench_model::wire::cold_start::{Clock, ColdPod, ColdSample, ColdStep, with_refills};
use wasmbench_model::wire::record::{Outcome, Record};

/// Counted samples of a trial.
const SAMPLES: u32 = 2;

/// A run of an image whose user is a name, at a port that only root had in former times.
fn spec(concurrency: &str) -> String {
    format!(
        "
blocks: 1
seed: 1
noiseFloor: false
variants:
- name: pulled
  container:
    image: '{}'
    runAsUser: 65532
    runAsGroup: 65532
    args: [--listen, '0.0.0.0:80']
    port: 80
    listeningLine: ' listening on '
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps: {{coldStart: {{samples: {SAMPLES}, class: NodeCold, concurrency: {concurrency}, timeoutSeconds: 120}}}}
",
        pulled_image()
    )
}

async fn records(namespace: &str, client: &Client, name: &str, spec: &str) -> Vec<Record> {
    runs::create(client, namespace, name, spec).await;
    let run = runs::finished(client, namespace, name, 300).await;
    runs::records(client, &run).await
}

#[tokio::test]
async fn every_sample_pulls_its_image_and_the_pull_is_in_the_timeline() {
    with_namespace("nodecold", |client, namespace| async move {
        let records = records(&namespace, &client, "nodecold", &spec("[1, 2]")).await;
        assert_eq!(records.len(), 2);
        for record in &records {
            assert_eq!(record.outcome, Outcome::Measured, "{:#?}", record.outcome);
            let document = record.cold_start().expect("a document");
            let wrong = document
                .samples
                .iter()
                .filter(|sample| sample.wrong_class)
                .count();
            let counted: Vec<&ColdSample> =
                document.samples.iter().filter(|s| s.counts()).collect();
            // On a busy node one pod may start later than the other and find the image already
            // there, perhaps in every sample.
            let is_single = document.samples[0].pods.len() == 1;
            let is_complete = counted.len() == SAMPLES as usize && (!is_single || wrong == 0);
            let is_refilled = !is_single && wrong == with_refills(SAMPLES) as usize - counted.len();
            assert!(is_complete || is_refilled, "{:#?}", document.samples);
            counted.iter().copied().for_each(check);
            let floor = document.floor.iter().flat_map(|sample| &sample.pods);
            let pulls = floor.filter(|pod| pod.steps.contains_key(&ColdStep::ImagePulled));
            assert_eq!(pulls.count(), 0, "the floor's image is there");
        }
    })
    .await;
}

fn check(sample: &ColdSample) {
    let layers = sample.layers.unwrap_or_else(|| panic!("{sample:#?}"));
    assert!(
        layers.all > 0 && layers.all == layers.unpacked,
        "{sample:#?}"
    );
    assert_eq!(sample.compiled_before, None, "nothing can be known of it");
    sample.pods.iter().for_each(check_pull);
}

/// How much earlier than reported the pull may have begun, in nanoseconds.
fn unsure(pod: &ColdPod) -> u64 {
    let began = pod.steps[&ColdStep::ImagePullStarted];
    began.uncertainty_nanoseconds.expect("an uncertainty")
}

fn check_pull(pod: &ColdPod) {
    assert_eq!(pod.class, Some(ColdStartClass::NodeCold), "{pod:#?}");
    let order = [
        ColdStep::CreateSent,
        ColdStep::ImagePullStarted,
        ColdStep::ImagePulled,
        ColdStep::TaskCreated,
        ColdStep::TaskStarted,
    ];
    let at = order.map(|step| {
        let moment = pod.steps.get(&step);
        moment.unwrap_or_else(|| panic!("no {step:?}: {pod:#?}"))
    });
    assert!(at.is_sorted_by_key(|moment| moment.nanoseconds), "{pod:#?}");
    assert_eq!(
        (at[1].clock, at[2].clock),
        (Clock::KubeletDuration, Clock::ContainerdEvent)
    );
    let pull = pod.pull.unwrap_or_else(|| panic!("{pod:#?}"));
    assert!(
        pull.image_bytes.is_some_and(|bytes| bytes > 100_000),
        "{pull:?}"
    );
    // The kubelet's duration matches the time between the two steps, within the uncertainty of the
    // first.
    let between = u64::try_from(at[2].nanoseconds - at[1].nanoseconds).unwrap();
    let reported = pull.milliseconds * 1_000_000;
    let longest = between + unsure(pod);
    assert!(between <= reported && reported <= longest, "{pod:#?}");
}

/// A foreign pod with the image that is to be measured.
fn other(image: &str, node: &str) -> Pod {
    let security = json!({
        "runAsNonRoot": true, "runAsUser": 65532, "allowPrivilegeEscalation": false,
        "capabilities": { "drop": ["ALL"] }, "seccompProfile": { "type": "RuntimeDefault" },
    });
    serde_json::from_value(json!({
        "metadata": { "name": "neighbour" },
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "containers": [{ "name": "server", "image": image, "securityContext": security }],
        },
    }))
    .unwrap()
}

#[tokio::test]
async fn an_image_that_another_pod_runs_stays_and_the_trial_says_whose_it_is() {
    with_namespace("inuse", |client, namespace| async move {
        with_own_node(&client, async |node| {
            image_in_use(&client, &namespace, &node).await;
        })
        .await;
    })
    .await;
}

async fn image_in_use(client: &Client, namespace: &str, node: &str) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let neighbour = other(&pulled_image(), node);
    // A namespace accepts no pod before it has a service account.
    answered("the neighbour is created", || async {
        pods.create(&PostParams::default(), &neighbour).await
    })
    .await;
    eventually(PATIENCE, "the neighbour runs", || async {
        let pod = pods.get("neighbour").await.ok()?;
        (pod.status?.phase? == "Running").then_some(())
    })
    .await;
    let spec = spec("[1]") + &placement(node);
    let records = records(namespace, client, "inuse", &spec).await;
    let reasons: Vec<(&str, &str)> = records
        .iter()
        .filter_map(|record| match &record.outcome {
            Outcome::Failed { reason, message } => Some((reason.as_str(), message.as_str())),
            Outcome::Measured | Outcome::Skipped { .. } => None,
        })
        .collect();
    assert!(!reasons.is_empty(), "{:#?}", runs::outcomes(&records));
    for (reason, message) in reasons {
        assert_eq!(reason, "ImageNotRemovable");
        let whose = format!("pod {namespace}/neighbour");
        assert!(message.contains(&whose), "{message}");
    }
    let neighbour = pods.get("neighbour").await.expect("it is there");
    let status = neighbour.status.expect("a status");
    let mut containers = status.container_statuses.into_iter().flatten();
    let container = containers.next().expect("a container");
    assert!(container.state.is_some_and(|state| state.running.is_some()));
    assert_eq!(container.restart_count, 0);
    let delete = kube::api::DeleteParams::default();
    pods.delete("neighbour", &delete).await.expect("deleted");
}
