//! A server that misbehaves on purpose (`hack/misbehave`): every fault is counted and named, what is
//! no fault is not counted as one, and differences between two sides are noted.

mod shown;

use kube::Client;
use serde_json::Value;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::runs;
use wasmbench_model::wire::record::{Point, Record};

use shown::{Cell, compared_rates, messages, of_schedule, opened_connections, report, summary};

/// Requests that failed: from and to, in percent, and why.
#[derive(Clone, Copy)]
struct Failed {
    percent: (f64, f64),
    kind: Option<&'static str>,
}

const NONE: Failed = Failed {
    percent: (0.0, 0.0),
    kind: None,
};

/// So many percent, within a point.
const fn failed(percent: f64, kind: &'static str) -> Failed {
    Failed {
        percent: (percent - 1.0, percent + 1.0),
        kind: Some(kind),
    }
}

/// A second answer that comes late may be taken for the next, and hide others behind it.
const fn some(kind: &'static str) -> Failed {
    Failed {
        percent: (0.1, 50.0),
        kind: Some(kind),
    }
}

/// How long connections last.
#[derive(Clone, Copy)]
enum Connections {
    /// As long as the load.
    Kept,
    /// So many requests, from and to.
    Serve(f64, f64),
    /// A fault ends some of them.
    Broken,
}

/// One, if nothing disturbs the load.
const ABOUT_ONE: (f64, f64) = (0.9, 1.1);

struct Row {
    workload: &'static str,
    path: &'static str,
    status: u16,
    failed: Failed,
    connections: Connections,
}

const fn kept(workload: &'static str, path: &'static str, status: u16) -> Row {
    Row {
        workload,
        path,
        status,
        failed: NONE,
        connections: Connections::Kept,
    }
}

const fn ends(workload: &'static str, path: &'static str, (from, to): (f64, f64)) -> Row {
    Row {
        connections: Connections::Serve(from, to),
        ..kept(workload, path, 200)
    }
}

const fn broken(workload: &'static str, path: &'static str, status: u16, failed: Failed) -> Row {
    Row {
        failed,
        connections: Connections::Broken,
        ..kept(workload, path, status)
    }
}

// That a status, an interim answer or chunks are no fault, the generator's own tests have: here, one of
// each kind that the operator, the probe or the report treat differently.
const ROWS: [Row; 12] = [
    kept("good", "/", 200),
    kept("no-content", "/?status=204", 204),
    kept("chunks", "/chunks?bytes=100000", 200),
    kept("grows", "/grow?to=300000", 200),
    ends("no-length", "/http10", ABOUT_ONE),
    ends("one-each", "/limit?requests=1", ABOUT_ONE),
    ends("many-each", "/limit?requests=100&said=false", (10.0, 101.0)),
    broken("cut", "/cut?percent=20", 200, failed(20.0, "cut")),
    broken(
        "no-page",
        "/cut?percent=20&status=404",
        404,
        failed(20.0, "cut"),
    ),
    broken("reset", "/reset?percent=10", 200, failed(10.0, "cut")),
    broken("silent", "/silent?percent=10", 200, failed(10.0, "closed")),
    // In one segment, the second answer is found at once: the generator's own tests have that.
    broken(
        "twice",
        "/twice?percent=10&gap_microseconds=200",
        200,
        some("excess"),
    ),
];

fn misbehaving(image: &str) -> String {
    let workloads = ROWS.iter().map(|row| {
        let (name, path, status) = (row.workload, row.path, row.status);
        format!("- {{name: {name}, path: '{path}', expect: {{status: {status}}}, maxErrorShare: '50%'}}\n")
    });
    let workloads: String = workloads.collect();
    format!(
        r"
blocks: 1
seed: 1
noiseFloor: false
variants: [{{name: service, container: {{image: '{image}'}}}}]
workloads:
{workloads}
sweeps: {{throughput: {{connections: [4], durationSeconds: 2, warmupSeconds: 0}}}}
"
    )
}

fn check(row: &Row, cell: Cell<'_>, records: &[Record]) {
    let what = row.workload;
    let (percent, kinds) = (cell.failed_percent(), cell.failure_kinds());
    println!("{what}: {percent:.2} % failed: {kinds:?}");
    let (from, to) = row.failed.percent;
    assert!((from..=to).contains(&percent), "{what}: {percent} {cell:?}");
    assert_eq!(kinds, Vec::from_iter(row.failed.kind), "{what}: {cell:?}");
    let mine = records
        .iter()
        .filter(|record| record.trial.cell.workload == what);
    let opened: u64 = mine.map(opened_connections).sum();
    match row.connections {
        Connections::Kept => assert_eq!(opened, 0, "{what}: {cell:?}"),
        Connections::Serve(from, to) => {
            let found = cell.requests_per_connection();
            let found = found.unwrap_or_else(|| panic!("{what}: {cell:?}"));
            assert!(
                (from..=to).contains(&found),
                "{what}: {found} requests per connection"
            );
        }
        Connections::Broken => assert!(opened > 0, "{what}: {cell:?}"),
    }
    // Whatever the expected status is, and whatever failed.
    assert!(cell.p50_microseconds() > 1.0, "{what}: {cell:?}");
}

#[tokio::test]
async fn every_fault_is_counted_by_its_kind_and_nothing_else_is_one() {
    with_namespace("misbehaves", |client, namespace| async move {
        let spec = misbehaving(&test_image(&client, "misbehave").await);
        let run = ("faults", &*spec);
        let (_, records) = runs::measured(&client, &namespace, run, 600, ROWS.len()).await;
        let summary = summary(&namespace, "faults").await;
        let cell = |workload| Cell::find(&summary, "service", workload);
        for row in &ROWS {
            check(row, cell(row.workload), &records);
        }
        // A head alone is no answer.
        assert!(cell("no-length").p50_microseconds() > 190_000.0);
        assert_eq!(cell("chunks").answer_bytes(), (100_000, 100_000));
        assert_eq!(cell("grows").answer_bytes().1, 300_000);
        let notes = messages(&summary, "", "grows");
        assert!(notes.iter().any(|note| note.contains("300")), "{notes:?}");
        assert_eq!(
            messages(&summary, "ErrorsInLoad", "good"),
            Vec::<&str>::new()
        );
    })
    .await;
}

/// `other` answers with more bytes, over connections that end, and has one thread.
fn unequal(image: &str) -> String {
    let variant = |name: &str, answers: &str, threads: u32| {
        format!(
            "- {{name: {name}, container: {{image: '{image}', args: [\
             '--at=/sizes={answers}', \
             '--at=/threads=/work?iterations=500000&threads={threads}']}}}}\n"
        )
    };
    let plain = variant("plain", "/?bytes=30", 0);
    let other = variant("other", "/limit?requests=1&bytes=50000", 1);
    format!(
        r"
blocks: 2
seed: 1
noiseFloor: false
variants:
{plain}{other}
workloads:
- {{name: sizes, path: /sizes}}
- {{name: threads, path: /threads, expect: {{body: hello}}}}
- {{name: logs, path: /log}}
sweeps: {{throughput: {{connections: [4], durationSeconds: 2, warmupSeconds: 0}}}}
"
    )
}

/// What two variants used is noted as different from this ratio on, if the larger is this many CPUs.
const UNEQUAL_CPUS: (f64, f64) = (1.5, 0.5);

#[tokio::test]
async fn differences_between_two_sides_are_noted() {
    with_namespace("unequal", |client, namespace| async move {
        let spec = unequal(&test_image(&client, "misbehave").await);
        runs::measured(&client, &namespace, ("unequal", &spec), 300, 12).await;
        let summary = summary(&namespace, "unequal").await;
        let cell = |variant, workload| Cell::find(&summary, variant, workload);

        assert_eq!(cell("plain", "sizes").answer_bytes(), (30, 30));
        let other = cell("other", "sizes");
        assert_eq!(other.answer_bytes(), (50_000, 50_000));
        let notes = messages(&summary, "UnequalAnswers", "sizes");
        let has_both = |note: &&str| note.contains("30") && note.contains("50");
        assert!(notes.iter().any(has_both), "{notes:?}");

        assert!(other.failed_percent() == 0.0, "{other:?}");
        let served = other.requests_per_connection().expect("connections end");
        let (from, to) = ABOUT_ONE;
        assert!((from..=to).contains(&served), "{served}");
        let text = report(&namespace, "unequal", "md").await;
        assert!(text.to_lowercase().contains("per connection"), "{text}");

        // A line for each request is what the service costs, and nobody else.
        let cost = messages(&summary, "LogCost", "logs");
        assert!(!cost.is_empty(), "{summary:#}");

        // How many CPUs a variant gets, the neighbours decide too: but more than one is not for one
        // thread, and what is noted about a comparison follows from what was found.
        let cpus = |variant| {
            let is_compared = compared_rates(&summary).contains(&"threads");
            is_compared.then(|| cell(variant, "threads").cpus_used())?
        };
        if let Some((plain, other)) = cpus("plain").zip(cpus("other")) {
            println!("threads: {plain} and {other} CPUs");
            assert!(other < 1.1, "{other}");
            let is_noted = !messages(&summary, "UnequalCpus", "threads").is_empty();
            let (fewer, more) = (plain.min(other), plain.max(other));
            let (ratio, least) = UNEQUAL_CPUS;
            let are_unequal = more > ratio * fewer && more >= least;
            assert_eq!(is_noted, are_unequal, "{plain} and {other}: {summary:#}");
        }
    })
    .await;
}

/// A twentieth of a CPU, so that even a busy node has more than the limit to give. The service that
/// sheds takes 50 ms for an answer, and none to refuse one.
fn tight(image: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
noiseFloor: false
resources: {{limits: {{cpu: 50m, memory: 128Mi}}}}
variants: [{{name: service, container: {{image: '{image}'}}}}]
workloads:
- {{name: limited, path: '/work?iterations=1000000', expect: {{body: hello}}}}
- {{name: sheds, path: '/shed?percent=30&pause_milliseconds=50', expect: {{body: hello}}, maxErrorShare: '50%'}}
sweeps:
  throughput: {{connections: [4], durationSeconds: 2, warmupSeconds: 0}}
  openLoop: {{ratesPercentOfPeak: [30], connections: 8, durationSeconds: 4, peakSeconds: 2, warmupSeconds: 0}}
"
    )
}

#[tokio::test]
async fn a_limit_invalidates_nothing_and_shed_requests_are_no_fast_answers() {
    with_namespace("tight", |client, namespace| async move {
        let (summary, records) = measured_tightly(&client, &namespace).await;
        let limited = Cell::find(&summary, "service", "limited");
        assert!(
            !limited.invalid_because().contains(&"Throttled"),
            "{limited:?}"
        );
        let share = limited.throttled_share().expect("a limit was reached");
        assert!(share > 0.0, "{limited:?}");
        assert!(!messages(&summary, "Throttled", "limited").is_empty());

        let sheds = Cell::find(&summary, "service", "sheds");
        let percent = sheds.failed_percent();
        // Each window has some hundred requests, and one of them may be cut off at either end.
        assert!((percent - 30.0).abs() < 2.0, "{sheds:?}");
        assert!(sheds.failed_with_status("503") > 0, "{sheds:?}");
        let is_open = |record: &&Record| matches!(record.trial.cell.point, Point::OpenLoop { .. });
        let sheds = records.iter().filter(is_open);
        for record in sheds.filter(|record| record.trial.cell.workload == "sheds") {
            let [(answered, good), (shed, fast)] = of_schedule(record);
            let percent = 100.0 * shed as f64 / (answered + shed) as f64;
            println!("{}: {percent} % shed, {good} and {fast} us", record.trial);
            assert!((percent - 30.0).abs() < 2.0, "{}: {percent}", record.trial);
            assert!(
                good >= 50_000.0 && fast < good,
                "{}: {good}, {fast}",
                record.trial
            );
        }
    })
    .await;
}

async fn measured_tightly(client: &Client, namespace: &str) -> (Value, Vec<Record>) {
    let spec = tight(&test_image(client, "misbehave").await);
    let (_, records) = runs::measured(client, namespace, ("tight", &spec), 300, 4).await;
    (summary(namespace, "tight").await, records)
}

/// The third counted sample of `service` has a pod that listens after the limit.
fn late(image: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
noiseFloor: false
variants:
- {{name: service, container: {{image: '{image}', args: ['--late=-3-0=60']}}}}
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps: {{coldStart: {{samples: 3, timeoutSeconds: 10}}}}
"
    )
}

#[tokio::test]
async fn a_start_that_is_late_is_a_result_and_costs_no_other() {
    with_namespace("late", |client, namespace| async move {
        let spec = late(&test_image(&client, "misbehave").await);
        let (_, records) = runs::measured(&client, &namespace, ("late", &spec), 300, 1).await;
        let document = records[0].cold_start().expect("a document");
        let pods = document.samples.iter().flat_map(|sample| &sample.pods);
        let (late, in_time): (Vec<_>, Vec<_>) = pods.partition(|pod| pod.late.is_some());
        assert_eq!((late.len(), in_time.len()), (1, 3), "{document:#?}");
        let text = report(&namespace, "late", "md").await;
        assert!(
            text.contains("1 of 3 starts took longer than 10 s"),
            "{text}"
        );
        assert!(text.contains("over 10 s"), "{text}");
    })
    .await;
}

const STARTING: &str = r"
blocks: 1
seed: 1
noiseFloor: false
subjectReadyTimeoutSeconds: SECONDS
variants: [{name: service, container: {image: 'IMAGE'}}]
workloads: [{name: hello, path: '/starting?seconds=15&until=503', expect: {body: hello}}]
sweeps: {warmLatency: {requests: 100}}
";

#[tokio::test]
async fn a_service_that_answers_503_while_it_starts_is_waited_for_as_long_as_its_run_says() {
    with_namespace("starting", |client, namespace| async move {
        let image = test_image(&client, "misbehave").await;
        let spec = STARTING.replace("IMAGE", &image);
        let patient = ("patient", &*spec.replace("SECONDS", "90"));
        let impatient = ("impatient", &*spec.replace("SECONDS", "5"));
        runs::measured(&client, &namespace, patient, 300, 1).await;
        runs::create(&client, &namespace, impatient.0, impatient.1).await;
        runs::finished(&client, &namespace, impatient.0, 300).await;
        let text = report(&namespace, impatient.0, "md").await;
        assert!(text.contains("503"), "{text}");
    })
    .await;
}
