//! The Job of a cold-start trial. Its probe creates the pods under test itself, so that every
//! timestamp of a sample comes from the node's clock. Apart from density probes, no other pod holds
//! a token; its service account may do no more than this.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{
    Container, HostPathVolumeSource, Pod, PodSecurityContext, PodSpec, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_api::labels;
use wasmbench_api::run::{Expectation, Workload};
use wasmbench_model::wire::action::Instances;
use wasmbench_model::wire::cold_start::{
    ColdStartRequest, EVENT_SECONDS, IMAGE_REMOVAL_SECONDS, REMOVAL_SECONDS, SCALE_DOWN_SECONDS,
    ScaledObject, with_refills,
};
use wasmbench_model::wire::record::{Point, TrialId};
use wasmbench_model::wire::request::CONTAINERD_MOUNT;
use wasmbench_model::wire::sent::Sent;

use crate::build::probe_job::{self, COLD_START_COMMAND};
use crate::build::subject_pod::{cold_subject, floor_subject};
use crate::build::{bodies, component_selector, names, pod};
use crate::config::OperatorConfig;
use crate::scale::Scaled;
use crate::subject;
use crate::validate::{ValidatedRun, ValidatedVariant};

/// Seconds allowed for the probe to start and to connect.
const MARGIN_SECONDS: u32 = 60;

/// The number of samples of the harness's floor that count, in a trial that measures it. One more
/// is discarded before them.
pub const FLOOR_SAMPLES: u32 = 2;

/// Whether `trial` also measures the harness's floor: the baseline's trials under the run's first
/// workload do. One trial per block and concurrency is enough, because the floor depends on neither
/// variant nor workload. Functions in a shared pod have no floor: starting them does not involve
/// the harness's part in creating pods; nor does scaling an object.
pub fn has_floor(run: &ValidatedRun, trial: &TrialId) -> bool {
    let first = run.spec.workloads.first();
    let shares_pod = run
        .variant(trial)
        .and_then(|variant| variant.subject.actions)
        == Some(Instances::Modules);
    let variant = run.variant(trial);
    let is_scaled = variant.is_some_and(|variant| variant.subject.target.is_some());
    trial.cell.variant == run.baseline
        && !shares_pod
        && !is_scaled
        && first.is_some_and(|first| first.name == trial.cell.workload)
}

/// Where the pods of a trial come up, and what they need there.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The node.
    pub node: &'a str,
    /// The echo server's `address:port`, if the workload needs one.
    pub upstream: Option<&'a str>,
    /// The object that makes the pods, if the probe does not.
    pub scaled: Option<&'a Scaled>,
}

impl<'a> Place<'a> {
    /// A node on which the probe creates the pods itself.
    pub fn on(node: &'a str) -> Self {
        Self {
            node,
            upstream: None,
            scaled: None,
        }
    }
}

/// The Job of `trial`.
pub fn cold_start_job(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    place: Place<'_>,
    config: &OperatorConfig,
) -> Job {
    let node = place.node;
    let mut request = request(run, variant, workload, trial, place);
    if let Some(scaled) = &mut request.scaled {
        allow(scaled, config);
    }
    // What containerd knows of pods that somebody else makes is not looked at.
    let socket = containerd(config).filter(|_| place.scaled.is_none());
    request.containerd = socket.is_some();
    if has_floor(run, trial) {
        request.floor = Some(Box::new(floor(run, trial, node, &request, config)));
    }
    let deadline = deadline(&request);
    let text = serde_json::to_string(&request).unwrap_or_default();
    let placement = run.spec.placement.clone().unwrap_or_default();
    let (volumes, mounts) = socket.unzip();
    let restricted = pod::restricted(node, &placement);
    let security = PodSecurityContext {
        // The socket belongs to root's group; the user stays non-root.
        supplemental_groups: volumes.is_some().then(|| vec![0]),
        ..restricted.security_context.clone().unwrap_or_default()
    };
    let spec = PodSpec {
        containers: vec![Container {
            volume_mounts: mounts.map(|mount| vec![mount]),
            ..probe_job::container(COLD_START_COMMAND, &text, config)
        }],
        volumes: volumes.map(|volume| vec![volume]),
        security_context: Some(security),
        service_account_name: Some(config.cold_start_service_account.clone()),
        automount_service_account_token: Some(true),
        ..restricted
    };
    let spec = bodies::mounted(spec, &names::probe(run, trial), &[workload]);
    probe_job::job(probe_job::meta(run, trial, config), deadline, spec)
}

/// containerd's socket, if the administrator allows it. Whoever can talk to it is root on the node;
/// the read-only mount only keeps the socket itself from being replaced.
fn containerd(config: &OperatorConfig) -> Option<(Volume, VolumeMount)> {
    let name = "containerd";
    let volume = Volume {
        name: name.into(),
        host_path: Some(HostPathVolumeSource {
            path: config.containerd_socket.clone()?,
            type_: Some("Socket".into()),
        }),
        ..Volume::default()
    };
    let mount = VolumeMount {
        name: name.into(),
        mount_path: CONTAINERD_MOUNT.into(),
        read_only: Some(true),
        ..VolumeMount::default()
    };
    Some((volume, mount))
}

/// How the probe creates and queries a pod of `trial`.
pub(super) fn request(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    place: Place<'_>,
) -> ColdStartRequest {
    let sweep = run.spec.sweeps.cold_start.as_ref();
    let Place {
        node,
        upstream,
        scaled,
    } = place;
    let pod = match scaled {
        Some(_) => foreign(run, trial),
        None => cold_subject(run, variant, trial, node, upstream),
    };
    let own = || component_selector(&run.uid, labels::COMPONENT_COLD_SUBJECT);
    let concurrency = trial.cell.point.number().unwrap_or(1);
    ColdStartRequest {
        pod,
        selector: scaled.map_or_else(own, |scaled| scaled.selector.clone()),
        scaled: scaled.map(|scaled| object(scaled, node)),
        samples: sweep.map_or(1, |sweep| sweep.samples),
        // Density starts pods in the same way, but does not time them.
        class: sweep
            .filter(|_| matches!(trial.cell.point, Point::ColdStart { .. }))
            .map(|sweep| sweep.class)
            // What the node has of an image that somebody else chose is not looked at.
            .filter(|class| *class != ColdStartClass::Scaled),
        concurrency,
        timeout_seconds: sweep.map_or(1, |sweep| sweep.timeout_seconds),
        port: variant.subject.port,
        scheme: variant.subject.scheme,
        sent: Sent::from_workload(workload, run.seed),
        action: subject::action_call(&variant.subject, workload),
        ready: variant.subject.ready.clone(),
        expect: workload.expect.clone(),
        body_prefix: variant.subject.body_prefix.to_owned(),
        containerd: false,
        listening_line: variant.subject.listening_line.clone(),
        floor: None,
    }
}

/// What the probe needs of a pod that it does not create: the namespace, and what to call the first ones.
fn foreign(run: &ValidatedRun, trial: &TrialId) -> Pod {
    Pod {
        metadata: ObjectMeta {
            name: Some(names::cold_subject(run, trial)),
            namespace: Some(run.namespace.clone()),
            ..ObjectMeta::default()
        },
        ..Pod::default()
    }
}

fn object(scaled: &Scaled, node: &str) -> ScaledObject {
    let target = scaled.target.clone();
    ScaledObject {
        group: target.group,
        version: target.version,
        resource: target.resource,
        kind: target.kind,
        name: target.name,
        uid: scaled.uid.clone(),
        node: node.to_owned(),
        host_network: false,
        between: vec![],
    }
}

/// Adds what the administrator allows: the kinds are those by which the operator finds pods, too.
pub(super) fn allow(scaled: &mut ScaledObject, config: &OperatorConfig) {
    scaled.host_network = config.host_network;
    let kinds = config.scale.resources.iter().cloned();
    scaled.between = kinds
        .map(|one| [one.group, one.kind, one.resource])
        .collect();
}

/// The request for the floor alongside `measured`: the same concurrency, but few samples.
fn floor(
    run: &ValidatedRun,
    trial: &TrialId,
    node: &str,
    measured: &ColdStartRequest,
    config: &OperatorConfig,
) -> ColdStartRequest {
    let subject = subject::floor(&config.images);
    ColdStartRequest {
        selector: measured.selector.clone(),
        scaled: None,
        samples: FLOOR_SAMPLES,
        class: None,
        concurrency: measured.concurrency,
        timeout_seconds: measured.timeout_seconds,
        port: subject.port,
        scheme: subject.scheme,
        sent: Sent::get("/"),
        action: None,
        ready: None,
        expect: Expectation::default(),
        body_prefix: subject.body_prefix.to_owned(),
        containerd: measured.containerd,
        listening_line: subject.listening_line.clone(),
        pod: floor_subject(run, subject, trial, node),
        floor: None,
    }
}

/// Seconds after which the Job is stopped: enough for every sample to use up its time.
fn deadline(request: &ColdStartRequest) -> u32 {
    let removal = match request.scaled {
        Some(_) => SCALE_DOWN_SECONDS,
        None => REMOVAL_SECONDS,
    };
    let sample = request.timeout_seconds + removal;
    let floor = request.floor.as_ref().map_or(0, |floor| floor.samples + 1);
    let class = match request.class {
        Some(ColdStartClass::NodeCold) => IMAGE_REMOVAL_SECONDS + EVENT_SECONDS,
        Some(ColdStartClass::ImageCached | ColdStartClass::CompileCached) => EVENT_SECONDS,
        Some(ColdStartClass::Scaled) | None => 0,
    };
    // The pod that hosts functions takes as long to come and go as one more sample.
    let samples = with_refills(request.samples) + 1 + u32::from(request.shares_pod());
    samples * (sample + class) + floor * sample + MARGIN_SECONDS
}
