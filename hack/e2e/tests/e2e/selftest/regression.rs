//! A schedule whose variant does more work from the sixth run on: what its history says, and which run it names.

use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};
use wasmbench_core::lifetime::is_finished;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::images;
use wasmbench_e2e::{answered, eventually};

/// The work of a request, as links of a chain of SHA-256.
const WORK: u32 = 20_000;
/// Runs before the change, and runs of which the whole history consists at most.
const BEFORE: usize = 5;
const RUNS: usize = 12;
/// A run takes about a minute, and the next one waits for it.
const EACH: Duration = Duration::from_mins(4);

fn template(image: &str, args: &[String]) -> Value {
    json!({ "spec": {
        // Fewer are not trusted, and what is not trusted is not followed.
        "blocks": 5,
        "noiseFloor": false,
        "variants": [
            { "name": "plain", "container": { "image": image, "args": [] } },
            { "name": "changed", "container": { "image": image, "args": args } },
        ],
        "workloads": [{
            "name": "compute", "path": format!("/compute?iters={WORK}"),
            "expect": { "sameAcrossVariants": true },
        }],
        "sweeps": { "throughput": { "connections": [4], "durationSeconds": 2, "warmupSeconds": 1 } },
    } })
}

async fn started(client: &Client, namespace: &str) -> Vec<BenchmarkRun> {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let params = kube::api::ListParams::default().labels(&format!("{}=watch", labels::SCHEDULE));
    let mut runs = answered("runs are listed", || api.list(&params))
        .await
        .items;
    runs.sort_by_key(ResourceExt::name_any);
    runs
}

async fn regressed(api: &Api<BenchmarkSchedule>) -> Option<String> {
    let found = answered("the schedule exists", || api.get("watch")).await;
    let conditions = found.status.unwrap_or_default().conditions;
    let is_it = |type_: &str, status: &str| type_ == conditions::REGRESSED && status == "True";
    let mut found = conditions
        .into_iter()
        .filter(|one| is_it(&one.type_, &one.status));
    found.next().map(|condition| condition.message)
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_tenth_more_work_from_the_sixth_run_on_is_found_and_named() {
    with_namespace("regressed", |client, namespace| async move {
        let image = images(&client).await.native;
        let spec = json!({
            "schedule": "* * * * *", "concurrencyPolicy": "Forbid",
            "successfulRunsHistoryLimit": 50, "untrustworthyRunsHistoryLimit": 50,
            "template": template(&image, &[]),
        });
        let spec = serde_json::from_value(spec).expect("the fixture is a schedule");
        let api: Api<BenchmarkSchedule> = Api::namespaced(client.clone(), &namespace);
        let schedule = BenchmarkSchedule::new("watch", spec);
        let created = api.create(&PostParams::default(), &schedule).await;
        created.expect("the schedule is created");
        let finished = async |count: usize| {
            eventually(EACH, "the next run ends", || async {
                let runs = started(&client, &namespace).await;
                (runs.iter().filter(|run| is_finished(run)).count() >= count).then_some(runs)
            })
            .await
        };
        for count in 1..=BEFORE {
            finished(count).await;
        }
        let more = [format!("--extra-iterations={}", WORK / 10)];
        let change = Patch::Merge(json!({ "spec": { "template": template(&image, &more) } }));
        let changed = api.patch("watch", &PatchParams::default(), &change).await;
        changed.expect("the template is changed");
        let before: Vec<String> = started(&client, &namespace)
            .await
            .iter()
            .map(ResourceExt::name_any)
            .collect();
        let mut message = None;
        for count in BEFORE + 1..=RUNS {
            finished(count).await;
            message = regressed(&api).await;
            println!(
                "selftest: {count} runs, {}",
                message.as_deref().unwrap_or("no change")
            );
            if message.is_some() {
                break;
            }
        }
        let message = message.expect("the change is found");
        let after = started(&client, &namespace).await;
        // A run may have started just before the template was changed.
        let first = after
            .iter()
            .map(ResourceExt::name_any)
            .find(|name| !before.contains(name));
        let named = format!("since run {}", first.expect("a run after the change"));
        assert!(message.contains(&named), "{named}: {message}");
        assert!(message.contains("of changed on compute"), "{message}");
    })
    .await;
}
