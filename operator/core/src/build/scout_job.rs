//! The Job of a scout, which looks at a variant under all workloads before the first block. Like a
//! load's probe, it is given the address of a subject that the operator created.

use k8s_openapi::api::batch::v1::Job;
use wasmbench_api::open_loop::OpenLoop;
use wasmbench_api::run::Workload;
use wasmbench_model::wire::record::TrialId;
use wasmbench_model::wire::scout::{PeakLoad, ScoutRequest, ScoutWorkload};
use wasmbench_model::wire::sent::{MixPart, Sent};

use crate::build::probe_job::{
    self, SCOUT_COMMAND, SUBJECT_UID, Target, first_expectation, pod_spec,
};
use crate::build::{bodies, names};
use crate::config::OperatorConfig;
use crate::subject::action_call;
use crate::validate::{ValidatedRun, ValidatedVariant};

/// Seconds allowed for everything except waiting and asking.
const MARGIN_SECONDS: u32 = 60;
/// Seconds allowed for the answers of one workload, of which each may take five.
const WORKLOAD_SECONDS: u32 = 20;
/// Longest list of workloads as JSON, in bytes: Linux gives a process at most 128 KiB of one
/// environment variable.
const MAX_WORKLOADS_BYTES: usize = 96 * 1024;

/// The Job of the scout `trial`.
pub fn scout_job(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    trial: &TrialId,
    target: Target<'_>,
    config: &OperatorConfig,
) -> Job {
    let request = request(run, variant, trial, target, config);
    let mut meta = probe_job::meta(run, trial, config);
    let annotations = meta.annotations.get_or_insert_default();
    annotations.insert(SUBJECT_UID.into(), target.subject_uid.to_owned());
    let spec = pod_spec(run, target.node, SCOUT_COMMAND, &request, config);
    let spec = bodies::mounted(spec, &names::probe(run, trial), &run.workloads(trial));
    probe_job::job(meta, deadline(&request), spec)
}

fn request(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    trial: &TrialId,
    target: Target<'_>,
    config: &OperatorConfig,
) -> ScoutRequest {
    let subject = &variant.subject;
    let scout_workload = |workload: &&Workload| ScoutWorkload {
        name: workload.name.clone(),
        sent: Sent::from_workload(workload, run.seed),
        mix: MixPart::all_of(workload, run.seed),
        action: action_call(subject, workload),
        expect: first_expectation(workload),
        may_fail: workload.max_error_share.is_some(),
    };
    ScoutRequest {
        address: target.address,
        port: subject.port,
        scheme: subject.scheme,
        body_prefix: subject.body_prefix.to_owned(),
        ready: subject.ready.clone(),
        pod_uid: target.subject_uid.to_owned(),
        upstream_uid: target.upstream_uid.map(str::to_owned),
        companion_uids: target.companion_uids.map(<[String]>::to_vec),
        ready_timeout_seconds: run.spec.subject_ready_timeout_seconds,
        meter: config.meter,
        workloads: fitting(run.workloads(trial).iter().map(scout_workload)),
        peak: peak_load(run, trial, config),
    }
}

/// The load with which the scout `trial` finds the peaks, from which rates follow: only the
/// baseline's, and only if the spec states no rates.
fn peak_load(run: &ValidatedRun, trial: &TrialId, config: &OperatorConfig) -> Option<PeakLoad> {
    let sweep = run.spec.sweeps.open_loop.as_ref()?;
    finds_peaks(run, trial).then_some(PeakLoad {
        connections: sweep.connections,
        seconds: sweep.peak_seconds,
        warmup_seconds: sweep.warmup_seconds,
        noise: config.noise,
    })
}

/// Whether the scout `trial` measures the peaks.
pub fn finds_peaks(run: &ValidatedRun, trial: &TrialId) -> bool {
    let sweep = run.spec.sweeps.open_loop.as_ref();
    let needs_peak = sweep.is_some_and(OpenLoop::needs_peak);
    needs_peak && trial.is_scout() && trial.cell.variant == run.baseline
}

/// The workloads that fit into an environment variable: only expected bodies and bodies of several
/// kilobytes each could take more.
fn fitting(all: impl Iterator<Item = ScoutWorkload>) -> Vec<ScoutWorkload> {
    let mut left = MAX_WORKLOADS_BYTES;
    let mut fits = |workload: &ScoutWorkload| {
        let bytes = serde_json::to_string(workload).map_or(usize::MAX, |text| text.len());
        let rest = left.checked_sub(bytes);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    all.filter(|workload| fits(workload)).collect()
}

/// Seconds after which the Job is stopped. A noisy peak is measured twice, and its warm-up may take
/// three times its length, until the rate has settled; the probe allows some more.
fn deadline(request: &ScoutRequest) -> u32 {
    let workloads = u32::try_from(request.workloads.len()).unwrap_or(u32::MAX);
    let peak = request.peak.map_or(0, |peak| {
        3 * (peak.seconds + peak.warmup_seconds) + MARGIN_SECONDS
    });
    let each = workloads.saturating_mul(WORKLOAD_SECONDS + peak);
    request
        .ready_timeout_seconds
        .saturating_add(each)
        .saturating_add(MARGIN_SECONDS)
}
