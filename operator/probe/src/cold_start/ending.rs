//! The end of a sample: what the logs show about it, and the removal of its pods.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use kube::api::{DeleteParams, LogParams};
use tokio::time::{Instant, sleep, timeout_at};
use wasmbench_model::containers;
use wasmbench_model::wire::cold_start::{Clock, ColdStep, REMOVAL_SECONDS, SCALE_DOWN_SECONDS};
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::failure;
use super::log::{LOG_BYTES, listening};
use super::sample::{Course, Pods};
use super::watch::News;
use crate::clock::unix_nanoseconds;
use crate::output::progress;

/// containerd writes a line within milliseconds, or later on a busy node.
const LOG_ATTEMPTS: u32 = 10;
const LOG_PAUSE: Duration = Duration::from_millis(100);

impl Course<'_> {
    /// Reads containerd's timestamps of the log lines that report that the services listen.
    pub(super) async fn read_logs(&self, pods: &mut Pods) {
        // A function is ready once it has accepted its code; its proxy listens before that. Nobody knows what
        // line, if any, the service of somebody else's pod prints, nor in which container.
        if self.request.action.is_some() || self.request.scaled.is_some() {
            return;
        }
        let params = LogParams {
            container: Some(containers::SUBJECT.to_owned()),
            timestamps: true,
            limit_bytes: Some(LOG_BYTES),
            ..LogParams::default()
        };
        let wanted = self.request.listening_line.as_deref();
        let stamp = async |name: &str| {
            for _ in 0..LOG_ATTEMPTS {
                match self.api.logs(name, &params).await {
                    Ok(log) => {
                        if let Some(at) = listening(&log, wanted) {
                            return Some(at);
                        }
                    }
                    Err(error) => progress(&format!("no log of {name}: {error}")),
                }
                sleep(LOG_PAUSE).await;
            }
            None
        };
        let stamps = join_all(pods.timelines.iter().map(|pod| stamp(pod.name()))).await;
        for (timeline, stamp) in pods.timelines.iter_mut().zip(stamps) {
            if let Some(at) = stamp {
                timeline.listens(at, wanted.is_some());
            }
        }
    }

    /// Removes what was created, and waits until it is gone.
    pub async fn remove(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        if self.request.shares_pod() {
            self.destroy(pods)
        } else if self.request.scaled.is_some() {
            self.scale_down(pods).await
        } else {
            self.remove_pods(pods).await
        }
    }

    pub(super) async fn remove_pods(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        let params = DeleteParams::default();
        let mut left: Vec<usize> = vec![];
        for index in 0..pods.timelines.len() {
            if pods.timelines[index].may_exist() {
                pods.timelines[index].did(ColdStep::DeleteSent, unix_nanoseconds());
                left.push(index);
            }
        }
        let delete = async |index: usize| {
            let name = pods.timelines[index].name();
            match self.api.delete(name, &params).await {
                Err(kube::Error::Api(status)) if status.is_not_found() => Some(index),
                Err(error) => {
                    progress(&format!("could not delete {name}: {error}"));
                    None
                }
                Ok(_) => None,
            }
        };
        let deadline = Instant::now() + Duration::from_secs(REMOVAL_SECONDS.into());
        let deleting = join_all(left.iter().map(|index| delete(*index)));
        let gone = timeout_at(deadline, deleting).await.unwrap_or_default();
        left.retain(|index| !gone.contains(&Some(*index)));
        self.see_gone(pods, left, deadline).await
    }

    /// Waits until the pods `left` are gone.
    pub(super) async fn see_gone(
        &mut self,
        pods: &mut Pods,
        mut left: Vec<usize>,
        deadline: Instant,
    ) -> Result<(), Failure> {
        while !left.is_empty() {
            match timeout_at(deadline, self.news.next()).await {
                Ok(Some(News::Gone(name, at))) => {
                    if let Some(index) = pods.index(Some(&name)) {
                        let step = ColdStep::DeletionFinished;
                        pods.timelines[index].reach(step, at, Clock::WatchArrival, None);
                        left.retain(|other| *other != index);
                    }
                }
                // Gone while the watch was interrupted: the time is unknown.
                Ok(Some(News::Listed(names))) => {
                    left.retain(|index| names.contains(pods.timelines[*index].name()));
                }
                Ok(Some(News::Interrupted(why))) => self.interrupted = why,
                Ok(Some(News::Pod(..))) => {}
                Ok(None) | Err(_) => return Err(not_removed(left.len())),
            }
        }
        Ok(())
    }
}

fn not_removed(count: usize) -> Failure {
    failure(
        FailureReason::SubjectNotRemoved,
        format!(
            "{count} pod(s) were not gone in time after they were deleted ({REMOVAL_SECONDS} s; {SCALE_DOWN_SECONDS} s \
             where an object was scaled down): see 'kubectl describe pod' and whether the service ends on SIGTERM"
        ),
    )
}
