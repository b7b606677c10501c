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
    /// A pod is as it is told here.
    Pod(Box<Pod>, i64),
    /// A pod is gone.
    Gone(String, i64),
    /// These pods are all there are: what is missing went while nobody looked.
    Listed(BTreeSet<String>),
    /// The watch was interrupted, and why. It goes on by itself.
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
