//! Only one operator works: the process that holds the Lease `wasmbench-leader` in its namespace. Another
//! one stands by, and takes the Lease when its holder has released it, is gone, or does not renew it.
//! The holder makes no call in a timed window: the Lease is renewed for the whole window before it begins.
//!
//! Holding the Lease keeps two operators from working at the same time, as a rule. What it cannot rule
//! out, after a pause of the process, the API server refuses: see [`Leader::epoch`].

mod held;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep, sleep_until};
use wasmbench_api::labels;
use wasmbench_core::build::leader;
use wasmbench_core::epoch::Epoch;

use crate::clock::ServerClock;
use crate::error::chain;
use held::{Held, RENEW};

/// How often a process that stands by looks at the Lease, and how soon a failed call is repeated.
const RETRY: Duration = Duration::from_secs(2);

/// Why this process leads no more.
#[derive(Debug, thiserror::Error)]
pub enum NotLeader {
    /// Another process holds the Lease.
    #[error("the operator in pod {0} has taken over")]
    Replaced(String),
    /// Nobody holds the Lease.
    #[error("somebody has emptied or removed the Lease {}", leader::NAME)]
    Gone,
    /// The Lease was not renewed in time, and another process may hold it by now.
    #[error(
        "the Lease {} was not renewed in time: the process was paused, or the API server did not answer",
        leader::NAME
    )]
    Late,
    /// A call failed, which is no reason yet.
    #[error("the Lease {} could not be renewed", leader::NAME)]
    Call(#[source] kube::Error),
}

/// The Lease, as this process sees it.
pub struct Leader {
    leases: Api<Lease>,
    pods: Api<Pod>,
    clock: ServerClock,
    namespace: String,
    held: Mutex<Option<Held>>,
    /// A renewal for a window has failed.
    doubt: Notify,
    epoch: OnceLock<Epoch>,
}

/// A Lease that somebody else holds.
struct Sighting {
    version: Option<String>,
    /// When this version of it was first seen. Clocks of two nodes may differ, so times in the Lease do not
    /// count.
    since: Instant,
}

impl Leader {
    /// The Lease in this namespace, which is the operator's own.
    pub fn new(client: Client, namespace: &str, clock: ServerClock) -> Self {
        Self {
            leases: Api::namespaced(client.clone(), namespace),
            pods: Api::namespaced(client, namespace),
            clock,
            namespace: namespace.to_owned(),
            held: Mutex::default(),
            doubt: Notify::new(),
            epoch: OnceLock::new(),
        }
    }

    /// The epoch in which this process leads: it goes into each probe, and the admission policy `leader`
    /// compares it with the Lease.
    pub fn epoch(&self) -> Option<&Epoch> {
        self.epoch.get()
    }

    /// Takes the Lease for the process in `pod` as soon as nobody else counts on it. Standing by is being
    /// `ready`.
    pub async fn acquire(&self, pod: &str, ready: &AtomicBool) {
        let mut sighting = None;
        loop {
            match self.attempt(pod, &mut sighting).await {
                Ok(None) => return,
                Ok(Some(holder)) => {
                    if !ready.swap(true, Ordering::Relaxed) {
                        tracing::info!(holder, "another operator leads; this one stands by");
                    }
                }
                Err(error) => tracing::warn!(error = chain(&error), "could not take the Lease"),
            }
            sleep(RETRY).await;
        }
    }

    /// Takes the Lease, or returns who holds it.
    async fn attempt(
        &self,
        pod: &str,
        sighting: &mut Option<Sighting>,
    ) -> Result<Option<String>, kube::Error> {
        let found = self.leases.get_opt(leader::NAME).await?;
        if let Some(lease) = &found
            && let Some(holder) = leader::holder(lease)
            && self.counts(lease, holder, pod, sighting).await?
        {
            return Ok(Some(holder.to_owned()));
        }
        let sent = Instant::now();
        let params = PostParams::default();
        let exists = found.is_some();
        let counts = held::counts(RENEW);
        let lease = leader::taken(found, &self.namespace, pod, counts, self.clock.now());
        let written = if exists {
            self.leases.replace(leader::NAME, &params, &lease).await
        } else {
            self.leases.create(&params, &lease).await
        };
        match written {
            Ok(lease) => {
                self.lead(lease, sent).await;
                Ok(None)
            }
            Err(kube::Error::Api(status)) if status.is_already_exists() || status.is_conflict() => {
                Ok(Some("another one, which was faster".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    async fn lead(&self, lease: Lease, sent: Instant) {
        if let Some(epoch) = Epoch::from_lease(&lease) {
            tracing::info!(?epoch, "this operator leads");
            let _ = self.epoch.set(epoch);
        }
        *self.held.lock().await = Some(Held::new(lease, sent));
    }

    /// Whether the `holder` of the Lease may still work. An earlier process of the same pod has ended, or
    /// this one would not have been started.
    async fn counts(
        &self,
        lease: &Lease,
        holder: &str,
        pod: &str,
        sighting: &mut Option<Sighting>,
    ) -> Result<bool, kube::Error> {
        if holder == pod {
            return Ok(false);
        }
        let version = lease.resource_version();
        let known = sighting.take().filter(|known| known.version == version);
        let since = known.map_or_else(Instant::now, |known| known.since);
        *sighting = Some(Sighting { version, since });
        if since.elapsed() >= leader::counts_for(lease) {
            return Ok(false);
        }
        Ok(self.pods.get_metadata_opt(holder).await?.is_some())
    }

    /// Renews the Lease for as long as that succeeds, and returns why it does not any more.
    pub async fn keep(&self) -> NotLeader {
        let mut due = Instant::now();
        loop {
            let is_doubtful = tokio::select! {
                () = sleep_until(due) => false,
                () = self.doubt.notified() => true,
            };
            due = match self.renew_when_due(is_doubtful).await {
                Ok(next) => next,
                Err(NotLeader::Call(error)) => {
                    tracing::warn!(error = chain(&error), "could not renew the Lease");
                    Instant::now() + RETRY
                }
                Err(why) => return why,
            };
        }
    }

    /// Renews the Lease, or if that was done for a window meanwhile, only if it `is_doubtful` whether this
    /// process still has it. Returns when it is due again.
    async fn renew_when_due(&self, is_doubtful: bool) -> Result<Instant, NotLeader> {
        let mut guard = self.held.lock().await;
        let held = guard.as_mut().ok_or(NotLeader::Gone)?;
        if is_doubtful || held.is_due() {
            held.renew(&self.leases, RENEW, self.clock.now()).await?;
        }
        Ok(held.due())
    }

    /// Renews the Lease so that it is not due again in a `window` that begins now. A process that has been
    /// replaced learns it here at the latest, unless it is paused right afterwards, and [`Leader::keep`]
    /// with it: the Lease may not be due for as long as an earlier window.
    pub async fn cover(&self, window: Duration) -> Result<(), NotLeader> {
        let mut guard = self.held.lock().await;
        // Tests of single steps have no Lease.
        let Some(held) = guard.as_mut() else {
            return Ok(());
        };
        let covered = held.renew(&self.leases, window, self.clock.now()).await;
        if covered.is_err() {
            self.doubt.notify_one();
        }
        covered
    }

    /// Empties the Lease, so that another process can take it at once.
    pub async fn release(&self) {
        let Some(held) = self.held.lock().await.take() else {
            return;
        };
        if let Err(error) = held.release(&self.leases).await {
            tracing::warn!(error = chain(&error), "could not release the Lease");
        }
    }

    /// The namespace of another installation, if one has an operator that leads. Both would load the same
    /// nodes, and neither sees the other's claims.
    pub async fn other_installation(&self) -> Result<Option<String>, kube::Error> {
        let all: Api<Lease> = Api::all(self.leases.clone().into_client());
        let leaders = format!(
            "{}={},{}={}",
            labels::PART_OF,
            labels::APP,
            labels::COMPONENT,
            labels::COMPONENT_LEADER
        );
        let found = all.list(&ListParams::default().labels(&leaders)).await?;
        let now = self.clock.now();
        let mut live = found.items.iter().filter(|one| leader::is_live(one, now));
        Ok(live.find_map(|one| one.namespace().filter(|other| *other != self.namespace)))
    }
}

#[cfg(test)]
mod tests;
