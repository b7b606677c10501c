//! A synthetic run for the tests of results: the spec of a realistic comparison, and records whose
//! windows are real output of fortio, stretched by a factor per variant and block.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::expect_used, reason = "a broken fixture must stop the test")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::run::BenchmarkRunSpec;
use wasmbench_core::results::RunInput;
use wasmbench_core::wire::document::{
    Answer, Environment, LOAD_SCHEMA, LoadDocument, Meter, NodeCpu, Outside, Pause, Processes,
    Readiness, Switches, TimedWindow,
};
use wasmbench_core::wire::instrument::CpuLists;
use wasmbench_core::wire::open_loop::{OpenLoopWindow, Peak, Quantiles};
use wasmbench_core::wire::record::{
    Cell, Outcome, Point, RECORD_SCHEMA, Record, SubjectFacts, TrialId,
};

/// Uid of the synthetic run.
pub const UID: &str = "5a1b9f0c-1111-4222-8333-444455556666";

/// A run of two variants and two workloads: warm latency and two throughput points, five blocks.
pub fn run() -> RunInput {
    run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "baseline": "native",
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded", "engine": {"allocator": "Pooling"}},
        ],
        "workloads": [
            {"name": "hello", "path": "/", "expect": {"bodySuffix": "hello"}},
            {"name": "compute", "path": "/compute?iters=20000", "expect": {"sameAcrossVariants": true}},
        ],
        "sweeps": {
            "warmLatency": {"requests": 300},
            "throughput": {"connections": [10, 50], "durationSeconds": 2},
        },
    }))
}

/// A run with this spec.
pub fn run_with(spec: Value) -> RunInput {
    RunInput {
        namespace: "default".into(),
        name: "gateway-overhead".into(),
        uid: UID.into(),
        seed: 42,
        spec: serde_json::from_value::<BenchmarkRunSpec>(spec).expect("a spec"),
    }
}

/// One of the golden files.
pub fn fortio(name: &str) -> Value {
    let text = match name {
        "ok" => include_str!("../fixtures/fortio/ok.json"),
        "errors" => include_str!("../fixtures/fortio/errors.json"),
        "refused" => include_str!("../fixtures/fortio/refused.json"),
        _ => include_str!("../fixtures/fortio/exactly.json"),
    };
    serde_json::from_str(text).expect("a golden file")
}

/// The same window on a machine that is `factor` times as slow.
pub fn slower(mut fortio: Value, factor: f64) -> Value {
    let nanoseconds = fortio["ActualDuration"].as_i64().expect("a duration") as f64;
    #[allow(clippy::cast_possible_truncation)]
    let stretched = (nanoseconds * factor) as i64;
    fortio["ActualDuration"] = json!(stretched);
    for histogram in ["DurationHistogram", "ErrorsDurationHistogram"] {
        if let Some(sum) = fortio[histogram]["Sum"].as_f64() {
            fortio[histogram]["Sum"] = json!(sum * factor);
        }
        for bucket in fortio[histogram]["Data"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            for edge in ["Start", "End"] {
                bucket[edge] = json!(bucket[edge].as_f64().expect("an edge") * factor);
            }
        }
    }
    fortio
}

/// How a block differs from the others, so that spreads are not empty.
pub fn noise(variant: &str, block: u32) -> f64 {
    let own = match variant {
        "native" => 0.0,
        "baseline-twin" => 0.002,
        _ => 0.005,
    };
    1.0 + f64::from(block % 5) * (0.02 + own)
}

/// How much slower a variant is than native under a workload.
pub fn cost(cell: &Cell) -> f64 {
    let overhead = match (cell.variant.as_str(), cell.workload.as_str()) {
        ("native" | "baseline-twin", _) => 1.0,
        (_, "hello") => 1.9,
        _ => 1.03,
    };
    let work = if cell.workload == "compute" { 4.0 } else { 1.0 };
    let queue = match cell.point {
        Point::Throughput { connections } if connections > 10 => 1.0,
        _ => 1.25,
    };
    overhead * work * queue
}

/// A measured trial.
pub fn measured(trial: TrialId, position: u32) -> Record {
    let name = if trial.cell.point == Point::WarmLatency {
        "exactly"
    } else {
        "ok"
    };
    let factor = cost(&trial.cell) * noise(&trial.cell.variant, trial.block);
    let window = open_loop(trial.cell.point, factor);
    let fortio = Some(slower(fortio(name), factor));
    let mut record = record(trial, position, Outcome::Measured, fortio);
    if let Some(timed) = record.document.as_mut().and_then(|d| d.timed.as_mut()) {
        timed.open_loop = window;
    }
    record
}

/// What a load on a schedule takes on a machine that is `factor` times as slow: three times as long from
/// the schedule as in service.
fn open_loop(point: Point, factor: f64) -> Option<OpenLoopWindow> {
    let Point::OpenLoop { percent_of_peak } = point else {
        return None;
    };
    Some(OpenLoopWindow {
        peak: Peak {
            rps: 20_000.0 / factor,
            duration_nanoseconds: 5_000_000_000,
        },
        connections: 50,
        requested_rps: 200.0 * f64::from(percent_of_peak) / factor,
        achieved_share: 0.9991,
        requests: 20_000,
        waited_share: 0.02,
        service: quantiles(factor),
        from_schedule: quantiles(3.0 * factor),
        generator_delay: quantiles(0.5),
    })
}

/// Percentiles of a service that answers in 100 us, times `factor`.
pub fn quantiles(factor: f64) -> Quantiles {
    Quantiles {
        p50_microseconds: 100.0 * factor,
        p90_microseconds: 150.0 * factor,
        p99_microseconds: 400.0 * factor,
        p999_microseconds: None,
        max_microseconds: 900.0 * factor,
    }
}

/// A trial that ended like this, with fortio's output if there was any.
pub fn record(trial: TrialId, position: u32, outcome: Outcome, fortio: Option<Value>) -> Record {
    let subject = SubjectFacts {
        pod: format!("wb-{position}"),
        pod_uid: format!("uid-{position}"),
        node: "bench-1".into(),
        image: format!("wasmbench/{}:0.1.0", trial.cell.variant),
        image_id: Some(format!("sha256:{}", trial.cell.variant)),
        runtime_class: None,
        node_facts: facts(&[
            ("kubelet", "v1.33.4"),
            ("containerRuntime", "containerd://2.1.4"),
            ("osImage", "Debian GNU/Linux 13"),
        ]),
    };
    Record {
        schema: RECORD_SCHEMA.into(),
        run_uid: UID.into(),
        document: fortio.map(|fortio| document(&trial.cell, fortio, began_at(position))),
        trial,
        position,
        outcome,
        operator_version: "0.1.0".into(),
        recorded_at: recorded_at(position),
        subject: Some(subject),
        duet_subject: None,
        cold_start: None,
        density: None,
    }
}

/// When the record of a trial was stored: one every half minute.
pub fn recorded_at(position: u32) -> Timestamp {
    let seconds = 1_767_607_200 + 30 * (i64::from(position) + 1);
    Timestamp::from_second(seconds).expect("a time of this century")
}

/// When its timed window began, in nanoseconds since 1970.
fn began_at(position: u32) -> i64 {
    (recorded_at(position).as_second() - 12) * 1_000_000_000
}

fn document(cell: &Cell, fortio: Value, began_at: i64) -> LoadDocument {
    let nanoseconds = fortio["ActualDuration"].as_u64().expect("a duration");
    let answer = Answer {
        status: 200,
        body_bytes: 5,
        body_sha256: format!(
            "{:0<64}",
            if cell.workload == "hello" { "ab" } else { "cd" }
        ),
        excerpt: cell.workload.clone(),
    };
    let memory = if ["native", "baseline-twin"].contains(&cell.variant.as_str()) {
        4_321_280
    } else {
        21_823_488
    };
    LoadDocument {
        schema: LOAD_SCHEMA.into(),
        probe_version: "0.1.0".into(),
        fortio_version: "1.68.2".into(),
        failure: None,
        readiness: Readiness {
            waited_microseconds: 81_234,
            attempts: 3,
        },
        answer_before: Some(answer.clone()),
        answer_after: Some(answer),
        warmup: None,
        timed: Some(TimedWindow {
            start_unix_nanoseconds: began_at,
            duration_nanoseconds: nanoseconds,
            resolution_seconds: 0.000_01,
            subject: Some(Meter {
                cgroup_version: 2,
                cpu_nanoseconds: nanoseconds / 10 * 9,
                memory_bytes: memory + 4096 * u64::from(cell.point != Point::WarmLatency),
                memory_peak_bytes: Some(9 * memory),
                throttled_periods: Some(0),
                cpu_user_nanoseconds: Some(nanoseconds / 10 * 6),
                cpu_system_nanoseconds: Some(nanoseconds / 10 * 3),
                pause: Some(Pause {
                    cpu_nanoseconds: 0,
                    memory_bytes: 200 << 10,
                }),
                processes: Some(Processes {
                    count: 1,
                    proportional_bytes: Some(memory / 2),
                    switches: Some(Switches {
                        voluntary: nanoseconds / 100_000,
                        involuntary: nanoseconds / 10_000_000,
                        threads_ended: 0,
                    }),
                }),
                outside: Some(Outside {
                    processes: 1,
                    cpu_nanoseconds: nanoseconds / 1000,
                    resident_bytes: 12 << 20,
                    anonymous_bytes: 4 << 20,
                }),
                ..Meter::default()
            }),
            generator_cpu_nanoseconds: Some(nanoseconds / 10 * 7),
            node: Some(NodeCpu {
                busy_nanoseconds: nanoseconds / 10 * 17,
                ..NodeCpu::default()
            }),
            fortio,
            ..TimedWindow::default()
        }),
        cpus: Some(CpuLists {
            subject: Some("0-1".into()),
            generator: Some("0-1".into()),
            cpus_disjoint: Some(false),
        }),
        generator_ceiling: None,
        engine: None,
        environment: Environment {
            facts: facts(&[
                ("kernel", "6.12.41"),
                ("cpuModel", "Example CPU @ 3.00GHz"),
                ("cpus", "0-1"),
                ("governor", "performance"),
                ("cgroupVersion", "2"),
            ]),
            ..Environment::default()
        },
        duet: None,
    }
}

/// Facts as a map.
pub fn facts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// Every trial of a run, unshuffled.
pub fn trials(run: &RunInput) -> Vec<TrialId> {
    let cells = wasmbench_core::validate::cells_of(&wasmbench_core::twin::with_twin(&run.spec));
    (1..=run.spec.blocks)
        .flat_map(|block| {
            cells.iter().map(move |cell| TrialId {
                cell: cell.clone(),
                block,
            })
        })
        .collect()
}

/// A measured record for every trial of a run.
pub fn all_measured(run: &RunInput) -> Vec<Record> {
    trials(run)
        .into_iter()
        .zip(0..)
        .map(|(trial, position)| measured(trial, position))
        .collect()
}

/// Replaces the records of the trials that `which` picks.
pub fn replace(
    records: &mut [Record],
    which: impl Fn(&TrialId) -> bool,
    with: impl Fn(TrialId, u32) -> Record,
) {
    for record in records.iter_mut().filter(|record| which(&record.trial)) {
        *record = with(record.trial.clone(), record.position);
    }
}

/// A failed outcome.
pub fn failed(reason: &str, message: &str) -> Outcome {
    Outcome::Failed {
        reason: reason.into(),
        message: message.into(),
    }
}

/// A skipped outcome.
pub fn skipped(reason: &str, message: &str) -> Outcome {
    Outcome::Skipped {
        reason: reason.into(),
        message: message.into(),
    }
}
