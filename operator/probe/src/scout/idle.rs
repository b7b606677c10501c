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
    let upstream = request.upstream_uid.as_deref().map(find);
    let before = Own::read(subject.as_ref(), upstream.as_ref());
    let span = Span::begin(&settings.proc)?;
    std::thread::sleep(Duration::from_secs(IDLE_SECONDS.into()));
    let span = span.end()?;
    let after = Own::read(subject.as_ref(), upstream.as_ref());
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
    upstream_nanoseconds: u64,
}

impl Own {
    /// `None` if that of the subject, or of an echo server where there is one, cannot be read.
    fn read(subject: Option<&PodMeter>, upstream: Option<&Option<PodMeter>>) -> Option<Self> {
        let upstream = match upstream {
            None => 0,
            Some(meter) => meter.as_ref()?.cpu_nanoseconds()?,
        };
        Some(Self {
            subject: subject?.counters()?,
            upstream_nanoseconds: upstream,
        })
    }

    fn since(&self, before: &Self, meter: &PodMeter) -> Option<u64> {
        let memory = meter.memory()?;
        let used = meter.used(&before.subject, &self.subject, memory);
        let shim = used.outside.map_or(0, |shim| shim.cpu_nanoseconds);
        let upstream = self
            .upstream_nanoseconds
            .saturating_sub(before.upstream_nanoseconds);
        Some(used.cpu_nanoseconds + shim + upstream)
    }
}
