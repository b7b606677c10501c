//! A server that misbehaves on purpose (`hack/misbehave`): every fault is counted and named, what is
//! no fault is not counted as one, and what makes two sides unequal is said.

use kube::Client;
use serde_json::Value;
use wasmbench_core::wire::record::{Point, Record};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::runs;

// Where the numbers stand: the only part that knows the formats.

/// A cell of the throughput sweep in a summary.
#[derive(Clone, Copy)]
struct Cell<'a>(&'a Value);

impl<'a> Cell<'a> {
    fn of(summary: &'a Value, variant: &str, workload: &str) -> Self {
        let mut cells = summary["cells"].as_array().expect("cells").iter();
        let cell = cells.find(|cell| {
            cell["variant"] == variant
                && cell["workload"] == workload
                && cell["sweep"] == "throughput"
        });
        Self(cell.unwrap_or_else(|| panic!("{variant} on {workload}: {summary:#}")))
    }

    /// Requests of all timed windows that failed, in percent.
    fn failed_percent(self) -> f64 {
        let sum = |column: &str| -> u64 {
            let column = self.0["trials"][column].as_array().expect("a column");
            column.iter().filter_map(Value::as_u64).sum()
        };
        let (failed, answered) = (sum("errors"), sum("requests"));
        assert!(failed + answered >= 20, "{self:?}: too few requests");
        100.0 * failed as f64 / (failed + answered) as f64
    }

    /// Failed requests without a complete answer, by why there is none.
    fn failed_by_kind(self) -> Vec<(&'a str, u64)> {
        let kinds = self.0["load"]["failedByKind"].as_object();
        let kinds = kinds.into_iter().flatten();
        kinds
            .map(|(kind, count)| (kind.as_str(), count.as_u64().expect("a count")))
            .collect()
    }

    fn failed_with_status(self, status: &str) -> u64 {
        let count = self.0["errorsByStatus"][status].as_u64();
        count.unwrap_or_default()
    }

    /// Absent where every connection lasted as long as its load.
    fn requests_per_connection(self) -> Option<f64> {
        median(&self.0["load"]["requestsPerConnection"])
    }

    /// The sizes of the smallest and the largest expected answer.
    fn answer_bytes(self) -> (u64, u64) {
        let bytes = &self.0["load"]["answerBytes"];
        let end = |end: &str| bytes[end].as_u64();
        let found = end("min").zip(end("max"));
        found.unwrap_or_else(|| panic!("no sizes: {self:?}"))
    }

    fn p50_microseconds(self) -> f64 {
        median(&self.0["p50Microseconds"]).unwrap_or_else(|| panic!("no latency: {self:?}"))
    }

    fn cpus_used(self) -> Option<f64> {
        median(&self.0["cpusUsed"])
    }

    fn throttled_share(self) -> Option<f64> {
        median(&self.0["throttledShare"])
    }

    /// Reasons why it is not compared.
    fn invalid_because(self) -> Vec<&'a str> {
        let reasons = self.0["invalidBecause"].as_array();
        let reasons = reasons.into_iter().flatten();
        reasons.filter_map(Value::as_str).collect()
    }
}

impl std::fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// A number, or the median of a spread.
fn median(number: &Value) -> Option<f64> {
    number.as_f64().or_else(|| number["median"].as_f64())
}

/// What the summary says about a workload, in doubts and notes of this reason; of any if empty.
fn said<'a>(summary: &'a Value, reason: &str, workload: &str) -> Vec<&'a str> {
    let doubts = summary["doubts"].as_array().into_iter().flatten();
    let doubts = doubts.filter(|doubt| reason.is_empty() || doubt["reason"] == reason);
    let messages = doubts.filter_map(|doubt| doubt["message"].as_str());
    messages
        .filter(|message| message.contains(&format!("on {workload}")))
        .collect()
}

/// Connections that the load generator opened within the timed window, beyond the first ones.
fn opened_connections(record: &Record) -> u64 {
    let document = record.load().expect("a load");
    let timed = document.timed.as_ref().expect("a window");
    let opened = timed.runs().map(|run| {
        let opened = run["Seen"]["Connections"].as_u64();
        opened.unwrap_or_else(|| panic!("no connections in {run}"))
    });
    opened.sum()
}

/// Expected answers and others of an open loop, and the median of each from the schedule, in
/// microseconds.
fn of_schedule(record: &Record) -> [(u64, f64); 2] {
    let document = record.load().expect("a load");
    let window = document.timed.as_ref().expect("a window");
    let found = serde_json::to_value(window.open_loop).expect("JSON");
    let count = |field: &str| found[field].as_u64().expect("a count");
    let p50 = |field: &str| found[field]["p50Microseconds"].as_f64().expect("a median");
    let (all, failed) = (count("requests"), count("failed"));
    [
        (all - failed, p50("fromSchedule")),
        (failed, p50("failedFromSchedule")),
    ]
}

async fn report(namespace: &str, name: &str, format: &str) -> String {
    let report = ["wasmbench", "report", name, "-n", namespace, "-o", format];
    kubectl(&report).await.stdout
}

async fn summary(namespace: &str, name: &str) -> Value {
    let text = report(namespace, name, "json").await;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Requests that failed.
#[derive(Clone, Copy)]
enum Failed {
    None,
    /// So many percent, within a point, all of this kind.
    Percent(f64, &'static str),
    /// Some, all of this kind.
    Some(&'static str),
}

/// How long connections last.
#[derive(Clone, Copy)]
enum Connections {
    /// As long as the load.
    Kept,
    /// So many requests, from and to: those still open at the end of a load served fewer.
    Serve(f64, f64),
    /// A fault ends some of them.
    Broken,
}

struct Row {
    workload: &'static str,
    path: &'static str,
    expect: &'static str,
    failed: Failed,
    connections: Connections,
}

const fn row(
    workload: &'static str,
    path: &'static str,
    expect: &'static str,
    (failed, connections): (Failed, Connections),
) -> Row {
    Row {
        workload,
        path,
        expect,
        failed,
        connections,
    }
}

use Connections::{Broken, Kept, Serve};

const ROWS: [Row; 16] = [
    row("good", "/", "body: hello", (Failed::None, Kept)),
    row(
        "no-content",
        "/?status=204",
        "status: 204",
        (Failed::None, Kept),
    ),
    row(
        "redirect",
        "/?status=302",
        "status: 302",
        (Failed::None, Kept),
    ),
    row(
        "not-modified",
        "/?status=304",
        "status: 304",
        (Failed::None, Kept),
    ),
    row(
        "missing",
        "/?status=404",
        "status: 404",
        (Failed::None, Kept),
    ),
    row("interim", "/continue", "body: hello", (Failed::None, Kept)),
    row(
        "chunks",
        "/chunks?bytes=100000",
        "status: 200",
        (Failed::None, Kept),
    ),
    row(
        "grows",
        "/grow?to=300000",
        "body: hello",
        (Failed::None, Kept),
    ),
    row(
        "no-length",
        "/http10",
        "body: hello",
        (Failed::None, Serve(0.5, 1.0)),
    ),
    row(
        "one-each",
        "/limit?requests=1",
        "body: hello",
        (Failed::None, Serve(0.5, 1.0)),
    ),
    row(
        "hundred-each",
        "/limit?requests=100&said=false",
        "body: hello",
        (Failed::None, Serve(10.0, 100.0)),
    ),
    row(
        "cut",
        "/cut?percent=20",
        "body: hello",
        (Failed::Percent(20.0, "cut"), Broken),
    ),
    row(
        "reset",
        "/reset?percent=10",
        "body: hello",
        (Failed::Percent(10.0, "cut"), Broken),
    ),
    row(
        "silent",
        "/silent?percent=10",
        "body: hello",
        (Failed::Percent(10.0, "closed"), Broken),
    ),
    row(
        "missing-cut",
        "/cut?percent=20&status=404",
        "status: 404",
        (Failed::Percent(20.0, "cut"), Broken),
    ),
    // The second answer is found when the next request is due.
    row(
        "twice",
        "/twice?percent=10",
        "body: hello",
        (Failed::Some("excess"), Broken),
    ),
];

fn misbehaving(image: &str) -> String {
    let workloads = ROWS.iter().map(|row| {
        let Row {
            workload,
            path,
            expect,
            ..
        } = row;
        format!(
            "- {{name: {workload}, path: '{path}', expect: {{{expect}}}, maxErrorShare: '50%'}}\n"
        )
    });
    let workloads: String = workloads.collect();
    format!(
        r"
blocks: 2
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
    let (percent, kinds) = (cell.failed_percent(), cell.failed_by_kind());
    println!(
        "{what}: {percent:.2} % failed, {kinds:?}, {:?}",
        cell.requests_per_connection()
    );
    match row.failed {
        Failed::None => assert!(percent == 0.0 && kinds.is_empty(), "{what}: {cell:?}"),
        Failed::Percent(expected, kind) => {
            assert!(
                (percent - expected).abs() < 1.0,
                "{what}: {percent}, {cell:?}"
            );
            assert!(
                matches!(*kinds, [(found, _)] if found == kind),
                "{what}: {kinds:?}"
            );
        }
        Failed::Some(kind) => {
            assert!(percent > 0.0, "{what}: {cell:?}");
            assert!(
                matches!(*kinds, [(found, _)] if found == kind),
                "{what}: {kinds:?}"
            );
        }
    }
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
        let (_, records) = runs::measured(&client, &namespace, run, 600, 2 * ROWS.len()).await;
        let summary = summary(&namespace, "faults").await;
        let cell = |workload| Cell::of(&summary, "service", workload);
        for row in &ROWS {
            check(row, cell(row.workload), &records);
        }
        // A head alone is no answer.
        assert!(cell("no-length").p50_microseconds() > 190_000.0);
        assert_eq!(cell("chunks").answer_bytes(), (100_000, 100_000));
        assert_eq!(cell("grows").answer_bytes().1, 300_000);
        let notes = said(&summary, "", "grows");
        assert!(notes.iter().any(|note| note.contains("300")), "{notes:?}");
        assert_eq!(said(&summary, "ErrorsInLoad", "good"), Vec::<&str>::new());
    })
    .await;
}

/// Everything beside `plain` differs in one thing.
fn unequal(image: &str) -> String {
    let variant = |name: &str, sizes: u32, ends: &str, threads: u32| {
        format!(
            "- {{name: {name}, container: {{image: '{image}', args: [\
             '--at=/sizes=/?bytes={sizes}', '--at=/ends={ends}', \
             '--at=/threads=/work?iterations=500000&threads={threads}']}}}}\n"
        )
    };
    let plain = variant("plain", 30, "/", 0);
    let other = variant("other", 50_000, "/limit?requests=1", 1);
    format!(
        r"
blocks: 2
seed: 1
noiseFloor: false
variants:
{plain}{other}
workloads:
- {{name: sizes, path: /sizes}}
- {{name: ends, path: /ends, expect: {{body: hello}}}}
- {{name: threads, path: /threads, expect: {{body: hello}}}}
sweeps: {{throughput: {{connections: [4], durationSeconds: 2, warmupSeconds: 0}}}}
"
    )
}

/// CPUs differ by more than half above this ratio.
const UNEQUAL_CPUS: f64 = 1.5;

#[tokio::test]
async fn what_makes_two_sides_unequal_is_said() {
    with_namespace("unequal", |client, namespace| async move {
        let spec = unequal(&test_image(&client, "misbehave").await);
        runs::measured(&client, &namespace, ("unequal", &spec), 300, 12).await;
        let summary = summary(&namespace, "unequal").await;
        let cell = |variant, workload| Cell::of(&summary, variant, workload);

        assert_eq!(cell("plain", "sizes").answer_bytes(), (30, 30));
        assert_eq!(cell("other", "sizes").answer_bytes(), (50_000, 50_000));
        let notes = said(&summary, "", "sizes");
        let has_both = |note: &&str| note.contains("30") && note.contains("50");
        assert!(notes.iter().any(has_both), "{notes:?}");

        let ends = cell("other", "ends");
        assert!(ends.failed_percent() == 0.0, "{ends:?}");
        let served = ends.requests_per_connection().expect("connections end");
        assert!((0.5..=1.0).contains(&served), "{served}");
        let text = report(&namespace, "unequal", "md").await;
        assert!(text.to_lowercase().contains("per connection"), "{text}");

        // How many CPUs a variant gets, the neighbours decide too: but more than one is not for one
        // thread, and what is said follows from what was found.
        let cpus = |variant| cell(variant, "threads").cpus_used();
        if let Some((plain, other)) = cpus("plain").zip(cpus("other")) {
            println!("threads: {plain} and {other} CPUs");
            assert!(other < 1.1, "{other}");
            let is_said = !said(&summary, "UnequalCpus", "threads").is_empty();
            let ratio = (plain / other).max(other / plain);
            assert_eq!(
                is_said,
                ratio > UNEQUAL_CPUS,
                "{plain} and {other}: {summary:#}"
            );
        }
    })
    .await;
}

/// A twentieth of a CPU, so that even a busy node has more than the limit to give. The service that
/// sheds answers at once, or after 200 ms.
fn tight(image: &str) -> String {
    format!(
        r"
blocks: 2
seed: 1
noiseFloor: false
resources: {{limits: {{cpu: 50m, memory: 128Mi}}}}
variants: [{{name: service, container: {{image: '{image}'}}}}]
workloads:
- {{name: limited, path: '/work?iterations=1000000', expect: {{body: hello}}}}
- {{name: sheds, path: '/shed?percent=30&pause_milliseconds=200', expect: {{body: hello}}, maxErrorShare: '50%'}}
sweeps:
  throughput: {{connections: [4], durationSeconds: 2, warmupSeconds: 0}}
  openLoop: {{ratesPercentOfPeak: [30], connections: 8, durationSeconds: 4, peakSeconds: 2, warmupSeconds: 0}}
"
    )
}

#[tokio::test]
async fn a_limit_is_part_of_the_question_and_what_is_shed_is_no_fast_answer() {
    with_namespace("tight", |client, namespace| async move {
        let (summary, records) = measured_tightly(&client, &namespace).await;
        let limited = Cell::of(&summary, "service", "limited");
        assert!(
            !limited.invalid_because().contains(&"Throttled"),
            "{limited:?}"
        );
        let share = limited.throttled_share().expect("a limit was reached");
        assert!(share > 0.0, "{limited:?}");

        let sheds = Cell::of(&summary, "service", "sheds");
        let percent = sheds.failed_percent();
        assert!((percent - 30.0).abs() < 1.0, "{sheds:?}");
        assert!(sheds.failed_with_status("503") > 0, "{sheds:?}");
        let is_open = |record: &&Record| matches!(record.trial.cell.point, Point::OpenLoop { .. });
        let sheds = records.iter().filter(is_open);
        for record in sheds.filter(|record| record.trial.cell.workload == "sheds") {
            let [(answered, good), (shed, fast)] = of_schedule(record);
            let percent = 100.0 * shed as f64 / (answered + shed) as f64;
            println!("{}: {percent} % shed, {good} and {fast} us", record.trial);
            assert!((percent - 30.0).abs() < 3.0, "{}: {percent}", record.trial);
            assert!(
                good >= 200_000.0 && fast < good,
                "{}: {good}, {fast}",
                record.trial
            );
        }
    })
    .await;
}

async fn measured_tightly(client: &Client, namespace: &str) -> (Value, Vec<Record>) {
    let spec = tight(&test_image(client, "misbehave").await);
    let (_, records) = runs::measured(client, namespace, ("tight", &spec), 300, 8).await;
    (summary(namespace, "tight").await, records)
}
