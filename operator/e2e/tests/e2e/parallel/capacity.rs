//! An open loop with a target: each trial climbs a ladder of rates in one pod, ends two rungs above
//! what the subject can do, and the capacity is compared and gated like any other measure.

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions::PASSED;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::ladder::{self, Outcome};
use wasmbench_model::wire::document::Rung;
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_model::wire::request::Target;

/// Answers after 2 ms on one connection: 500 requests per second at most, whatever others use of the
/// CPU, and less on a busy machine. The second rung is far above it.
const SLEEPING: &str = r"
blocks: 3
seed: 1
noiseFloor: false
variants:
- {name: one, preset: native}
- {name: other, preset: native}
workloads: [{name: sleep, path: '/sleep?ms=2'}]
sweeps:
  openLoop:
    target: {p99: 3000ms}
    rates: [200, 1500, 2000, 3000, 4000]
    connections: 1
    durationSeconds: 2
    warmupSeconds: 1
";

const RUNGS: [f64; 5] = [200.0, 1500.0, 2000.0, 3000.0, 4000.0];

const TARGET: Target = Target {
    p99_microseconds: 3e6,
    max_error_share: 0.0,
};

/// A gate on the capacity of equals.
fn gate(at_least: &str) -> String {
    format!(
        "expectations: [{{name: capacity, metric: capacity, variant: other, workload: sleep, \
         atLeast: '{at_least}'}}]\n"
    )
}

/// Checks that a climb has the rungs of the ladder, in their order, and none beyond the second that missed
/// the target.
fn check(record: &Record) {
    assert_eq!(record.trial.cell.point, Point::Capacity);
    let document = record.load().expect("a document");
    assert_eq!(document.failure, None, "{}", record.trial);
    let (between, rungs): (Vec<&Rung>, Vec<&Rung>) =
        document.rungs.iter().partition(|rung| rung.between);
    let rates: Vec<f64> = rungs.iter().map(|rung| rung.requested_rps).collect();
    let halved: Vec<f64> = between.iter().map(|rung| rung.requested_rps).collect();
    println!("{}: {rates:?}, then {halved:?}", record.trial);
    assert_eq!(rates, RUNGS[..rungs.len()], "{}", record.trial);
    let rungs: Vec<Rung> = rungs.into_iter().cloned().collect();
    let outcomes = ladder::outcomes(&rungs, TARGET);
    assert!(ladder::is_over(&outcomes), "{outcomes:?}");
    let before = &outcomes[..rungs.len() - 1];
    assert!(!ladder::is_over(before), "{outcomes:?}");
    let missed = outcomes.iter().filter(|one| **one == Outcome::Missed);
    assert!(missed.count() >= 2, "{outcomes:?}");
    assert_eq!(
        u32::try_from(halved.len()),
        Ok(ladder::BETWEEN),
        "{halved:?}"
    );
    assert!(
        halved.iter().all(|rate| (200.0..1500.0).contains(rate)),
        "{halved:?}"
    );
}

async fn finished(client: &Client, namespace: &str, name: &str, least: &str) -> BenchmarkRun {
    let spec = format!("{SLEEPING}{}", gate(least));
    runs::create(client, namespace, name, &spec).await;
    runs::finished(client, namespace, name, 420).await
}

#[tokio::test]
async fn a_trial_climbs_until_two_rungs_above_its_capacity_and_a_gate_judges_it() {
    with_namespace("capacity", |client, namespace| async move {
        let (passes, fails) = tokio::join!(
            finished(&client, &namespace, "passes", "0.1"),
            finished(&client, &namespace, "fails", "10"),
        );
        for (run, expected) in [(&passes, "True"), (&fails, "False")] {
            let gate = runs::condition(run, PASSED).expect("a gate");
            println!("{}", gate.message);
            assert_eq!(gate.status, expected, "{gate:?}");
            assert!(
                gate.message.contains("capacity of other on sleep"),
                "{gate:?}"
            );
        }
        let records = runs::records(&client, &passes).await;
        assert_eq!(records.len(), 6);
        records.iter().for_each(check);

        let status = passes.status.as_ref().expect("a status");
        let row = status.summary.iter().find(|row| row.variant == "other");
        let found = row
            .and_then(|row| row.capacity.as_ref())
            .expect("a capacity");
        println!("{found:?}");
        assert!((found.target_p99_microseconds - 3e6).abs() < 1e-9);
        assert!(
            found.rungs.len() >= 2 && found.judged.is_some(),
            "{found:?}"
        );
        let shown = kubectl(&["wasmbench", "get", "passes", "-n", &namespace]).await;
        println!("{}", shown.stdout);
        for text in ["CAPACITY", "capacity*", "3.00 s"] {
            assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
        }
        let report = kubectl(&["wasmbench", "report", "passes", "-n", &namespace]).await;
        assert!(
            report.stdout.contains("## Capacity at a p99 of 3.00 s"),
            "{}",
            report.stdout
        );
        // Three blocks are too few to be trusted; `make selftest` has the codes of trusted gates.
        let gate = kubectl(&["wasmbench", "get", "fails", "-n", &namespace, "--watch"]).await;
        assert_eq!(gate.code, Some(3), "{gate:?}");
        let uid = passes.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}
