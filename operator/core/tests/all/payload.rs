//! What a payload trial is given: the bodies in ascending order, from the run's seed, and time for all of them.

use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::wire::record::Point;
use wasmbench_model::wire::request::{Load, LoadRequest, Payload};

use crate::common;

fn run() -> ValidatedRun {
    let mut run = common::parse(common::RUN);
    run.spec.seed = Some(7);
    run.spec.workloads.truncate(1);
    let sweeps =
        "payload: {bytes: [65536, 0, 1024], path: /mirror, durationSeconds: 3, warmupSeconds: 1}";
    run.spec.sweeps = serde_yaml::from_str(sweeps).unwrap();
    validate(&run, &common::config()).unwrap()
}

/// What the probe of the run's first payload trial is given.
fn request(run: &ValidatedRun) -> LoadRequest {
    let mut order = run.order.iter();
    let trial = order
        .find(|trial| trial.cell.point == Point::Payload)
        .unwrap();
    let job = common::probe(run, trial, "uid");
    let pod = job.spec.unwrap().template.spec.unwrap();
    let env = pod.containers[0].env.clone().unwrap();
    serde_json::from_str(env[0].value.as_ref().unwrap()).unwrap()
}

#[test]
fn a_trial_sends_every_size_from_the_smallest_on_with_bodies_from_the_runs_seed() {
    let request = request(&run());
    let payload = Payload {
        path: "/mirror".into(),
        bytes: vec![0, 1024, 65_536],
        seed: 7,
        seconds: 3,
        warmup_seconds: 1,
    };
    assert_eq!(request.payload, Some(payload));
    assert_eq!(request.connections, 4);
}

#[test]
fn a_trial_has_time_for_all_sizes() {
    let run = run();
    let all = Load::Duration {
        seconds: 9,
        warmup_seconds: 3,
    };
    assert_eq!(request(&run).load, all);
}

#[test]
fn a_block_has_one_trial_for_each_variant() {
    let run = run();
    let first = run.order.iter().filter(|trial| trial.block == 1);
    let points: Vec<String> = first.map(|trial| trial.cell.point.to_string()).collect();
    assert_eq!(points.len(), run.spec.variants.len());
    assert!(points.iter().all(|point| point == "payload"), "{points:?}");
}
