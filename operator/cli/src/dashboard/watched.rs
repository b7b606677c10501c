//! The current runs of the cluster, through a single watch.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use kube::ResourceExt;
use kube::runtime::watcher::Event;
use tokio::sync::watch;
use wasmbench_api::BenchmarkRun;

use crate::cluster::Cluster;
use crate::error::root_cause;

/// Namespace and name of a run.
pub type Place = (String, String);

/// The runs as last seen.
#[derive(Clone, Debug, Default)]
pub struct ObservedRuns {
    /// All runs.
    pub runs: BTreeMap<Place, Arc<BenchmarkRun>>,
    /// Whether the first list is complete.
    pub is_complete: bool,
    /// Why the watch currently gets no news.
    pub trouble: Option<String>,
    /// The number of events so far, errors included.
    pub heard: u64,
    /// The runs received so far of a list that is under way.
    listed: BTreeMap<Place, Arc<BenchmarkRun>>,
}

impl ObservedRuns {
    /// The run of this namespace and name.
    pub fn run(&self, namespace: &str, name: &str) -> Option<&Arc<BenchmarkRun>> {
        self.runs.get(&(namespace.to_owned(), name.to_owned()))
    }

    fn take(&mut self, event: Event<BenchmarkRun>) {
        self.trouble = None;
        match event {
            Event::Apply(run) => {
                let (place, run) = kept(run);
                self.runs.insert(place, run);
            }
            Event::Delete(run) => {
                self.runs.remove(&place(&run));
            }
            Event::Init => self.listed.clear(),
            Event::InitApply(run) => {
                let (place, run) = kept(run);
                self.listed.insert(place, run);
            }
            Event::InitDone => {
                self.runs = std::mem::take(&mut self.listed);
                self.is_complete = true;
            }
        }
    }
}

/// `namespace/name` of a run, for people and for URLs.
pub fn named(run: &BenchmarkRun) -> String {
    let (namespace, name) = place(run);
    format!("{namespace}/{name}")
}

fn place(run: &BenchmarkRun) -> Place {
    (run.namespace().unwrap_or_default(), run.name_any())
}

/// The run without its managed fields, which nobody looks at.
fn kept(mut run: BenchmarkRun) -> (Place, Arc<BenchmarkRun>) {
    run.metadata.managed_fields = None;
    (place(&run), Arc::new(run))
}

/// The runs, with notifications of their changes.
#[derive(Clone, Debug)]
pub struct Watched(watch::Receiver<ObservedRuns>);

impl Watched {
    /// Follows the runs of the cluster's namespace, or of all namespaces, as long as anyone holds a
    /// receiver.
    pub fn follow(cluster: &Cluster, all_namespaces: bool) -> Self {
        let (sender, receiver) = watch::channel(ObservedRuns::default());
        let events = cluster.watch_runs(all_namespaces);
        tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(event) = events.next().await {
                sender.send_modify(|observed| {
                    observed.heard += 1;
                    match event {
                        Ok(event) => observed.take(event),
                        // The watch recovers by itself.
                        Err(error) => observed.trouble = Some(root_cause(&error)),
                    }
                });
                if sender.is_closed() {
                    return;
                }
            }
        });
        Self(receiver)
    }

    /// These runs, which never change.
    #[cfg(test)]
    pub fn still(runs: Vec<BenchmarkRun>) -> Self {
        let observed = ObservedRuns {
            runs: runs.into_iter().map(kept).collect(),
            is_complete: true,
            ..ObservedRuns::default()
        };
        Self(watch::channel(observed).1)
    }

    /// The current runs.
    pub fn now(&self) -> watch::Ref<'_, ObservedRuns> {
        self.0.borrow()
    }

    /// A receiver that is notified of changes.
    pub fn listen(&self) -> watch::Receiver<ObservedRuns> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> BenchmarkRun {
        let run = serde_json::from_value(serde_json::json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": {"name": name, "namespace": "bench"},
            "spec": {"variants": [], "workloads": [], "sweeps": {}},
        }));
        run.unwrap()
    }

    fn names(observed: &ObservedRuns) -> Vec<&str> {
        observed
            .runs
            .keys()
            .map(|(_, name)| name.as_str())
            .collect()
    }

    #[test]
    fn an_incomplete_list_does_not_replace_what_is_shown() {
        let mut observed = ObservedRuns::default();
        observed.take(Event::Apply(run("old")));
        observed.take(Event::Init);
        observed.take(Event::InitApply(run("new")));
        assert_eq!(
            (names(&observed), observed.is_complete),
            (vec!["old"], false)
        );
        observed.take(Event::InitDone);
        assert_eq!(
            (names(&observed), observed.is_complete),
            (vec!["new"], true)
        );
        observed.take(Event::Delete(run("new")));
        assert!(observed.runs.is_empty());
    }
}
