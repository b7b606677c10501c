//! Functions that share a pod. The pod is created once, before the first function and outside every
//! timed part, and stays until the last function is destroyed.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout_at};
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::sample::{Course, Pods};
use super::timeline::Timeline;
use super::trouble::trouble;
use super::{failure, unavailable};
use crate::action::{self, Action};
use crate::body;
use crate::clock::unix_nanoseconds;
use crate::settings::Settings;

/// Pause between checks whether the pod listens.
const PAUSE: Duration = Duration::from_millis(20);

impl Course<'_> {
    /// Reads what is sent: the body of requests or, if the subject is called by the action protocol,
    /// of functions.
    pub fn read_bodies(&mut self, settings: &Settings) -> Result<(), Failure> {
        self.body = body::bytes(&self.request.sent, &settings.bodies)?;
        let call = self.request.action.as_ref();
        let action = call.map(|call| Action::read(call, &settings.actions));
        self.action = action.transpose()?;
        Ok(())
    }

    /// Creates the pod that hosts the functions, if they share one, and waits until it listens.
    pub async fn begin_hosting(&mut self) -> Result<(), Failure> {
        if !self.request.shares_pod() {
            return Ok(());
        }
        let mut host = self.none();
        host.hosts = true;
        let name = format!("{}-host", self.base_name());
        host.timelines.push(Timeline::new(name, unix_nanoseconds()));
        host.latest.push(None);
        let created = self.create_pods(&mut host, 0).await;
        let listens = match created {
            Ok(()) => self.wait_for_host(&mut host).await,
            Err(failure) => Err(failure),
        };
        // Kept even after a failure, so that whatever exists is removed.
        self.host = Some(host);
        listens
    }

    async fn wait_for_host(&mut self, host: &mut Pods) -> Result<(), Failure> {
        let late = || {
            let message = "the pod that hosts the functions does not listen in time: see 'kubectl describe pod'";
            failure(FailureReason::NeverListened, message.into())
        };
        let deadline = host.deadline;
        while host.timelines[0].at(ColdStep::ReadyPublished).is_none() {
            match timeout_at(deadline, self.news.next()).await {
                Ok(Some(news)) => self.hear(host, news)?,
                Ok(None) => return Err(unavailable("the watch ended".into())),
                Err(_) => return Err(late()),
            }
        }
        let address = host.timelines[0].address().ok_or_else(late)?;
        let place = (address, self.request.port);
        let connects = async {
            while TcpStream::connect(place).await.is_err() {
                sleep(PAUSE).await;
            }
        };
        timeout_at(deadline, connects).await.map_err(|_| late())
    }

    /// Starts the functions from index `from` on, all at once.
    pub(super) fn create_functions(&self, pods: &mut Pods, from: usize) -> Result<(), Failure> {
        let host = self.host.as_ref();
        let known = host.and_then(|host| Some((host, host.timelines.first()?.address()?)));
        let (host, address) = known.ok_or_else(|| unavailable("no pod hosts functions".into()))?;
        for index in from..pods.timelines.len() {
            pods.timelines[index].hosted_by(&host.timelines[0], unix_nanoseconds());
            pods.latest[index].clone_from(&host.latest[0]);
            self.ask(pods, index, address);
        }
        Ok(())
    }

    /// Returns an error if something is wrong with the pod that hosts the functions.
    pub(super) fn trouble_of_host(&self, pod: &Pod) -> Result<(), Failure> {
        let host = self.host.as_ref();
        let is_host = host.is_some_and(|host| host.index(pod.metadata.name.as_deref()).is_some());
        let found = is_host.then(|| trouble(pod, false)).flatten();
        found.map_or(Ok(()), Err)
    }

    /// Makes the pod forget the functions that were started.
    pub(super) fn destroy(&self, pods: &mut Pods) -> Result<(), Failure> {
        for timeline in &mut pods.timelines {
            let Some(address) = timeline.address().filter(|_| timeline.may_exist()) else {
                continue;
            };
            timeline.did(ColdStep::DeleteSent, unix_nanoseconds());
            action::destroy(address, self.request.port, timeline.name()).map_err(|why| {
                let message = format!("function {} was not destroyed: {why}", timeline.name());
                failure(FailureReason::SubjectNotRemoved, message)
            })?;
            timeline.did(ColdStep::DeletionFinished, unix_nanoseconds());
        }
        Ok(())
    }

    /// Removes the pod that hosted the functions.
    pub async fn end_hosting(&mut self) -> Result<(), Failure> {
        match self.host.take() {
            Some(mut host) => self.remove_pods(&mut host).await,
            None => Ok(()),
        }
    }
}
