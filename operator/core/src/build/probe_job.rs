//! The Job that measures one trial. It runs in the operator's namespace, where the author of the
//! run cannot reach it, takes data only, and is never silently repeated.

use std::collections::BTreeMap;
use std::net::IpAddr;

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Container, EnvVar, HostPathVolumeSource, PodSpec, PodTemplateSpec, SecurityContext, Volume,
    VolumeMount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Serialize;
use wasmbench_api::labels;
use wasmbench_api::open_loop::OpenLoop;
use wasmbench_api::run::{ConnectionReuse, Expectation, PROBE_USER, Sweeps, Workload};
use wasmbench_model::containers;
use wasmbench_model::images::PROBE;
use wasmbench_model::ladder;
use wasmbench_model::points::{self, target_of};
use wasmbench_model::wire::record::{Point, TrialId};
use wasmbench_model::wire::request::{
    CGROUP_MOUNT, Ladder, Load, LoadRequest, MeterLevel, PROC_MOUNT, REQUEST_ENV,
};
use wasmbench_model::wire::sent::{MixPart, Sent};

use crate::build::{bodies, foreign_meta, names, payload, pod, with_trial};
use crate::config::OperatorConfig;
use crate::subject::action_call;
use crate::validate::{ValidatedRun, ValidatedVariant};

/// Annotation of the Job: uid of the pod that it measures.
pub const SUBJECT_UID: &str = "wasmbench.dev/subject-uid";
/// The probe's command for loads.
const LOAD_COMMAND: &str = "load";
/// The probe's command for cold starts; the admission policies allow a token only for this command
/// and the next one.
pub const COLD_START_COMMAND: &str = "cold-start";
/// The probe's command for density, which also has a token.
pub const DENSITY_COMMAND: &str = "density";
/// The probe's command for scouts.
pub const SCOUT_COMMAND: &str = "scout";
/// Seconds after which a finished Job is removed, in case its operator never comes back.
const TTL_SECONDS: i32 = 24 * 3600;
/// Seconds allowed for everything except waiting and load, such as start and calibration. Repeats
/// are counted separately.
const MARGIN_SECONDS: u32 = 60;
/// Seconds allowed for a fixed number of requests, whose duration is not known in advance.
const REQUESTS_SECONDS: u32 = 600;

/// What a probe is pointed at.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The node of both pods.
    pub node: &'a str,
    /// Uid of the subject's pod.
    pub subject_uid: &'a str,
    /// Its address.
    pub address: IpAddr,
    /// Uid of the echo server's pod, if the workload has one.
    pub upstream_uid: Option<&'a str>,
    /// Ids of the subject's containers by their names, if somebody else has made it.
    pub containers: Option<&'a BTreeMap<String, String>>,
    /// Uids of the companions' pods, if the run names some.
    pub companion_uids: Option<&'a [String]>,
    /// The rates of an open-loop trial, in requests per second and in ascending order.
    pub requested_rps: &'a [f64],
}

/// The probe Job of `trial`.
pub fn probe_job(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    target: Target<'_>,
    config: &OperatorConfig,
) -> Job {
    let request = request(run, variant, workload, trial, target, config);
    let mut meta = meta(run, trial, config);
    let annotations = meta.annotations.get_or_insert_default();
    annotations.insert(SUBJECT_UID.into(), target.subject_uid.to_owned());
    let spec = pod_spec(run, target.node, LOAD_COMMAND, &request, config);
    let spec = bodies::mounted(spec, &names::probe(run, trial), &[workload]);
    job(meta, deadline(&request), spec)
}

/// The `job` that measures `trial` once more. The first one is still there.
pub fn again(mut job: Job, run: &ValidatedRun, trial: &TrialId) -> Job {
    let name = names::probe_again(run, trial);
    let spec = job.spec.as_mut();
    if let Some(pod) = spec.and_then(|spec| spec.template.spec.as_mut()) {
        bodies::renamed(pod, &name);
    }
    job.metadata.name = Some(name);
    job
}

/// Metadata of the Job of `trial`.
pub(super) fn meta(run: &ValidatedRun, trial: &TrialId, config: &OperatorConfig) -> ObjectMeta {
    let name = names::probe(run, trial);
    let namespace = &config.operator_namespace;
    let meta = foreign_meta(run, name, labels::COMPONENT_PROBE, namespace);
    with_trial(meta, trial)
}

/// A Job that runs this pod once, for at most `deadline_seconds`.
pub(super) fn job(meta: ObjectMeta, deadline_seconds: u32, spec: PodSpec) -> Job {
    let template_meta = pod::undisturbed(ObjectMeta {
        labels: meta.labels.clone(),
        annotations: meta.annotations.clone(),
        ..ObjectMeta::default()
    });
    Job {
        metadata: meta,
        spec: Some(JobSpec {
            backoff_limit: Some(0),
            active_deadline_seconds: Some(i64::from(deadline_seconds)),
            ttl_seconds_after_finished: Some(TTL_SECONDS),
            template: PodTemplateSpec {
                metadata: Some(template_meta),
                spec: Some(spec),
            },
            ..JobSpec::default()
        }),
        status: None,
    }
}

fn request(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    target: Target<'_>,
    config: &OperatorConfig,
) -> LoadRequest {
    let sweeps = &run.spec.sweeps;
    // A trial of a load exists only when its sweep does; this keeps the builder total.
    let (connections, connection_reuse) =
        points::connections_of(sweeps, trial.cell.point).unwrap_or((1, ConnectionReuse::default()));
    LoadRequest {
        address: target.address,
        port: variant.subject.port,
        scheme: variant.subject.scheme,
        sent: Sent::from_workload(workload, run.seed),
        mix: MixPart::all_of(workload, run.seed),
        action: action_call(&variant.subject, workload),
        ready: variant.subject.ready.clone(),
        expect: first_expectation(workload),
        may_fail: workload.max_error_share.is_some(),
        body_prefix: variant.subject.body_prefix.to_owned(),
        pod_uid: target.subject_uid.to_owned(),
        upstream_uid: target.upstream_uid.map(str::to_owned),
        containers: target.containers.cloned().unwrap_or_default(),
        companion_uids: target.companion_uids.map(<[String]>::to_vec),
        connections,
        connection_reuse,
        load: load(sweeps, trial.cell.point, target.requested_rps),
        ladder: ladder(sweeps, workload, trial.cell.point, target.requested_rps),
        payload: payload::request(run, trial.cell.point),
        ready_timeout_seconds: run.spec.subject_ready_timeout_seconds,
        meter: config.meter,
        noise: config.noise,
        calibrate_generator: calibrates(trial),
        engine_path: variant.subject.engine_path.map(str::to_owned),
        counts_instances: variant.subject.counts_instances,
    }
}

/// What the answer to the request, or to the first of a mix, must be.
pub(super) fn first_expectation(workload: &Workload) -> Expectation {
    let first = workload.requests.first().map(|one| &one.expect);
    first.unwrap_or(&workload.expect).clone()
}

/// Whether `trial` measures the load generator's ceiling. The ceiling belongs to the node, not to
/// the variant: measuring it in the first block is enough, and the other blocks take no extra time.
/// A warm-latency trial hardly loads the generator.
pub fn calibrates(trial: &TrialId) -> bool {
    matches!(trial.cell.point, Point::Throughput { .. }) && trial.block == 1
}

/// The load of a point. An open loop without a rate is not planned; the probe refuses a rate of 0.
fn load(sweeps: &Sweeps, point: Point, requested_rps: &[f64]) -> Load {
    match point {
        // The others are not loads: their Jobs are built elsewhere, and naming them here keeps the
        // builder total.
        Point::WarmLatency | Point::ColdStart { .. } | Point::Density | Point::Scout => {
            let sweep = sweeps.warm_latency;
            Load::Requests {
                requests: sweep.and_then(|sweep| sweep.requests),
                warmup_requests: sweep.map_or(0, |sweep| sweep.warmup_requests),
            }
        }
        Point::Throughput { .. } => {
            let sweep = sweeps.throughput.as_ref();
            Load::Duration {
                seconds: sweep.map_or(1, |sweep| sweep.duration_seconds),
                warmup_seconds: sweep.map_or(0, |sweep| sweep.warmup_seconds),
            }
        }
        Point::OpenLoop { .. } => {
            let sweep = sweeps.open_loop.as_ref();
            Load::OpenLoop {
                requested_rps: requested_rps.first().copied().unwrap_or_default(),
                seconds: sweep.map_or(1, |sweep| sweep.duration_seconds),
                warmup_seconds: sweep.map_or(0, |sweep| sweep.warmup_seconds),
            }
        }
        Point::Capacity => {
            let sweep = sweeps.open_loop.as_ref();
            Load::OpenLoop {
                requested_rps: requested_rps.first().copied().unwrap_or_default(),
                seconds: sweep.map_or(1, |sweep| ladder_seconds(sweep, requested_rps)),
                warmup_seconds: sweep.map_or(0, |sweep| sweep.warmup_seconds),
            }
        }
        Point::Payload => payload::load(sweeps),
    }
}

/// Seconds of all rungs together, and of the rates between two of them, which take as long as the rung at
/// three quarters of the ladder, below which the baseline's capacity is not expected. Where they take
/// longer, the probe leaves out those for which there is no time.
pub fn ladder_seconds(sweep: &OpenLoop, rates: &[f64]) -> u32 {
    let rung = |rps: &f64| ladder::seconds(*rps, sweep.connections, sweep.duration_seconds);
    let between = rates.get(rates.len() * 3 / 4).map_or(0, rung);
    rates.iter().map(rung).sum::<u32>() + ladder::BETWEEN * between
}

/// The ladder of a point; `None` for a load of one window.
fn ladder(
    sweeps: &Sweeps,
    workload: &Workload,
    point: Point,
    requested_rps: &[f64],
) -> Option<Ladder> {
    let sweep = sweeps
        .open_loop
        .as_ref()
        .filter(|_| point == Point::Capacity)?;
    Some(Ladder {
        rates: requested_rps.to_vec(),
        seconds: sweep.duration_seconds,
        target: target_of(sweep, workload)?,
    })
}

/// Seconds after which the Job is stopped. The timed window may run three times: it is repeated
/// when the histogram's resolution did not fit, and when the node was noisy. A warm-up may take
/// three times its length, until the rate has settled.
fn deadline(request: &LoadRequest) -> u32 {
    let load = match request.load {
        Load::Requests { .. } => REQUESTS_SECONDS,
        Load::Duration {
            seconds,
            warmup_seconds,
        } => 3 * (seconds + warmup_seconds),
        // It never needs a repeat for the resolution, but a subject that cannot keep up takes
        // longer: the probe allows twice the time.
        Load::OpenLoop {
            seconds,
            warmup_seconds,
            ..
        } => 3 * warmup_seconds + 4 * seconds,
    };
    request.ready_timeout_seconds + load + MARGIN_SECONDS
}

/// The pod of the probe that carries out `command` on `node`, and sees of it what may be metered.
pub(super) fn pod_spec(
    run: &ValidatedRun,
    node: &str,
    command: &str,
    request: &impl Serialize,
    config: &OperatorConfig,
) -> PodSpec {
    let placement = run.spec.placement.clone().unwrap_or_default();
    let (volumes, mounts) = host_mounts(config.meter);
    let text = serde_json::to_string(request).unwrap_or_default();
    PodSpec {
        containers: vec![Container {
            volume_mounts: mounts,
            ..container(command, &text, config)
        }],
        volumes,
        ..pod::restricted(node, &placement)
    }
}

/// The probe's container for one of its commands.
pub(super) fn container(command: &str, request: &str, config: &OperatorConfig) -> Container {
    Container {
        name: containers::PROBE.into(),
        image: Some(config.images.reference(PROBE).to_owned()),
        image_pull_policy: Some(config.images.pull_policy.clone()),
        args: Some(vec![command.to_owned()]),
        env: Some(vec![EnvVar {
            name: REQUEST_ENV.into(),
            value: Some(pod::literal(request)),
            value_from: None,
        }]),
        resources: Some(pod::resources(
            &config.probe.cpu,
            &config.probe.memory,
            &config.probe.memory,
        )),
        security_context: Some(SecurityContext {
            run_as_user: Some(PROBE_USER),
            run_as_group: Some(PROBE_USER),
            ..pod::locked_down(true)
        }),
        ..Container::default()
    }
}

/// Read-only views of the node, as far as the administrator allows.
fn host_mounts(meter: MeterLevel) -> (Option<Vec<Volume>>, Option<Vec<VolumeMount>>) {
    if meter == MeterLevel::None {
        return (None, None);
    }
    let paths = [
        ("cgroup", "/sys/fs/cgroup", CGROUP_MOUNT),
        ("proc", "/proc", PROC_MOUNT),
    ];
    let volume = |(name, path, _): &(&str, &str, &str)| Volume {
        name: (*name).to_owned(),
        host_path: Some(HostPathVolumeSource {
            path: (*path).to_owned(),
            type_: Some("Directory".into()),
        }),
        ..Volume::default()
    };
    let mount = |(name, _, mount_path): &(&str, &str, &str)| VolumeMount {
        name: (*name).to_owned(),
        mount_path: (*mount_path).to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    };
    (
        Some(paths.iter().map(volume).collect()),
        Some(paths.iter().map(mount).collect()),
    )
}
