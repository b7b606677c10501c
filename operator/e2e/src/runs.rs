//! Runs: creating them from YAML, waiting for them, reading them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client};
use wasmbench_api::status::TrialPhase;
use wasmbench_api::{BenchmarkRun, conditions, labels};
use wasmbench_core::build::component_selector;
use wasmbench_model::store;
use wasmbench_model::wire::record::{Outcome, Record, TrialId};

use crate::answered;

/// A run that makes progress may take this many times as long as a run without progress is waited
/// for.
const LONGEST: u32 = 3;

/// How often to look for a state that passes, such as a probe that measures.
const PASSING: Duration = Duration::from_millis(200);
/// How often to look for a state that stays. Each look costs the API server's CPU time, which it shares
/// with what is measured.
const LASTING: Duration = Duration::from_secs(1);

/// Creates the run that `spec` (YAML) describes.
pub async fn create(client: &Client, namespace: &str, name: &str, spec: &str) -> BenchmarkRun {
    let spec = serde_yaml::from_str(spec).expect("the spec is YAML");
    let run = BenchmarkRun::new(name, spec);
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    api.create(&PostParams::default(), &run)
        .await
        .expect("the run is created")
}

/// The run that `kubectl wasmbench start` has created from a file with this name. There must be one.
pub async fn of_base(client: &Client, namespace: &str, base: &str) -> BenchmarkRun {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let all = ListParams::default();
    let found = answered("runs are listed", || api.list(&all)).await;
    let is_it = |run: &BenchmarkRun| {
        let name = run.metadata.name.as_deref();
        let suffix = name.and_then(|name| name.strip_prefix(base)?.strip_prefix('-'));
        suffix.is_some_and(|suffix| !suffix.contains('-'))
    };
    let [run] = &found.items.into_iter().filter(is_it).collect::<Vec<_>>()[..] else {
        panic!("one run that was started as {base} is expected");
    };
    run.clone()
}

/// The current state of the run.
pub async fn get(client: &Client, namespace: &str, name: &str) -> BenchmarkRun {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    answered("the run exists", || api.get(name)).await
}

/// Waits until the run has ended in any way. It may make no progress for `seconds`, plus the time
/// for which runs of other tests may hold its node, and take three times as long in total: a slow
/// machine is no failure.
pub async fn finished(client: &Client, namespace: &str, name: &str, seconds: u64) -> BenchmarkRun {
    let patience = Duration::from_secs(seconds) + crate::PATIENCE;
    let has_ended = |run: &BenchmarkRun| {
        condition(run, conditions::FINISHED).is_some_and(|c| c.status == "True")
    };
    let what = (name, "has ended");
    awaited(client, namespace, what, (patience, LASTING), has_ended).await
}

/// Polls the run once per `interval` until `is_so` holds, which `what` describes. Panics if the run makes
/// no progress for `patience`, or takes [`LONGEST`] times as long in total.
async fn awaited(
    client: &Client,
    namespace: &str,
    (name, what): (&str, &str),
    (patience, interval): (Duration, Duration),
    is_so: impl Fn(&BenchmarkRun) -> bool,
) -> BenchmarkRun {
    let begin = Instant::now();
    let (mut observed, mut changed) = (None, begin);
    loop {
        let run = get(client, namespace, name).await;
        if is_so(&run) {
            return run;
        }
        let ended = condition(&run, conditions::FINISHED).filter(|c| c.status == "True");
        assert!(
            ended.is_none(),
            "not so when {name} ended: {name} {what}: {:#?}",
            run.status
        );
        let now = progress(&run);
        if now != observed {
            (observed, changed) = (now, Instant::now());
        }
        let (still, all) = (changed.elapsed(), begin.elapsed());
        assert!(
            still < patience && all < LONGEST * patience,
            "not so after {all:?}: {name} {what}; since {still:?} there is {observed:?}"
        );
        tokio::time::sleep(interval).await;
    }
}

/// The progress of the run: the number of trials with a record, and what the run is doing.
fn progress(run: &BenchmarkRun) -> Option<(u32, String)> {
    let progress = run.status.as_ref()?.progress.as_ref()?;
    Some((progress.completed_trials, progress.message.clone()))
}

/// Creates the run and waits until it has ended. If others used the node, the run is created again
/// under a numbered name, at most three times in total. For tests that need points to compare: a
/// test cannot decide whether a node is quiet.
pub async fn finished_on_quiet_node(
    client: &Client,
    namespace: &str,
    name: &str,
    spec: &str,
    seconds: u64,
) -> BenchmarkRun {
    let mut attempt = 1;
    loop {
        let name = match attempt {
            1 => name.to_owned(),
            again => format!("{name}-{again}"),
        };
        create(client, namespace, &name, spec).await;
        let run = finished(client, namespace, &name, seconds).await;
        if attempt == 3 || !is_noisy(&run) {
            return run;
        }
        attempt += 1;
    }
}

/// Whether the run is not trusted because others used its node. A trial that was measured once more
/// for this reason is only noted.
pub fn is_noisy(run: &BenchmarkRun) -> bool {
    let trust = condition(run, conditions::TRUSTWORTHY);
    trust.is_some_and(|trust| {
        trust
            .message
            .lines()
            .any(|line| line.starts_with("NodeNoisy"))
    })
}

/// Whether points of the run are invalid, all of them for reasons caused by a busy machine.
pub fn is_disturbed(run: &BenchmarkRun) -> bool {
    const OF_THE_MACHINE: [&str; 3] = ["NodeNoisy", "ClockTooCoarse", "LoadGeneratorSaturated"];
    let reasons: Vec<&str> = invalid_because(run)
        .flat_map(|all| all.split(", "))
        .collect();
    !reasons.is_empty() && reasons.iter().all(|reason| OF_THE_MACHINE.contains(reason))
}

/// Why points of the run are invalid: the reasons of each such point.
fn invalid_because(run: &BenchmarkRun) -> impl Iterator<Item = &str> {
    let rows = run.status.iter().flat_map(|status| &status.summary);
    let points = rows.flat_map(|row| {
        let rates = row.throughput.iter().flat_map(|load| &load.points);
        let loads = row
            .warm_latency
            .iter()
            .chain(rates)
            .map(|point| &point.invalid);
        let cold = row.cold_start.iter().map(|point| &point.invalid);
        let open = row.open_loop.iter().map(|point| &point.invalid);
        let capacity = row.capacity.iter().map(|capacity| &capacity.invalid);
        let payload = row.payload.iter().map(|payload| &payload.invalid);
        let density = row.density.iter().map(|density| &density.invalid);
        let open = open.chain(capacity).chain(payload);
        loads.chain(cold).chain(open).chain(density)
    });
    points.filter_map(|invalid| invalid.as_deref())
}

/// Waits until at least `count` trials have a record, apart from the scouts, which come first.
pub async fn recorded(client: &Client, namespace: &str, name: &str, count: u32) {
    let has_them = |run: &BenchmarkRun| {
        let scouts = u32::try_from(run.spec.variants.len()).expect("a few variants");
        progress(run).is_some_and(|(trials, _)| trials >= scouts + count)
    };
    let what = (name, "has records");
    let times = (crate::PATIENCE, PASSING);
    awaited(client, namespace, what, times, has_them).await;
}

/// Waits until the run reports that a probe is measuring, and not only a scout.
pub async fn measuring(client: &Client, namespace: &str, name: &str, seconds: u64) {
    let patience = Duration::from_secs(seconds) + crate::PATIENCE;
    let trial = |run: &BenchmarkRun| -> Option<TrialId> {
        let progress = run.status.as_ref()?.progress.as_ref()?;
        let at_work = progress.phase == Some(TrialPhase::Measuring);
        progress.trial.as_ref().filter(|_| at_work)?.parse().ok()
    };
    let measures = |run: &BenchmarkRun| trial(run).is_some_and(|trial| !trial.is_scout());
    let (what, times) = ((name, "measures"), (patience, PASSING));
    awaited(client, namespace, what, times, measures).await;
}

/// A condition of the run.
pub fn condition(run: &BenchmarkRun, type_: &str) -> Option<Condition> {
    run.status
        .as_ref()?
        .conditions
        .iter()
        .find(|c| c.type_ == type_)
        .cloned()
}

/// The records of the run's blocks.
pub async fn records(client: &Client, run: &BenchmarkRun) -> Vec<Record> {
    let mut records = all_records(client, run).await;
    records.retain(|record| !record.trial.is_scout());
    records
}

/// Every stored record of the run, scouts included, from all of its `ConfigMaps`.
pub async fn all_records(client: &Client, run: &BenchmarkRun) -> Vec<Record> {
    let namespace = run.metadata.namespace.as_deref().expect("a namespace");
    let uid = run.metadata.uid.as_deref().expect("a uid");
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let params = ListParams::default().labels(&component_selector(uid, labels::COMPONENT_RECORDS));
    let maps = answered("records are listed", || api.list(&params))
        .await
        .items;
    let entries = maps.iter().flat_map(|map| map.binary_data.iter().flatten());
    entries
        .map(|(_, bytes)| store::decode(&bytes.0).expect("a record unpacks"))
        .collect()
}

/// Asserts that every variant gave the responses that it must have in common with the others, and
/// that none ran in another mode than it claims. Neither makes a trial fail; both make points
/// invalid, which the status reports.
pub fn assert_alike(run: &BenchmarkRun, records: &[Record]) {
    let status = run.status.as_ref().expect("a finished run has a status");
    assert!(!status.summary.is_empty(), "{status:#?}");
    assert!(
        condition(run, conditions::TRUSTWORTHY).is_some(),
        "{status:#?}"
    );
    let text = serde_json::to_string(status).expect("a status is JSON");
    for word in ["ResponseMismatch", "EngineModeMismatch"] {
        assert!(!text.contains(word), "{word}: {status:#?}");
    }
    // The same check without the operator's judgement.
    let workloads = run.spec.workloads.iter();
    for workload in workloads.filter(|workload| workload.expect.same_across_variants) {
        let name = &workload.name;
        let answers: BTreeSet<&str> = records
            .iter()
            .filter(|record| record.trial.cell.workload == *name)
            .filter_map(|record| record.load())
            .flat_map(|document| document.answer_before.iter().chain(&document.answer_after))
            .map(|answer| {
                answer
                    .json_sha256
                    .as_ref()
                    .unwrap_or(&answer.body_sha256)
                    .as_str()
            })
            .collect();
        assert_eq!(answers.len(), 1, "{name}: {records:#?}");
    }
}

/// `Measured`, or the reason of a failed or skipped trial, by trial.
pub fn outcomes(records: &[Record]) -> BTreeMap<String, String> {
    let word = |record: &Record| match &record.outcome {
        Outcome::Measured => "Measured".to_owned(),
        Outcome::Failed { reason, .. } => format!("Failed {reason}"),
        Outcome::Skipped { reason, .. } => format!("Skipped {reason}"),
    };
    records
        .iter()
        .map(|record| (record.trial.to_string(), word(record)))
        .collect()
}

/// The run of this spec and its records, all of them measured: so many `trials` within so many
/// `seconds`.
pub async fn measured(
    client: &Client,
    namespace: &str,
    (name, spec): (&str, &str),
    seconds: u64,
    trials: usize,
) -> (BenchmarkRun, Vec<Record>) {
    create(client, namespace, name, spec).await;
    let run = finished(client, namespace, name, seconds).await;
    let records = records(client, &run).await;
    assert_measured(&records, trials);
    (run, records)
}

/// Each of so many trials has one record, and was measured. One that was not shows its message: a
/// node of the tests is gone before anybody can look at it.
pub fn assert_measured(records: &[Record], trials: usize) {
    let lost: Vec<String> = records
        .iter()
        .filter_map(|record| match &record.outcome {
            Outcome::Measured => None,
            Outcome::Failed { reason, message } | Outcome::Skipped { reason, message } => {
                Some(format!("{}: {reason}: {message}", record.trial))
            }
        })
        .collect();
    assert!(lost.is_empty(), "{lost:#?}");
    let outcomes = outcomes(records);
    assert_eq!(
        (records.len(), outcomes.len()),
        (trials, trials),
        "{outcomes:#?}"
    );
}
