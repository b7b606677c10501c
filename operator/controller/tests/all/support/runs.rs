//! The objects that the operator creates for the samples, as the API server sees them.

use k8s_openapi::api::batch::v1::Job;
use serde_json::Value;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{BodyFrom, Method};
use wasmbench_core::build::cold_start_job::{Place, cold_start_job};
use wasmbench_core::build::probe_job::{Target, probe_job};
use wasmbench_core::build::scout_job::scout_job;
use wasmbench_core::build::subject_pod::{cold_subject, subject_pod};
use wasmbench_core::build::upstream_pod::upstream_pod;
use wasmbench_core::config::{Limits, OperatorConfig, ProbeConfig};
use wasmbench_core::scale::ScaleConfig;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::images::{Images, RuntimeClasses};
use wasmbench_model::wire::record::{Point, TrialId};
use wasmbench_model::wire::request::{MeterLevel, NoiseRule};

use super::chart::{NAMESPACE, repository};

/// The configuration that the chart renders by default, but with `hostNetwork` enabled.
pub fn config(meter: MeterLevel) -> OperatorConfig {
    OperatorConfig {
        operator_namespace: NAMESPACE.into(),
        image_architectures: vec![],
        images: Images::in_registry("localhost/wasmbench", env!("CARGO_PKG_VERSION")),
        runtime_classes: RuntimeClasses::default(),
        meter,
        noise: NoiseRule::default(),
        limits: Limits::default(),
        probe: ProbeConfig::default(),
        cold_start_service_account: "wasmbench-cold-start".into(),
        containerd_socket: None,
        admission_policies: true,
        watch_namespaces: vec![],
        host_network: true,
        scale: ScaleConfig::default(),
    }
}

fn samples(config: &OperatorConfig) -> Vec<ValidatedRun> {
    let read = |name: &str| {
        let path = repository().join(format!("manifests/samples/{name}.yaml"));
        let run: BenchmarkRun =
            serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        validate(&run, config).unwrap()
    };
    ["quickstart", "gateway-overhead", "own-container"]
        .map(read)
        .into()
}

/// Subjects of all variants, and echo servers.
pub fn pods() -> Vec<Value> {
    let config = config(MeterLevel::Cgroup);
    let mut found = vec![];
    for run in samples(&config) {
        let warm = |trial: &&TrialId| trial.block == 1 && trial.cell.point == Point::WarmLatency;
        for trial in run.order.iter().filter(warm) {
            let variant = run.variant(trial).unwrap();
            let subject = subject_pod(&run, variant, trial, "node-1", Some("10.0.0.9:8080"));
            found.push(serde_json::to_value(subject).unwrap());
        }
        let upstream = upstream_pod(&run, &config.images, "node-1", 0);
        found.push(serde_json::to_value(upstream).unwrap());
    }
    found
}

fn cold_sample(config: &OperatorConfig) -> ValidatedRun {
    let path = repository().join("manifests/samples/cold-start.yaml");
    let mut run: BenchmarkRun =
        serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    // The API server sets both; the owner reference of a pod repeats the uid.
    run.metadata.uid = Some("6f0c0e6e-0000-4000-8000-000000000001".into());
    run.metadata.namespace = Some("team-a".into());
    validate(&run, config).unwrap()
}

/// Cold subjects of all variants, as their probe creates them.
pub fn cold_subjects() -> Vec<Value> {
    let config = config(MeterLevel::Cgroup);
    let run = cold_sample(&config);
    let first = run.order.iter().filter(|trial| trial.block == 1);
    first
        .map(|trial| {
            let variant = run.variant(trial).unwrap();
            let pod = cold_subject(&run, variant, trial, "node-1", None);
            serde_json::to_value(pod).unwrap()
        })
        .collect()
}

/// The first trial after the scouts.
fn first_measured(run: &ValidatedRun) -> &TrialId {
    let mut trials = run.order.iter();
    trials.find(|trial| !trial.is_scout()).unwrap()
}

/// The Job of a cold-start probe.
pub fn cold_job() -> Value {
    let config = config(MeterLevel::Cgroup);
    let run = cold_sample(&config);
    let trial = first_measured(&run);
    let (variant, workload) = (run.variant(trial).unwrap(), run.workload(trial).unwrap());
    let job = cold_start_job(&run, variant, workload, trial, Place::on("node-1"), &config);
    serde_json::to_value(job).unwrap()
}

/// The Job of a cold-start probe that is given containerd's socket.
pub fn cold_job_at_level_node() -> Value {
    let config = OperatorConfig {
        containerd_socket: Some("/run/containerd/containerd.sock".into()),
        ..config(MeterLevel::Cgroup)
    };
    let run = cold_sample(&config);
    let trial = first_measured(&run);
    let (variant, workload) = (run.variant(trial).unwrap(), run.workload(trial).unwrap());
    let job = cold_start_job(&run, variant, workload, trial, Place::on("node-1"), &config);
    serde_json::to_value(job).unwrap()
}

/// The Job of a density probe at this meter level.
pub fn density_job(meter: MeterLevel) -> Value {
    let config = config(meter);
    let path = repository().join("manifests/samples/density.yaml");
    let mut run: BenchmarkRun =
        serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    run.metadata.uid = Some("6f0c0e6e-0000-4000-8000-000000000001".into());
    run.metadata.namespace = Some("team-a".into());
    let run = validate(&run, &config).unwrap();
    let trial = first_measured(&run);
    let (variant, workload) = (run.variant(trial).unwrap(), run.workload(trial).unwrap());
    let job = wasmbench_core::build::density_job::density_job(
        &run,
        variant,
        workload,
        trial,
        Place::on("node-1"),
        &config,
    );
    serde_json::to_value(job).unwrap()
}

/// The scout and the first load of a run that sends a body from a `ConfigMap`.
pub fn jobs_with_a_body(meter: MeterLevel) -> Vec<Job> {
    let config = config(meter);
    let path = repository().join("manifests/samples/own-container.yaml");
    let mut run: BenchmarkRun =
        serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    run.spec.workloads[0].method = Method::Post;
    run.spec.workloads[0].body_from = Some(BodyFrom {
        config_map: "orders".into(),
        key: "small.json".into(),
    });
    let run = validate(&run, &config).unwrap();
    let (scout, trial) = (&run.order[0], first_measured(&run));
    let variant = |trial| run.variant(trial).unwrap();
    let workload = run.workload(trial).unwrap();
    vec![
        scout_job(&run, variant(scout), scout, target(), &config),
        probe_job(&run, variant(trial), workload, trial, target(), &config),
    ]
}

fn target() -> Target<'static> {
    Target {
        node: "node-1",
        subject_uid: "uid",
        address: [10, 0, 0, 8].into(),
        upstream_uid: None,
        containers: None,
        companion_uids: None,
        requested_rps: &[],
    }
}

/// The Jobs of scouts, and of probes of all workloads and points.
pub fn jobs(meter: MeterLevel) -> Vec<Value> {
    let config = config(meter);
    let mut found = vec![];
    for run in samples(&config) {
        let baseline = |trial: &&TrialId| trial.block <= 1 && trial.cell.variant == run.baseline;
        for trial in run.order.iter().filter(baseline) {
            let variant = run.variant(trial).unwrap();
            let job = match run.workload(trial) {
                Some(workload) => probe_job(&run, variant, workload, trial, target(), &config),
                None => scout_job(&run, variant, trial, target(), &config),
            };
            found.push(serde_json::to_value(job).unwrap());
        }
    }
    found
}
