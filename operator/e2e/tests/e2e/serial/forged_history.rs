//! A schedule's history that somebody forged, where nothing keeps it out: the bounds of what is
//! unpacked protect the operator without the admission policy.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkSchedule, conditions};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::policy::without_policy;
use wasmbench_e2e::tenant::tenant;
use wasmbench_e2e::{PATIENCE, eventually, operator, processes, runs};
use wasmbench_model::names;
use wasmbench_results::runs::history::stored::{BOUNDS, HISTORY_KEY};

/// What the operator may take at most, whatever tenants write.
const MOST_MEBIBYTES: f64 = 64.0;

const TINY: &str = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";

/// A history with as many settings of this many images.
fn history(settings: usize, images: usize) -> Vec<u8> {
    let images: Vec<String> = (0..images).map(|at| format!("\"{at}\":\"\"")).collect();
    let images = images.join(",");
    let setting =
        format!(r#"{{"node":"","fingerprint":"","baseline":"","images":{{{images}}},"asked":""}}"#);
    let settings = vec![setting; settings].join(",");
    let text = format!(
        r#"{{"schema":"wasmbench.dev/history/v2","series":[],"settings":[{settings}],"runs":[],"changes":[]}}"#
    );
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(text.as_bytes()).expect("it is packed");
    encoder.finish().expect("it is packed")
}

/// Why the schedule is stalled, if it is.
async fn obstacle(schedules: &Api<BenchmarkSchedule>) -> Option<String> {
    let schedule = schedules.get("often").await.ok()?;
    let conditions = schedule.status?.conditions;
    let mut stalled = conditions
        .into_iter()
        .filter(|found| found.type_ == conditions::STALLED && found.status == "True");
    stalled.next().map(|found| found.message)
}

/// A schedule of which one run has been measured, and which starts no other.
async fn measured_once(client: &Client, namespace: &str, schedules: &Api<BenchmarkSchedule>) {
    let run: Value = serde_yaml::from_str(TINY).expect("YAML");
    let spec = json!({ "schedule": "* * * * *", "template": { "spec": run } });
    let spec = serde_json::from_value(spec).expect("a schedule");
    let schedule = BenchmarkSchedule::new("often", spec);
    let created = schedules.create(&PostParams::default(), &schedule).await;
    created.expect("the schedule is created");
    let first = eventually(2 * PATIENCE, "a run starts", || async {
        let status = schedules.get("often").await.ok()?.status?;
        status.active.first().cloned()
    })
    .await;
    let suspend = Patch::Merge(json!({ "spec": { "suspend": true } }));
    let suspended = schedules
        .patch("often", &PatchParams::default(), &suspend)
        .await;
    suspended.expect("the schedule is suspended");
    runs::finished(client, namespace, &first, 60).await;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    eventually(PATIENCE, "the run is in the history", || async {
        maps.get(&names::history("often")).await.ok()
    })
    .await;
}

#[tokio::test]
async fn a_forged_history_does_not_fill_the_operators_memory() {
    with_namespace("forged", |client, namespace| async move {
        let mallory = tenant(&client, &namespace).await;
        let schedules: Api<BenchmarkSchedule> = Api::namespaced(mallory.clone(), &namespace);
        measured_once(&client, &namespace, &schedules).await;
        let maps: Api<ConfigMap> = Api::namespaced(mallory.clone(), &namespace);
        let name = names::history("often");
        let forge = async |bytes: Vec<u8>| {
            let entry = json!({ HISTORY_KEY: ByteString(bytes) });
            let patch = Patch::Merge(json!({ "binaryData": entry }));
            let forged = maps.patch(&name, &PatchParams::default(), &patch).await;
            // A history is read when its schedule changes.
            let change = Patch::Merge(json!({ "metadata": { "annotations": { "a": "c" } } }));
            let changed = schedules
                .patch("often", &PatchParams::default(), &change)
                .await;
            changed.expect("their own");
            forged.expect("nothing keeps it out")
        };
        without_policy(&client, "origin", async {
            // Unpacked in full, the first takes 306 MiB.
            let bomb = history(464_000, 1);
            assert!(bomb.len() < 200_000);
            eventually(PATIENCE, "the policy is not in force", || async {
                let own = Patch::Merge(json!({ "metadata": { "annotations": { "a": "b" } } }));
                maps.patch(&name, &PatchParams::default(), &own).await.ok()
            })
            .await;
            forge(bomb).await;
            operator::restarted().await;
            let pid = processes::operator();
            let message =
                eventually(PATIENCE, "the schedule reports it", || obstacle(&schedules)).await;
            assert!(message.contains(&BOUNDS.bytes.to_string()), "{message}");
            assert!(
                message.contains("remove it, and it begins anew"),
                "{message}"
            );
            // The largest that is unpacked at all. It lacks the run, which is added.
            let forged = forge(history(4_000, 17)).await;
            eventually(PATIENCE, "the run is in the history again", || async {
                let found = maps.get(&name).await.ok()?;
                let is_new = found.metadata.resource_version != forged.metadata.resource_version;
                is_new.then_some(())
            })
            .await;
            let peak = operator::memory("VmHWM");
            println!("two forged histories: at most {peak:.1} MiB");
            assert!(peak < MOST_MEBIBYTES, "{peak} MiB");
            assert_eq!(processes::operator(), pid, "the operator was ended");
        })
        .await;
    })
    .await;
}
