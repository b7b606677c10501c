//! Schedules: what they start, skip, refuse and remove, and who may create them.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, ResourceQuota};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, BenchmarkScheduleStatus, conditions, labels};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::tenant::{assert_refused, client_as};
use wasmbench_e2e::{PATIENCE, answered, eventually};
use wasmbench_model::names;
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::stored::HISTORY_KEY;

/// A short run whose only block is too few to be trusted. The service waits, and leaves CPU time to the
/// other tests.
const TINY: &str = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 50}}
";

/// A run whose windows are short but together take longer than the test.
const LONG: &str = r"
blocks: 50
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 400, warmupRequests: 10}}
";

/// A schedule that is due every minute, with additional fields.
fn each_minute(name: &str, run: &str, more: &Value) -> BenchmarkSchedule {
    let run: Value = serde_yaml::from_str(run).expect("the run is YAML");
    let mut spec = json!({ "schedule": "* * * * *", "template": { "spec": run } });
    for (field, value) in more.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let spec = serde_json::from_value(spec).expect("the fixture is a schedule");
    BenchmarkSchedule::new(name, spec)
}

async fn create(client: &Client, namespace: &str, schedule: &BenchmarkSchedule) {
    let api: Api<BenchmarkSchedule> = Api::namespaced(client.clone(), namespace);
    let created = api.create(&PostParams::default(), schedule).await;
    created.expect("the schedule is created");
}

async fn status(client: &Client, namespace: &str, name: &str) -> BenchmarkScheduleStatus {
    let api: Api<BenchmarkSchedule> = Api::namespaced(client.clone(), namespace);
    let found = answered("the schedule exists", || api.get(name)).await;
    found.status.unwrap_or_default()
}

/// The runs of a schedule.
async fn runs_of(client: &Client, namespace: &str, name: &str) -> Vec<BenchmarkRun> {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let params = ListParams::default().labels(&format!("{}={name}", labels::SCHEDULE));
    answered("runs are listed", || api.list(&params))
        .await
        .items
}

async fn first_run(client: &Client, namespace: &str, name: &str) -> BenchmarkRun {
    // A minute until it is due, and another for a busy machine and the windows of other tests.
    eventually(Duration::from_mins(2), "a run starts", || async {
        runs_of(client, namespace, name).await.pop()
    })
    .await
}

async fn patch(
    client: &Client,
    namespace: &str,
    name: &str,
    spec: Value,
) -> Result<BenchmarkSchedule, kube::Error> {
    let api: Api<BenchmarkSchedule> = Api::namespaced(client.clone(), namespace);
    let patch = Patch::Merge(json!({ "spec": spec }));
    api.patch(name, &PatchParams::default(), &patch).await
}

/// The history, which outlives the runs of a schedule.
async fn history(client: &Client, namespace: &str, name: &str) -> History {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let map = names::history(name);
    let found = answered("the history exists", || maps.get(&map)).await;
    let bytes = found.binary_data.unwrap_or_default().remove(HISTORY_KEY);
    History::unpack(&bytes.expect("an entry").0).expect("a history")
}

/// Waits until a condition of the schedule has this reason, and returns its message.
async fn condition_message(
    client: &Client,
    namespace: &str,
    name: &str,
    type_: &str,
    reason: &str,
) -> String {
    eventually(PATIENCE, "the schedule reports it", || async {
        let conditions = status(client, namespace, name).await.conditions;
        let mut of_type = conditions.into_iter().filter(|found| found.type_ == type_);
        let found = of_type.find(|found| found.reason == reason)?;
        Some(found.message)
    })
    .await
}

#[tokio::test]
async fn a_schedule_starts_a_run_leaves_out_the_next_and_stops() {
    with_namespace("schedule", |client, namespace| async move {
        create(&client, &namespace, &each_minute("often", LONG, &json!({}))).await;
        let run = first_run(&client, &namespace, "often").await;
        assert_eq!(run.labels()[labels::SCHEDULE], "often");
        assert!(run.annotations().contains_key(labels::SCHEDULED_TIME));
        let owner = &run.owner_references()[0];
        let found = (owner.kind.as_str(), owner.name.as_str(), owner.controller);
        assert_eq!(found, ("BenchmarkSchedule", "often", Some(true)));
        let found = eventually(PATIENCE, "the next time is left out", || async {
            let found = status(&client, &namespace, "often").await;
            let left_out = found.left_out.as_ref()?;
            (left_out.reason == "AlreadyActive").then_some(found)
        })
        .await;
        assert_eq!(found.active, [run.name_any()]);
        assert_eq!(runs_of(&client, &namespace, "often").await.len(), 1);
        let behind = condition_message(
            &client,
            &namespace,
            "often",
            conditions::BEHIND,
            "RunsTakeLonger",
        )
        .await;
        assert!(behind.contains(&run.name_any()), "{behind}");

        let suspended = patch(&client, &namespace, "often", json!({ "suspend": true })).await;
        suspended.expect("stopping is allowed");
        eventually(PATIENCE, "nothing is due any more", || async {
            let found = status(&client, &namespace, "often").await;
            found.next_schedule_time.is_none().then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn the_oldest_finished_run_of_a_schedule_is_removed() {
    with_namespace("history", |client, namespace| async move {
        create(&client, &namespace, &each_minute("brief", TINY, &json!({}))).await;
        let first = first_run(&client, &namespace, "brief").await.name_any();
        let runs: Api<BenchmarkRun> = Api::namespaced(client.clone(), &namespace);
        eventually(2 * PATIENCE, "the oldest run is gone", || async {
            let found = runs.get_opt(&first).await.ok()?;
            found.is_none().then_some(())
        })
        .await;
        let suspended = patch(&client, &namespace, "brief", json!({ "suspend": true })).await;
        suspended.expect("stopping is allowed");
        let history = history(&client, &namespace, "brief").await;
        assert!(
            history.runs.iter().any(|line| line.name == first),
            "the history forgot {first}"
        );
        assert!(
            !runs_of(&client, &namespace, "brief").await.is_empty(),
            "one is kept"
        );
    })
    .await;
}

#[tokio::test]
async fn a_schedule_reports_why_no_run_starts() {
    with_namespace("refused", |client, namespace| async move {
        let quota: ResourceQuota = serde_json::from_value(json!({
            "metadata": { "name": "none" },
            "spec": { "hard": { "count/benchmarkruns.wasmbench.dev": "0" } },
        }))
        .expect("a quota");
        let quotas: Api<ResourceQuota> = Api::namespaced(client.clone(), &namespace);
        let created = quotas.create(&PostParams::default(), &quota).await;
        created.expect("the quota is created");
        eventually(PATIENCE, "the quota holds", || async {
            let found = quotas.get("none").await.ok()?;
            found.status?.hard.map(drop)
        })
        .await;
        create(&client, &namespace, &each_minute("full", TINY, &json!({}))).await;
        let elsewhere = json!({ "timeZone": "Berlin" });
        create(&client, &namespace, &each_minute("lost", TINY, &elsewhere)).await;
        let zone =
            condition_message(&client, &namespace, "lost", conditions::ACCEPTED, "Invalid").await;
        assert!(zone.contains("Europe/Berlin"), "{zone}");
        let full = condition_message(
            &client,
            &namespace,
            "full",
            conditions::STALLED,
            "RunRefused",
        )
        .await;
        assert!(full.contains("exceeded quota"), "{full}");
    })
    .await;
}

/// A client for a user who may do everything with schedules but nothing with pods.
async fn planner(admin: &Client, namespace: &str) -> Client {
    let role: Role = serde_json::from_value(json!({
        "metadata": { "name": "planner" },
        "rules": [{
            "apiGroups": ["wasmbench.dev"], "resources": ["benchmarkschedules"], "verbs": ["*"],
        }],
    }))
    .expect("a role");
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": { "name": "planner" },
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "planner",
        },
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "eve",
        }],
    }))
    .expect("a binding");
    let roles: Api<Role> = Api::namespaced(admin.clone(), namespace);
    let bindings: Api<RoleBinding> = Api::namespaced(admin.clone(), namespace);
    roles
        .create(&PostParams::default(), &role)
        .await
        .expect("the role is created");
    let bound = bindings.create(&PostParams::default(), &binding).await;
    bound.expect("the binding is created");
    let eve = client_as("eve").await;
    let schedules: Api<BenchmarkSchedule> = Api::namespaced(eve.clone(), namespace);
    // The API server sees the binding a moment later.
    eventually(PATIENCE, "she may plan", || async {
        schedules.list(&ListParams::default().limit(1)).await.ok()
    })
    .await;
    eve
}

#[tokio::test]
async fn users_without_rights_to_pods_can_neither_create_nor_change_a_schedule() {
    const REFUSAL: &str = "you must be allowed to create pods";
    with_namespace("planner", |client, namespace| async move {
        let eve = planner(&client, &namespace).await;
        let suspend = json!({ "suspend": true });
        let schedule = each_minute("paused", TINY, &suspend);
        let schedules: Api<BenchmarkSchedule> = Api::namespaced(eve.clone(), &namespace);
        assert_refused(
            schedules.create(&PostParams::default(), &schedule).await,
            REFUSAL,
        );
        create(&client, &namespace, &schedule).await;
        for change in [
            json!({ "suspend": false }),
            json!({ "template": { "spec": { "blocks": 3 } } }),
        ] {
            assert_refused(patch(&eve, &namespace, "paused", change).await, REFUSAL);
        }
        let stopped = patch(&eve, &namespace, "paused", suspend).await;
        stopped.expect("stopping is free");
    })
    .await;
}
