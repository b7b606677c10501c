//! The Job of a density trial. Like a cold-start probe, and with the same service account, its
//! probe creates the pods under test itself; it then reads their memory.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::PodSpec;
use wasmbench_api::density::Density;
use wasmbench_api::run::Workload;
use wasmbench_model::wire::cold_start::{ColdStartRequest, SCALE_DOWN_SECONDS};
use wasmbench_model::wire::density::{DensityRequest, LOAD_SECONDS};
use wasmbench_model::wire::record::TrialId;

use crate::build::cold_start_job::Place;
use crate::build::probe_job::{self, DENSITY_COMMAND, pod_spec};
use crate::build::{bodies, cold_start_job, names};
use crate::config::OperatorConfig;
use crate::validate::{ValidatedRun, ValidatedVariant};

/// Seconds allowed for the probe to start and to connect.
const MARGIN_SECONDS: u32 = 60;

/// The Job of `trial`.
pub fn density_job(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    workload: &Workload,
    trial: &TrialId,
    place: Place<'_>,
    config: &OperatorConfig,
) -> Job {
    let node = place.node;
    let mut start = cold_start_job::request(run, variant, workload, trial, place);
    if let Some(scaled) = &mut start.scaled {
        cold_start_job::allow(scaled, config);
    }
    let request = request(run, start, config);
    let deadline = deadline(&request);
    let spec = PodSpec {
        service_account_name: Some(config.cold_start_service_account.clone()),
        automount_service_account_token: Some(true),
        ..pod_spec(run, node, DENSITY_COMMAND, &request, config)
    };
    let spec = bodies::mounted(spec, &names::probe(run, trial), &[workload]);
    probe_job::job(probe_job::meta(run, trial, config), deadline, spec)
}

fn request(run: &ValidatedRun, start: ColdStartRequest, config: &OperatorConfig) -> DensityRequest {
    // A density trial exists only when its sweep does; the defaults keep the builder total.
    let sweep = run.spec.sweeps.density.clone();
    let stop = sweep
        .as_ref()
        .map(|sweep| sweep.stop.clone())
        .unwrap_or_default();
    DensityRequest {
        start: ColdStartRequest {
            timeout_seconds: stop.timeout_seconds,
            ..start
        },
        instances: sweep.as_ref().map_or(vec![1], Density::ladder),
        requests: sweep.map_or(10, |sweep| sweep.requests),
        available_memory_percent: stop.available_memory_percent,
        meter: config.meter,
    }
}

/// Seconds after which the Job is stopped: enough for every step to use up its time.
fn deadline(request: &DensityRequest) -> u32 {
    let rungs = u32::try_from(request.instances.len()).unwrap_or(u32::MAX);
    // The pod that hosts functions comes up first.
    let steps = rungs.saturating_add(u32::from(request.start.shares_pod()));
    let step = request.start.timeout_seconds + LOAD_SECONDS;
    steps.saturating_mul(step) + SCALE_DOWN_SECONDS + MARGIN_SECONDS
}
