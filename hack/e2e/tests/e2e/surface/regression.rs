//! A schedule whose variant does more work from the sixth run on: which run its history names, the alert that Alertmanager
//! gets, and what the dashboard shows of it.

use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};
use wasmbench_core::lifetime::is_finished;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::images;
use wasmbench_e2e::prometheus::{alerts, query};
use wasmbench_e2e::{PATIENCE, answered, eventually, operator_namespace};

/// The work of a request, as links of a chain of SHA-256.
const WORK: u32 = 20_000;
/// Runs before the change, and runs of which the whole history consists.
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

async fn alert_arrives(namespace: &str) {
    let wanted =
        json!({ "alertname": "WasmbenchRegressed", "namespace": namespace, "schedule": "watch" });
    eventually(PATIENCE, "the alert is in Alertmanager", || async {
        let alerts = alerts().await?;
        let is_it = |alert: &Value| {
            let labels = wanted.as_object().into_iter().flatten();
            labels
                .into_iter()
                .all(|(name, value)| alert["labels"][name] == *value)
        };
        alerts.iter().any(is_it).then_some(())
    })
    .await;
}

/// Every expression of the dashboard, with what it has chosen, gives series.
async fn dashboard_shows(namespace: &str) {
    let dashboards = [
        "get",
        "configmaps",
        "-n",
        &operator_namespace(),
        "-l",
        "grafana_dashboard",
        "-o",
        "json",
    ];
    let output = kubectl(&dashboards).await;
    let list: Value = serde_json::from_str(&output.stdout).expect("a list");
    let data = list["items"][0]["data"].as_object();
    let text = data.and_then(|data| data.values().next()?.as_str());
    let dashboard: Value =
        serde_json::from_str(text.expect("one dashboard")).expect("a dashboard is JSON");
    for panel in dashboard["panels"].as_array().expect("panels") {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let written = target["expr"].as_str().expect("an expression");
            let chosen = written
                .replace("$namespace", namespace)
                .replace("$schedule", "watch")
                .replace("$__rate_interval", "1m");
            let series = eventually(PATIENCE, &chosen, || query(&chosen)).await;
            println!("surface: {}: {} series", panel["title"], series.len());
            // An operator that never failed has none.
            let may_be_empty = written.contains("wasmbench_reconcile_failures_total");
            assert!(may_be_empty || !series.is_empty(), "{chosen}");
        }
    }
}

#[tokio::test]
#[ignore = "needs Prometheus and a quiet node: make test-surface"]
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
            message = regressed(&api).await.or(message);
            println!(
                "surface: {count} runs, {}",
                message.as_deref().unwrap_or("no change")
            );
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
        alert_arrives(&namespace).await;
        dashboard_shows(&namespace).await;
    })
    .await;
}
