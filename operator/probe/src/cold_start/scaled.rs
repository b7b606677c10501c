//! Pods that an object makes once it is scaled. The time counts from the probe's own patch. Which pods these
//! are shows when they appear: those that the selector finds and whose owners lead up to the object.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use wasmbench_model::wire::cold_start::{ColdStep, SCALE_DOWN_SECONDS};
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::sample::{Course, Pods};
use super::watch::News;
use super::{failure, unavailable};

impl Course<'_> {
    /// Has the object make the pods from index `from` on, all at once.
    pub(super) async fn scale_up(&mut self, pods: &mut Pods, from: usize) -> Result<(), Failure> {
        let all = u32::try_from(pods.timelines.len()).unwrap_or(u32::MAX);
        let Some(scaler) = &mut self.scaler else {
            return Ok(());
        };
        let answer = timeout_at(pods.deadline, scaler.set(all)).await;
        let late = || unavailable("the API server did not set the replicas in time".into());
        let (sent, at) = answer.map_err(|_| late())??;
        for timeline in &mut pods.timelines[from..] {
            timeline.accepted(sent, at);
        }
        Ok(())
    }

    /// Has the object make no pods, and waits until they are gone. What somebody else has scaled is left alone.
    pub(super) async fn scale_down(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        let Some(scaler) = self.scaler.as_mut().filter(|scaler| scaler.replicas > 0) else {
            return Ok(());
        };
        let (sent, _) = scaler.set(0).await?;
        let mut left = vec![];
        for (index, timeline) in pods.timelines.iter_mut().enumerate() {
            // One that never appeared has nothing to go.
            if timeline.may_exist() && pods.latest[index].is_some() {
                timeline.did(ColdStep::DeleteSent, sent);
                left.push(index);
            }
        }
        let deadline = Instant::now() + Duration::from_secs(SCALE_DOWN_SECONDS.into());
        self.see_gone(pods, left, deadline).await
    }

    /// Gives a pod that the object has made to the first timeline that has none.
    pub(super) async fn adopt(&mut self, pods: &mut Pods, news: &News) -> Result<(), Failure> {
        let (Some(scaler), News::Pod(pod, _)) = (&mut self.scaler, news) else {
            return Ok(());
        };
        let name = pod.metadata.name.as_deref();
        if pods.index(name).is_none() {
            let is_going = pod.metadata.deletion_timestamp.is_some();
            if is_going || !scaler.makes(pod).await? {
                return Ok(());
            }
            let all = pods.latest.iter().zip(&pods.timelines);
            let mut free = all.map(|(latest, timeline)| latest.is_none() && timeline.may_exist());
            let Some(index) = free.position(|is_free| is_free) else {
                let name = name.unwrap_or_default();
                let message = format!(
                    "{} makes more pods than desired: {name}",
                    scaler.object.name
                );
                return Err(failure(FailureReason::SubjectAltered, message));
            };
            pods.timelines[index].rename(name.unwrap_or_default().to_owned());
        }
        scaler.unfit(pod).map_or(Ok(()), Err)
    }
}
