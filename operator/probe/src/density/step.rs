//! What is measured at a step: the first instance under light load, then the memory of all. This
//! order keeps the first instance warm whenever memory is read.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use wasmbench_api::run::ConnectionReuse;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::density::{DensityMemory, DensityRequest, DensityStep, LOAD_SECONDS};
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request::{Load as Amount, MeterLevel, NoiseRule};

use super::stop;
use crate::cold_start::{Pods, failure};
use crate::generator::task::Load;
use crate::load::{Amounts, Bench};
use crate::meter::{NO_METER, PodMeter};
use crate::settings::Settings;
use crate::target::Target;
use crate::{cpus, environment};

/// Requests before the timed ones.
const WARMUP_REQUESTS: u32 = 100;
/// First estimate of the time per request, only for the limit of the warm-up.
const PER_REQUEST: Duration = Duration::from_millis(5);
/// How long all instances have been up when their memory is read. The kernel collects a cgroup's memory statistics
/// from all CPUs every two seconds; read in between, they may lack what a young instance has just allocated.
const SETTLING: Duration = Duration::from_millis(2_500);

/// Measures the step that added the pods from `from` on; also returns the version of fortio's runner. `first` is
/// the target of the first instance and the size of its answer.
pub fn measure(
    settings: &Settings,
    request: &DensityRequest,
    pods: &Pods,
    from: usize,
    first: (&Target, u64),
) -> Result<(DensityStep, String), Failure> {
    let lost = || failure(FailureReason::LoadFailed, "a step has no answer".into());
    let all_answered_nanoseconds = all_answered(pods, from).ok_or_else(lost)?;
    let (first, version) = load(settings, request, pods, first)?;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let step = DensityStep {
        instances: count(pods.timelines.len()),
        added: count(pods.timelines.len() - from),
        all_answered_nanoseconds,
        first,
        cpus: cpus::read(&settings.proc, pods.uid(0).unwrap_or_default()),
        memory: match request.meter {
            MeterLevel::None => None,
            MeterLevel::Cgroup => memory(settings, pods),
        },
        node_available_bytes: stop::node_memory(&settings.proc).map(|memory| memory.available),
    };
    Ok((step, version))
}

/// Loads the first instance on one connection.
fn load(
    settings: &Settings,
    request: &DensityRequest,
    pods: &Pods,
    (target, answer_bytes): (&Target, u64),
) -> Result<(TimedWindow, String), Failure> {
    let amounts = Amounts::from_load(Amount::Requests {
        requests: Some(request.requests),
        warmup_requests: WARMUP_REQUESTS,
    });
    let uid = pods.uid(0).unwrap_or_default();
    let bench = Bench {
        generator: &settings.generator,
        load: Load {
            target,
            parts: &[],
            status: request.start.expect.status,
            connections: 1,
            reuse: ConnectionReuse::KeepAlive,
            answer_bytes,
        },
        upstream: None,
        containers: vec![],
        companions: None,
        meter: match request.meter {
            MeterLevel::None => Err(NO_METER.to_owned()),
            MeterLevel::Cgroup => PodMeter::find(&settings.cgroup, &settings.proc, uid)
                .ok_or_else(|| format!("pod {uid} has no cgroup")),
        },
        proc: &settings.proc,
        sys: &settings.sys,
        instances: None,
        cpus: environment::cpus(settings),
        // Noise moves no memory.
        noise: NoiseRule::Note,
        deadline: Instant::now() + Duration::from_secs(LOAD_SECONDS.into()),
    };
    let warm = bench.warm_up(&amounts, PER_REQUEST)?;
    let (window, answered) = bench.timed(&amounts, &warm)?;
    answered.map_err(|codes| {
        let message = format!("the first instance answered no request as expected: {codes}");
        failure(FailureReason::NoSuccessfulRequest, message)
    })?;
    Ok((window, warm.version))
}

/// Memory of all pods once its statistics are complete; `None` unless each pod was found.
fn memory(settings: &Settings, pods: &Pods) -> Option<DensityMemory> {
    thread::sleep(SETTLING);
    let mut all = DensityMemory {
        pods_bytes: 0,
        outside_anonymous_bytes: Some(0),
        outside_resident_bytes: Some(0),
    };
    let add = |sum: Option<u64>, one: Option<u64>| sum?.checked_add(one?);
    // Functions share a pod, which counts once.
    let uids: Option<BTreeSet<&str>> = (0..pods.timelines.len())
        .map(|index| pods.uid(index))
        .collect();
    for uid in uids? {
        let meter = PodMeter::find(&settings.cgroup, &settings.proc, uid)?;
        let memory = meter.memory()?;
        let working_set = memory.working_set().unwrap_or(memory.bytes);
        all.pods_bytes += memory.held().unwrap_or(working_set);
        let outside = meter.outside();
        all.outside_anonymous_bytes = add(
            all.outside_anonymous_bytes,
            outside.map(|shims| shims.anonymous_bytes),
        );
        all.outside_resident_bytes = add(
            all.outside_resident_bytes,
            outside.map(|shims| shims.resident_bytes),
        );
    }
    Some(all)
}

/// Nanoseconds from the first creation to the last of the first answers, for the pods from `from`
/// on.
fn all_answered(pods: &Pods, from: usize) -> Option<u64> {
    let added = &pods.timelines[from..];
    let at = |step| added.iter().map(move |pod| pod.at(step));
    let created = at(ColdStep::CreateSent).min()??;
    let answered: Option<Vec<i64>> = at(ColdStep::FirstCorrectAnswer).collect();
    u64::try_from(answered?.into_iter().max()?.saturating_sub(created)).ok()
}
