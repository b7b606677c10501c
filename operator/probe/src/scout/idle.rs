//! The node's CPU time while nothing of the run works.

use std::time::Duration;

use wasmbench_model::wire::request::MeterLevel;
use wasmbench_model::wire::scout::{IDLE_SECONDS, IdleNode, ScoutRequest};

use crate::meter::{Counters, PodMeter};
use crate::node::Span;
use crate::settings::Settings;

/// Reads it over [`IDLE_SECONDS`]; `None` where it cannot be read. The probe sleeps meanwhile, so
/// that its own share is nothing.
pub fn read(settings: &Settings, request: &ScoutRequest) -> Option<IdleNode> {
    let find = |uid: &str| match request.meter {
        MeterLevel::None => None,
        MeterLevel::Cgroup => PodMeter::find(&settings.cgroup, &settings.proc, uid),
    };
    let subject = find(&request.pod_uid);
    let companions = request.companion_uids.iter().flatten();
    let others = request.upstream_uid.iter().chain(companions);
    let others: Option<Vec<PodMeter>> = others.map(|uid| find(uid)).collect();
    let before = Own::read(subject.as_ref(), others.as_deref());
    let span = Span::begin(&settings.proc)?;
    std::thread::sleep(Duration::from_secs(IDLE_SECONDS.into()));
    let span = span.end()?;
    let after = Own::read(subject.as_ref(), others.as_deref());
    let own = before.zip(after).zip(subject.as_ref());
    Some(IdleNode {
        duration_nanoseconds: span.duration_nanoseconds,
        node: span.cpu,
        own_nanoseconds: own.and_then(|((before, after), meter)| after.since(&before, meter)),
    })
}

/// What the pods of the run have used so far.
struct Own {
    subject: Counters,
    others_nanoseconds: u64,
}

impl Own {
    /// `None` if that of the subject, or of one of the `others` (an echo server, companions), cannot be read.
    fn read(subject: Option<&PodMeter>, others: Option<&[PodMeter]>) -> Option<Self> {
        let others: Option<u64> = others?.iter().map(PodMeter::cpu_nanoseconds).sum();
        Some(Self {
            subject: subject?.counters()?,
            others_nanoseconds: others?,
        })
    }

    fn since(&self, before: &Self, meter: &PodMeter) -> Option<u64> {
        let memory = meter.memory()?;
        let used = meter.used(&before.subject, &self.subject, memory);
        let shim = used.outside.map_or(0, |shim| shim.cpu_nanoseconds);
        let others = self
            .others_nanoseconds
            .saturating_sub(before.others_nanoseconds);
        Some(used.cpu_nanoseconds + shim + others)
    }
}
