//! Fixtures: a run as a user writes it, through the real `validate`.

mod fixtures;
mod nodes;

pub use fixtures::{RUN, config};
use k8s_openapi::api::batch::v1::Job;
pub use nodes::{demands, in_turn, lease, node, observed_run};
use proptest::prelude::*;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Precision;
use wasmbench_core::build::probe_job::{Target, probe_job};
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::scale::ScaleConfig;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::{Point, TrialId};

pub fn parse(text: &str) -> BenchmarkRun {
    serde_yaml::from_str(text).expect("the fixture is a run")
}

/// The configuration with the kinds of the chart in any namespace.
pub fn scaling_config() -> OperatorConfig {
    OperatorConfig {
        scale: ScaleConfig::assumed(),
        ..config()
    }
}

pub fn validated() -> ValidatedRun {
    validate(&parse(RUN), &config()).expect("the fixture is valid")
}

/// A subject of this uid, without an echo server.
pub fn target(subject_uid: &str) -> Target<'_> {
    Target {
        node: "bench-1",
        subject_uid,
        address: [10, 0, 0, 8].into(),
        upstream_uid: None,
        containers: None,
        companion_uids: None,
        requested_rps: &[],
    }
}

/// The Job of the probe of such a subject.
pub fn probe(run: &ValidatedRun, trial: &TrialId, subject_uid: &str) -> Job {
    let (variant, workload) = (run.variant(trial).unwrap(), run.workload(trial).unwrap());
    let target = target(subject_uid);
    probe_job(run, variant, workload, trial, target, &config())
}

/// A smaller run that plans how many blocks it takes, of at most `max_blocks`.
pub fn precise(seed: i64, max_blocks: u32) -> BenchmarkRun {
    let mut run = parse(RUN);
    run.spec.seed = Some(seed);
    run.spec.workloads.truncate(1);
    run.spec.sweeps.throughput = None;
    run.spec.precision = Some(Precision {
        target_relative_interval: Some("5%".into()),
        max_blocks,
    });
    run
}

pub fn validated_precise(seed: i64, max_blocks: u32) -> ValidatedRun {
    validate(&precise(seed, max_blocks), &config()).expect("the fixture is valid")
}

/// The same run with cold starts instead of loads.
pub fn cold() -> BenchmarkRun {
    let mut run = parse(RUN);
    let text = "coldStart: {samples: 3, concurrency: [1, 4], timeoutSeconds: 20}\n\
                warmLatency: {requests: 100}";
    run.spec.sweeps = serde_yaml::from_str(text).expect("the fixture is a list of sweeps");
    run
}

pub fn validated_cold() -> ValidatedRun {
    validate(&cold(), &config()).expect("the fixture is valid")
}

/// Any point of any sweep, within the bounds of the CRD.
pub fn points() -> impl Strategy<Value = Point> {
    prop_oneof![
        Just(Point::WarmLatency),
        Just(Point::Density),
        Just(Point::Capacity),
        Just(Point::Payload),
        Just(Point::Scout),
        (1u32..=64).prop_map(|concurrency| Point::ColdStart { concurrency }),
        (1u32..=2000).prop_map(|connections| Point::Throughput { connections }),
        (1u32..=99).prop_map(|percent| Point::OpenLoop {
            rate: Rate::PercentOfPeak(percent)
        }),
        (1u32..=200_000).prop_map(|rps| Point::OpenLoop {
            rate: Rate::Rps(rps)
        }),
    ]
}
