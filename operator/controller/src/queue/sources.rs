//! What turns depend on, apart from the runs: claims, nodes and RuntimeClasses, each watched once and kept
//! in memory as far as it matters.

use std::collections::HashMap;
use std::fmt::Debug;
use std::future::ready;

use futures::stream::{BoxStream, select_all};
use futures::{Stream, StreamExt};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use wasmbench_api::labels;
use wasmbench_core::demands::RuntimeClassLabels;
use wasmbench_core::observed::{ObservedLease, ObservedNode};

use crate::context::Context;
use crate::error::chain;
use crate::observe::{class_labels, observed_lease, observed_node};
use crate::pause::WatchPause;
use crate::quiet::WATCH_SECONDS;

/// Nodes per page when all are listed: one with many images is long, and little of it is kept.
const PAGE: u32 = 20;
/// The condition of nodes that is kept.
const READY: &str = "Ready";
/// The capacity of nodes that is kept.
const CPU: &str = "cpu";

/// An event or an error of a watch.
type WatchResult<K> = watcher::Result<Event<K>>;

/// An item whenever something has changed.
pub type Changes = BoxStream<'static, ()>;

/// What turns depend on.
#[derive(Clone)]
pub struct Sources {
    /// Claims on nodes.
    pub leases: Store<Lease>,
    pub(super) nodes: Store<Node>,
    pub(super) classes: Store<RuntimeClass>,
}

/// Watches what turns depend on, apart from the runs.
pub fn watch(context: &Context) -> (Sources, Changes) {
    let client = &context.client;
    let config = watcher::Config::default().timeout(WATCH_SECONDS);
    let ours = config.clone().labels(labels::RUN_UID);
    let own = Api::namespaced(client.clone(), &context.config.operator_namespace);
    let (leases, of_leases) = kept::<Lease>(own, ours, |_| {});
    let paged = config.clone().page_size(PAGE);
    let (nodes, of_nodes) = kept(Api::all(client.clone()), paged, slim);
    let (classes, of_classes) = kept::<RuntimeClass>(Api::all(client.clone()), config, |_| {});
    let changes = [
        of_leases.filter_map(|event| ready(change(&event))).boxed(),
        of_classes.filter_map(|event| ready(change(&event))).boxed(),
        changes_of_nodes(of_nodes),
    ];
    let sources = Sources {
        leases,
        nodes,
        classes,
    };
    (sources, select_all(changes).boxed())
}

impl Sources {
    /// Returns when everything has been listed once.
    pub async fn are_listed(&self) {
        // An error means that nobody watches any more.
        let _ = futures::join!(
            self.leases.wait_until_ready(),
            self.nodes.wait_until_ready(),
            self.classes.wait_until_ready(),
        );
    }

    /// All claims on nodes.
    pub fn leases(&self) -> Vec<ObservedLease> {
        let leases = self.leases.state();
        leases
            .iter()
            .filter_map(|lease| observed_lease(lease))
            .collect()
    }

    /// All nodes.
    pub fn nodes(&self) -> Vec<ObservedNode> {
        let nodes = self.nodes.state();
        nodes.iter().map(|node| observed_node(node)).collect()
    }

    /// The labels that RuntimeClasses require of nodes.
    pub fn classes(&self) -> RuntimeClassLabels {
        let classes = self.classes.state();
        classes.iter().map(|class| class_labels(class)).collect()
    }
}

/// A watch whose objects are also kept, as far as `slim` leaves them.
fn kept<K>(
    api: Api<K>,
    config: watcher::Config,
    slim: fn(&mut K),
) -> (Store<K>, BoxStream<'static, WatchResult<K>>)
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let events = watcher(api, config).backoff(WatchPause);
    (store, events.modify(slim).reflect(writer).boxed())
}

/// Whether an event is a change. The items of a list count when all are there.
fn change<K>(event: &WatchResult<K>) -> Option<()> {
    match event {
        Ok(Event::Apply(_) | Event::Delete(_) | Event::InitDone) => Some(()),
        Ok(Event::Init | Event::InitApply(_)) => None,
        Err(error) => {
            tracing::warn!(error = chain(error), "a watch of the queue fails");
            None
        }
    }
}

/// The changes of nodes that matter: a kubelet also reports that nothing has changed.
fn changes_of_nodes(events: impl Stream<Item = WatchResult<Node>> + Send + 'static) -> Changes {
    let mut known: HashMap<String, ObservedNode> = HashMap::new();
    let changes = events.filter_map(move |event| {
        let matters = match &event {
            Ok(Event::Apply(node)) => {
                let observed = observed_node(node);
                let earlier = known.insert(node.name_any(), observed.clone());
                earlier != Some(observed)
            }
            Ok(Event::Delete(_) | Event::InitDone) => {
                known.clear();
                true
            }
            Ok(Event::Init | Event::InitApply(_)) | Err(_) => true,
        };
        ready(change(&event).filter(|()| matters))
    });
    changes.boxed()
}

/// Drops what nobody looks at: most of a node is a list of its images.
fn slim(node: &mut Node) {
    node.metadata.managed_fields = None;
    node.metadata.annotations = None;
    if let Some(status) = &mut node.status {
        status.images = None;
        status.addresses = None;
        status.allocatable = None;
        status.volumes_attached = None;
        status.volumes_in_use = None;
        status.node_info = None;
        status
            .conditions
            .get_or_insert_default()
            .retain(|condition| condition.type_ == READY);
        status
            .capacity
            .get_or_insert_default()
            .retain(|resource, _| resource == CPU);
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use serde_json::{Value, json};

    use super::*;

    fn node(cordoned: bool, heartbeat: &str) -> Node {
        let images = vec![json!({ "names": ["x".repeat(200)], "sizeBytes": 1 }); 50];
        let ready: Value = json!({
            "type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        serde_json::from_value(json!({
            "metadata": {
                "name": "bench-1", "labels": { "disk": "quiet" },
                "annotations": { "a": "x".repeat(1000) },
            },
            "spec": { "unschedulable": cordoned },
            "status": {
                "capacity": { "cpu": "4", "memory": "8Gi" }, "images": images,
                "conditions": [ready, { "type": "MemoryPressure", "status": "False" }],
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_slimmed_node_is_small_and_keeps_all_that_a_choice_needs() {
        let whole = node(true, "2026-01-01T00:00:00Z");
        let mut kept = whole.clone();
        slim(&mut kept);
        assert_eq!(observed_node(&kept), observed_node(&whole));
        let text = serde_json::to_string(&kept).unwrap();
        assert!(text.len() < 500, "{text}");
    }

    #[tokio::test]
    async fn a_heartbeat_is_no_change_and_a_cordon_is_one() {
        let (first, second) = ("2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z");
        for (events, expected) in [
            (vec![node(false, first), node(false, second)], 1),
            (vec![node(false, first), node(true, first)], 2),
        ] {
            let events = stream::iter(events).map(|node| Ok(Event::Apply(node)));
            assert_eq!(changes_of_nodes(events).count().await, expected);
        }
    }
}
