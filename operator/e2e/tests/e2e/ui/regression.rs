//! The steps of docs/watch-a-runtime.md, with an image that does more work from the sixth run on:
//! which run the history names, which alert Alertmanager gets, and what the dashboard shows.

use std::time::Duration;

use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::page::{Page, with};
use wasmbench_e2e::prometheus::{alerts, metrics_are_clean, query};
use wasmbench_e2e::{PATIENCE, answered, eventually, operator_namespace};

/// The page that describes these steps.
const PAGE: &str = "docs/watch-a-runtime.md";
/// The number of runs before the change, and in the whole history.
const BEFORE: usize = 5;
const RUNS: usize = 12;
/// A run takes about a minute, and the next one waits for it.
const EACH: Duration = Duration::from_mins(4);

const REFERENCE: &str = "registry.example.com/team/reference:1.0";
const OLD: &str = "registry.example.com/team/gateway:1.0";
const NEW: &str = "registry.example.com/team/gateway:1.1";

/// The schedule of the page, with runs of a minute and existing images.
fn schedule(page: &Page, image: &str) -> String {
    let [yaml] = &page.blocks("2. Start a run each night", "yaml")[..] else {
        panic!("one manifest is expected");
    };
    let changes = [
        ("0 3 * * *", "* * * * *"),
        ("blocks: 10\n", "blocks: 5\n      noiseFloor: false\n"),
        ("path: /\n", "path: /compute?iters=20000\n"),
        ("connections: [50]", "connections: [4]"),
        ("durationSeconds: 10", "durationSeconds: 2"),
        ("warmupSeconds: 5", "warmupSeconds: 1"),
        (REFERENCE, image),
        (OLD, image),
    ];
    with(yaml, &changes)
}

/// Runs the commands below a heading, each with these changes, and returns what they printed.
async fn step(page: &Page, heading: &str, changes: &[(&str, &str)]) -> String {
    let mut printed = String::new();
    for block in page.blocks(heading, "sh") {
        let output = page.carry_out(&with(&block, changes)).await;
        assert!(output.ok, "{block}\n{output:?}");
        printed += &output.stdout;
    }
    printed
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

/// Asserts that every expression of the dashboard, with its variables chosen, returns series.
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
            println!("ui: {}: {} series", panel["title"], series.len());
            // An operator that never failed has no such series, nor has a schedule without cold
            // starts.
            let may_be_empty = [
                "wasmbench_reconcile_failures_total",
                "wasmbench_run_difference",
            ]
            .iter()
            .any(|name| written.contains(name));
            assert!(may_be_empty || !series.is_empty(), "{chosen}");
        }
    }
}

/// The runs before and after the change, as the condition names them.
fn both_sides(message: &str) -> (String, String) {
    let after = |text: &str, words: &str| -> String {
        let (_, rest) = text
            .split_once(words)
            .unwrap_or_else(|| panic!("no '{words}': {text}"));
        let name = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '-');
        name.collect()
    };
    (after(message, "(before it "), after(message, "since run "))
}

/// Looks at the change as the page describes: the condition, the history, both sides compared.
async fn look(page: &Page) -> String {
    let blocks = page.blocks("5. See what changed", "sh");
    let [shown, compared] = &blocks[..] else {
        panic!("two blocks of commands are expected: {blocks:?}");
    };
    let shown = page.carry_out(shown).await;
    assert!(shown.ok, "{shown:?}");
    let html = page.saved("watch.html");
    assert!(html.contains("<svg") && html.contains("gateway"), "{html}");
    let (before, since) = both_sides(&shown.stdout);
    let names = [("watch-BEFORE", &*before), ("watch-SINCE", &*since)];
    let compared = page.carry_out(&with(compared, &names)).await;
    println!("ui: {}", compared.stdout);
    let by_history = "other runs of the schedule watch scatter";
    assert!(compared.stdout.contains(by_history), "{compared:?}");
    shown.stdout
}

#[tokio::test]
#[ignore = "needs Prometheus and a quiet node: make test-ui"]
async fn the_page_about_regressions_finds_the_image_that_costs_more() {
    with_namespace("regressed", |client, namespace| async move {
        let page = Page::open(PAGE, &namespace).await;
        let api: Api<BenchmarkSchedule> = Api::namespaced(client.clone(), &namespace);
        let slower = std::env::var("WASMBENCH_SLOWER_IMAGE").expect("make test-ui sets it");
        let installed = [("wasmbench-system", &*operator_namespace())];
        step(&page, "1. Let Prometheus read results", &installed).await;
        page.save(
            "watch.yaml",
            &schedule(&page, &image(&client, "native").await),
        );
        step(&page, "2. Start a run each night", &[]).await;
        let finished = async |count: usize| {
            eventually(EACH, "the next run ends", || async {
                let runs = started(&client, &namespace).await;
                (runs.iter().filter(|run| run.is_finished()).count() >= count).then_some(runs)
            })
            .await
        };
        for count in 1..=BEFORE {
            finished(count).await;
        }
        let history = step(&page, "3. Let it run for five nights", &[]).await;
        assert!(history.contains("gateway"), "{history}");
        step(&page, "4. Ship a new build", &[(NEW, &slower)]).await;
        let before = names(&client, &namespace).await;
        let mut found = None;
        for count in BEFORE + 1..=RUNS {
            finished(count).await;
            found = regressed(&api).await.or(found);
            println!(
                "ui: {count} runs, {}",
                found.as_deref().unwrap_or("no change")
            );
        }
        assert!(found.is_some(), "the change is found");
        let message = look(&page).await;
        // A run may have started just before the template was changed.
        let after = names(&client, &namespace).await;
        let first = after.into_iter().find(|name| !before.contains(name));
        let named = format!("since run {} ", first.expect("a run after the change"));
        assert!(message.contains(&named), "{named}: {message}");
        assert!(message.contains("of gateway on index"), "{message}");
        assert!(
            message.contains(" before, ") && message.contains(" since"),
            "{message}"
        );
        alert_arrives(&namespace).await;
        dashboard_shows(&namespace).await;
        // Including the series of the schedule.
        metrics_are_clean().await;
        step(&page, "6. Mend it, or accept it", &[]).await;
        eventually(PATIENCE, "the change is accepted", || async {
            regressed(&api).await.is_none().then_some(())
        })
        .await;
    })
    .await;
}

async fn names(client: &Client, namespace: &str) -> Vec<String> {
    let runs = started(client, namespace).await;
    runs.iter().map(ResourceExt::name_any).collect()
}
