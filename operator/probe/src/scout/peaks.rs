//! The subject's peak under each workload. Comes last: the load may end the subject, and what was
//! seen of it before stays.

use std::collections::BTreeMap;

use wasmbench_api::run::ConnectionReuse;
use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::open_loop::Peak;
use wasmbench_model::wire::request::{Load, LoadRequest};
use wasmbench_model::wire::scout::{PeakLoad, ScoutRequest, ScoutWorkload, Scouted};

use super::endpoint;
use crate::load::peak;
use crate::output::progress;
use crate::settings::Settings;

/// Adds the requested peaks to what was seen of each workload, or why there is none.
pub fn add(settings: &Settings, request: &ScoutRequest, observed: &mut [Scouted]) {
    let Some(load) = request.peak else { return };
    for (workload, scouted) in request.workloads.iter().zip(observed) {
        match find(settings, request, workload, load, scouted) {
            Ok(peak) => scouted.peak = Some(peak),
            Err(why) => {
                progress(&format!("no peak for {}: {why}", workload.name));
                scouted.no_peak = Some(why);
            }
        }
    }
}

fn find(
    settings: &Settings,
    request: &ScoutRequest,
    workload: &ScoutWorkload,
    load: PeakLoad,
    scouted: &Scouted,
) -> Result<Peak, String> {
    let answer = answered(scouted)?;
    let message = |failure: Failure| failure.message;
    let endpoint = endpoint(settings, request, workload).map_err(message)?;
    progress(&format!("measuring the peak of {}", workload.name));
    let closed = closed_loop(request, workload, load);
    peak::measure(settings, &closed, &endpoint.target, answer).map_err(message)
}

/// One of the answers, or why there is none that counts. Under load, any status may be among them:
/// the peak counts the expected ones.
fn answered(scouted: &Scouted) -> Result<&Answer, String> {
    if let Some(failure) = &scouted.failure {
        return Err(failure.message.clone());
    }
    let first = scouted.answers.first().map(|one| &one.answer);
    first.ok_or_else(|| {
        let why = scouted.not_asked.clone();
        why.unwrap_or_else(|| "the workload was not answered".to_owned())
    })
}

/// The load that finds the peak of `workload`.
fn closed_loop(request: &ScoutRequest, workload: &ScoutWorkload, load: PeakLoad) -> LoadRequest {
    LoadRequest {
        address: request.address,
        port: request.port,
        scheme: request.scheme,
        sent: workload.sent.clone(),
        mix: workload.mix.clone(),
        action: workload.action.clone(),
        ready: request.ready.clone(),
        expect: workload.expect.clone(),
        may_fail: workload.may_fail,
        body_prefix: request.body_prefix.clone(),
        pod_uid: request.pod_uid.clone(),
        upstream_uid: request.upstream_uid.clone(),
        containers: BTreeMap::new(),
        companion_uids: request.companion_uids.clone(),
        connections: load.connections,
        connection_reuse: ConnectionReuse::KeepAlive,
        load: Load::Duration {
            seconds: load.seconds,
            warmup_seconds: load.warmup_seconds,
        },
        ladder: None,
        payload: None,
        ready_timeout_seconds: request.ready_timeout_seconds,
        meter: request.meter,
        noise: load.noise,
        calibrate_generator: false,
        engine_path: None,
        counts_instances: false,
    }
}
