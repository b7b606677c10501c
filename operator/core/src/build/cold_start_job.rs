//! The Job of a trial of cold starts. Its probe creates the pods under test itself, so that every
//! moment of a sample comes from the node's clock. It is the only kind of pod that holds a token:
//! that of an account which may do no more than this.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use wasmbench_api::labels;
use wasmbench_api::run::{Expectation, Workload};

use super::probe_job::{self, COLD_START_COMMAND};
use super::subject_pod::{cold_subject, floor_subject};
use super::{component_selector, pod};
use crate::config::OperatorConfig;
use crate::plan::{FLOOR_SAMPLES, has_floor};
use crate::validate::{ValidatedRun, ValidatedVariant};
use crate::variants;
use crate::wire::cold_start::{ColdStartRequest, REMOVAL_SECONDS};
use crate::wire::record::{Point, TrialId};

/// Time for the start of the probe and for its connections.
const MARGIN_SECONDS: u32 = 60;

/// The Job of `trial` on `node`; `upstream` is the echo server's `address:port`, where the workload
/// asks for one.
pub fn cold_start_job(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    node: &str,
    upstream: Option<&str>,
    config: &OperatorConfig,
) -> Job {
    let pod = cold_subject(run, variant, trial, node, upstream);
    let mut request = request(run, variant, workload, trial, pod);
    if has_floor(run, trial) {
        request.floor = Some(Box::new(floor(run, trial, node, &request, config)));
    }
    let deadline = deadline(&request);
    let text = serde_json::to_string(&request).unwrap_or_default();
    let placement = run.spec.placement.clone().unwrap_or_default();
    let spec = PodSpec {
        containers: vec![probe_job::container(COLD_START_COMMAND, &text, config)],
        service_account_name: config.cold_start_service_account.clone(),
        automount_service_account_token: Some(true),
        ..pod::restricted(node, &placement)
    };
    probe_job::job(probe_job::meta(run, trial, config), deadline, spec)
}

/// How a pod of `trial` is created and asked.
pub(super) fn request(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    pod: Pod,
) -> ColdStartRequest {
    let sweep = run.spec.sweeps.cold_start.as_ref();
    let concurrency = match trial.cell.point {
        Point::ColdStart { concurrency } => concurrency,
        Point::WarmLatency | Point::Throughput { .. } | Point::Density => 1,
    };
    ColdStartRequest {
        pod,
        selector: component_selector(&run.uid, labels::COMPONENT_COLD_SUBJECT),
        samples: sweep.map_or(1, |sweep| sweep.samples),
        concurrency,
        timeout_seconds: sweep.map_or(1, |sweep| sweep.timeout_seconds),
        port: variant.subject.port,
        path: workload.path.clone(),
        expect: workload.expect.clone(),
        body_prefix: variant.subject.body_prefix.to_owned(),
        listening_line: variant.subject.listening_line.clone(),
        floor: None,
    }
}

/// The request for the floor beside `measured`: as many pods at once, and few samples.
fn floor(
    run: &ValidatedRun,
    trial: &TrialId,
    node: &str,
    measured: &ColdStartRequest,
    config: &OperatorConfig,
) -> ColdStartRequest {
    let subject = variants::floor(&config.images);
    ColdStartRequest {
        selector: measured.selector.clone(),
        samples: FLOOR_SAMPLES,
        concurrency: measured.concurrency,
        timeout_seconds: measured.timeout_seconds,
        port: subject.port,
        path: "/".into(),
        expect: Expectation::default(),
        body_prefix: subject.body_prefix.to_owned(),
        listening_line: subject.listening_line.clone(),
        pod: floor_subject(run, subject, trial, node),
        floor: None,
    }
}

/// Seconds after which the Job is stopped: every sample may use up its time.
fn deadline(request: &ColdStartRequest) -> u32 {
    let sample = request.timeout_seconds + REMOVAL_SECONDS;
    let floor = request.floor.as_ref().map_or(0, |floor| floor.samples + 1);
    (request.samples + 1 + floor) * sample + MARGIN_SECONDS
}
