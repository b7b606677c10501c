//! What the API reports about the trial's pods, each with the time of its arrival here.

use std::collections::BTreeSet;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, ResourceExt};

use crate::clock::unix_nanoseconds;

/// News from the API server.
#[derive(Debug)]
pub enum News {
    /// The state of a pod, and when it arrived.
    Pod(Box<Pod>, i64),
    /// The name of a pod that is gone, and when the news arrived.
    Gone(String, i64),
    /// The names of all pods that exist: any other pod went while the watch was interrupted.
    Listed(BTreeSet<String>),
    /// The watch was interrupted, for this reason. It resumes by itself.
    Interrupted(String),
}

/// Watches until the receiver is dropped.
pub fn watch(api: Api<Pod>, selector: &str) -> UnboundedReceiver<News> {
    let (sender, receiver) = unbounded();
    let config = watcher::Config::default().labels(selector);
    tokio::spawn(async move {
        let mut events = watcher(api, config).default_backoff().boxed();
        let mut listed = BTreeSet::new();
        while let Some(event) = events.next().await {
            let at = unix_nanoseconds();
            let news = match event {
                Ok(watcher::Event::Init) => {
                    listed.clear();
                    continue;
                }
                Ok(watcher::Event::InitApply(pod)) => {
                    listed.insert(pod.name_any());
                    News::Pod(Box::new(pod), at)
                }
                Ok(watcher::Event::InitDone) => News::Listed(std::mem::take(&mut listed)),
                Ok(watcher::Event::Apply(pod)) => News::Pod(Box::new(pod), at),
                Ok(watcher::Event::Delete(pod)) => News::Gone(pod.name_any(), at),
                Err(error) => News::Interrupted(error.to_string()),
            };
            if sender.unbounded_send(news).is_err() {
                return;
            }
        }
    });
    receiver
}
