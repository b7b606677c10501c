//! Services as people run them, measured from end to end. What a run finds of `apis` and `pages`, a plain client finds,
//! too.

mod apis;
mod kinds;
mod pages;

use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::nodes::placement;
use wasmbench_e2e::plain_load::{CONNECTIONS, Figures, SECONDS};
use wasmbench_model::wire::record::Record;

/// How far the figures may be apart.
const APART: f64 = 0.15;

/// Half a CPU, so that a rate is that of the service, whatever the client costs.
fn limits() -> Value {
    json!({ "limits": { "cpu": "500m", "memory": "512Mi" } })
}

/// A run of one variant under one workload, whose warm latency is that of as many requests as answer in seconds.
fn spec(node: &str, variant: &Value, workload: &Value, requests: u32) -> Value {
    let placed: Value = serde_yaml::from_str(&placement(node)).expect("YAML");
    json!({
        "blocks": 2,
        "seed": 1,
        "noiseFloor": false,
        "placement": placed["placement"],
        "variants": [variant],
        "workloads": [workload],
        "sweeps": {
            "warmLatency": { "requests": requests, "warmupRequests": requests },
            "throughput": { "connections": [CONNECTIONS], "durationSeconds": SECONDS, "warmupSeconds": SECONDS },
        },
    })
}

/// What the run found of a variant.
fn found(run: &BenchmarkRun, variant: &str) -> Figures {
    let rows = &run.status.as_ref().expect("a status").summary;
    let row = rows.iter().find(|row| row.variant == variant);
    let row = row.expect("a row");
    let load = row.throughput.as_ref().expect("a load");
    let latency = row.warm_latency.as_ref().expect("a latency");
    Figures {
        per_second: load.points[0].rps,
        p50_microseconds: latency.p50_microseconds,
    }
}

/// What the plain client before and after the run does not confirm: a machine's speed changes within minutes.
fn unconfirmed(variant: &str, run: Figures, plain: &[Figures]) -> Vec<String> {
    println!("services: {variant}: {run:?}; a plain client: {plain:?}");
    let rates = plain.iter().map(|figures| figures.per_second);
    let medians = plain.iter().map(|figures| figures.p50_microseconds);
    let far = [
        far("requests/s", run.per_second, rates),
        far("p50 in us", run.p50_microseconds, medians),
    ];
    let far = far.into_iter().flatten();
    far.map(|what| format!("{variant}: {what}")).collect()
}

/// Says so if the figure is more than `APART` outside of the range of the others.
fn far(what: &str, figure: f64, others: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let low = others.clone().fold(f64::INFINITY, f64::min);
    let high = others.fold(0.0, f64::max);
    let expected = (1.0 - APART) * low..=(1.0 + APART) * high;
    (!expected.contains(&figure)).then(|| format!("{what}: {figure}, and expected {expected:?}"))
}

/// Every answer had this status.
fn assert_statuses(record: &Record, expected: &str) {
    let timed = record.load().and_then(|load| load.timed.as_ref());
    for part in timed.expect("a window").runs() {
        let codes = part["RetCodes"].as_object().expect("statuses");
        let codes: Vec<&str> = codes.keys().map(String::as_str).collect();
        assert_eq!(codes, [expected], "{}", record.trial);
    }
}
