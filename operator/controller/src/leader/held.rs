//! The Lease while this process holds it: when it is renewed, and until when it counts.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use tokio::time::{Instant, timeout_at};
use wasmbench_core::build::leader;

use super::NotLeader;

/// How often the Lease is renewed while no window is open.
pub const RENEW: Duration = Duration::from_secs(5);
/// How long the Lease counts after a renewal was due: an API server that is slow for a moment ends no
/// operator.
const GRACE: Duration = Duration::from_secs(15);
/// How long before others may take the Lease this process ends: what it has begun must be over by then.
const MARGIN: Duration = Duration::from_secs(5);

/// How long the Lease counts if it is renewed again after `pause`.
pub fn counts(pause: Duration) -> Duration {
    pause + GRACE
}

/// The Lease while this process holds it.
pub struct Held {
    /// As it was last written.
    lease: Lease,
    /// When it is renewed next.
    due: Instant,
}

impl Held {
    /// A `lease` that was taken by a request `sent` then.
    pub fn new(lease: Lease, sent: Instant) -> Self {
        let due = sent + RENEW;
        Self { lease, due }
    }

    /// When it is renewed next.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Whether it is to be renewed now.
    pub fn is_due(&self) -> bool {
        self.due <= Instant::now()
    }

    /// Until when this process relies on it.
    fn until(&self) -> Instant {
        self.due + GRACE - MARGIN
    }

    /// Renews it, so that it is due again after `pause`, or after an earlier, longer one.
    pub async fn renew(
        &mut self,
        leases: &Api<Lease>,
        pause: Duration,
        now: Timestamp,
    ) -> Result<(), NotLeader> {
        let sent = Instant::now();
        let until = self.until();
        if sent >= until {
            return Err(NotLeader::Late);
        }
        let due = self.due.max(sent + pause);
        let renewed = leader::renewed(self.lease.clone(), counts(due - sent), now);
        let written = timeout_at(until, self.write(leases, renewed)).await;
        self.lease = written.unwrap_or(Err(NotLeader::Late))?;
        self.due = due;
        Ok(())
    }

    /// Writes the Lease unless another process has taken it. A write whose response was lost has changed
    /// its version, too.
    async fn write(&self, leases: &Api<Lease>, mut renewed: Lease) -> Result<Lease, NotLeader> {
        let params = PostParams::default();
        let written = leases.replace(leader::NAME, &params, &renewed).await;
        let refused = match written {
            Ok(lease) => return Ok(lease),
            Err(kube::Error::Api(status)) if status.is_not_found() => return Err(NotLeader::Gone),
            Err(kube::Error::Api(status)) if status.is_conflict() => kube::Error::Api(status),
            Err(error) => return Err(NotLeader::Call(error)),
        };
        let found = leases.get_opt(leader::NAME).await;
        let found = found.map_err(NotLeader::Call)?.ok_or(NotLeader::Gone)?;
        if !leader::is_same_holder(&found, &self.lease) {
            let holder = leader::holder(&found).ok_or(NotLeader::Gone)?;
            return Err(NotLeader::Replaced(holder.to_owned()));
        }
        if found.resource_version() == renewed.resource_version() {
            return Err(NotLeader::Call(refused));
        }
        renewed.metadata = found.metadata;
        let written = leases.replace(leader::NAME, &params, &renewed).await;
        written.map_err(NotLeader::Call)
    }

    /// Empties it.
    pub async fn release(self, leases: &Api<Lease>) -> Result<(), kube::Error> {
        let lease = leader::released(self.lease);
        let written = leases
            .replace(leader::NAME, &PostParams::default(), &lease)
            .await;
        written.map(drop)
    }
}
