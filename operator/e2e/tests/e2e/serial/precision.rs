//! Runs that plan how many blocks narrow intervals take.

use wasmbench_api::status::ReachedPrecision;
use wasmbench_api::{BenchmarkRun, conditions};
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::processes::{operator, send_signal};
use wasmbench_e2e::runs;

/// CPU per request and memory of short windows may or may not be close to a wide target from the
/// beginning: either way the run reports which of the two ended it.
const PRECISE: &str = r"
blocks: 5
seed: 1
noiseFloor: false
precision: {targetRelativeInterval: 10%, maxBlocks: 10}
variants:
- {name: native, preset: native}
- {name: same, preset: native}
workloads: [{name: hello, expect: {body: hello}}]
sweeps:
  throughput: {connections: [4], durationSeconds: 1, warmupSeconds: 0}
";

/// Asserts that the run's blocks and its widest interval agree with what ended it. The run plans once,
/// so that its widest interval may miss the target where the first blocks lay close together.
fn check_outcome(run: &BenchmarkRun, reached: &ReachedPrecision) {
    match (&*reached.outcome, reached.widest_relative_interval) {
        ("PreciseEnough", Some(widest)) => {
            assert!(reached.blocks > 8 || widest <= 0.1, "{reached:?}");
        }
        ("BudgetSpent", Some(_)) => assert_eq!(reached.blocks, 10, "{reached:?}"),
        ("NothingToCompare", None) => {
            let trust = runs::condition(run, conditions::TRUSTWORTHY).expect("a condition");
            let why = "LoadGeneratorSaturated";
            assert!(trust.message.contains(why), "{reached:?}: {trust:?}");
        }
        other => panic!("{other:?}: {reached:?}"),
    }
}

#[tokio::test]
async fn a_precise_run_ends_when_precise_or_spent_whoever_dies_meanwhile() {
    with_namespace("precise", |client, namespace| async move {
        runs::create(&client, &namespace, "narrow", PRECISE).await;
        runs::recorded(&client, &namespace, "narrow", 5).await;
        let operator = operator().expect("the operator runs");
        assert!(send_signal("KILL", operator));
        let run = runs::finished(&client, &namespace, "narrow", 420).await;
        let status = run.status.as_ref().expect("a status");
        let reached = status.precision.as_ref().expect("a precision");
        println!("selftest: {}", reached.message);
        let records = runs::records(&client, &run).await;
        assert!((8..=10).contains(&reached.blocks), "{reached:?}");
        assert_eq!(records.len(), 2 * reached.blocks as usize);
        check_outcome(&run, reached);
        let succeeded = runs::condition(&run, conditions::SUCCEEDED).expect("a condition");
        // If the node was noisy in every trial, nothing else is reported.
        let is_nothing = succeeded.reason == "NothingMeasured" && runs::is_disturbed(&run);
        assert!(
            succeeded.message.contains(&reached.message) || is_nothing,
            "{succeeded:?}"
        );
        let report = kubectl(&["wasmbench", "report", "narrow", "-n", &namespace])
            .await
            .stdout;
        assert!(
            report.contains(&format!("Precision: {}", reached.message)),
            "{report}"
        );
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}
