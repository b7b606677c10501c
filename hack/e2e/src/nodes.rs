//! Nodes that runs measure on. A run takes a node by the product's own means; a test that needs one for
//! itself, for two runs or for a pod of somebody else, taints it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Taint};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use wasmbench_api::labels;

use crate::{answered, eventually, operator_namespace};

/// Key of the taint. `hack/e2e/run` removes those of a run that was broken off.
const OWN: &str = "e2e.wasmbench.dev/own";
/// As long as other tests may hold all nodes.
const PATIENCE: Duration = Duration::from_mins(10);

/// Names of the nodes that take pods without a toleration.
pub async fn free(client: &Client) -> Vec<String> {
    let nodes = list(client).await.into_iter();
    let free = nodes.filter(|node| taints(node).is_empty());
    free.map(|node| node.name_any()).collect()
}

/// Calls `test` with the name of a node that no other test's run is put on meanwhile, once the run that was
/// measured there has ended.
pub async fn with_own_node<F, Fut>(client: &Client, test: F)
where
    F: FnOnce(String) -> Fut,
    Fut: Future<Output = ()>,
{
    let name = eventually(PATIENCE, "a node has no taint", || take(client)).await;
    eventually(PATIENCE, "the run on the node has ended", || async {
        (!is_claimed(client, &name).await).then_some(())
    })
    .await;
    let result = AssertUnwindSafe(test(name.clone())).catch_unwind().await;
    give_back(client, &name).await;
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

async fn is_claimed(client: &Client, node: &str) -> bool {
    let leases: Api<Lease> = Api::namespaced(client.clone(), &operator_namespace());
    let all = ListParams::default();
    let leases = answered("claims are listed", || leases.list(&all)).await;
    leases.items.iter().any(|lease| {
        let is_of_node = lease
            .annotations()
            .get(labels::NODE)
            .is_some_and(|of| of == node);
        let spec = lease.spec.as_ref();
        is_of_node && spec.is_some_and(|spec| spec.holder_identity.is_some())
    })
}

/// What a run's spec says to be measured on a node of its own.
pub fn placement(node: &str) -> String {
    format!(
        "placement:\n  nodeSelector: {{kubernetes.io/hostname: {node}}}\n  \
         tolerations: [{{key: {OWN}, operator: Exists}}]\n"
    )
}

async fn list(client: &Client) -> Vec<Node> {
    let api: Api<Node> = Api::all(client.clone());
    let all = ListParams::default();
    answered("nodes are listed", || api.list(&all)).await.items
}

fn taints(node: &Node) -> &[Taint] {
    let spec = node.spec.as_ref();
    spec.and_then(|spec| spec.taints.as_deref())
        .unwrap_or_default()
}

/// The last one, as the operator begins with the first. None when all are taken, or another test was faster.
async fn take(client: &Client) -> Option<String> {
    let name = free(client).await.pop()?;
    let own = Taint {
        key: OWN.to_owned(),
        effect: "NoSchedule".to_owned(),
        ..Taint::default()
    };
    let added = set_taints(client, &name, |taints| {
        taints.is_empty().then_some(vec![own])
    });
    added.await.then_some(name)
}

async fn give_back(client: &Client, name: &str) {
    let without = |taints: &[Taint]| {
        let others = taints.iter().filter(|taint| taint.key != OWN);
        Some(others.cloned().collect())
    };
    eventually(PATIENCE, "the node has no taint any more", || async {
        set_taints(client, name, without).await.then_some(())
    })
    .await;
}

/// Whether the taints became what `change` makes of them; not when someone else changed the node meanwhile.
async fn set_taints(
    client: &Client,
    name: &str,
    change: impl FnOnce(&[Taint]) -> Option<Vec<Taint>>,
) -> bool {
    let api: Api<Node> = Api::all(client.clone());
    let Ok(mut node) = api.get(name).await else {
        return false;
    };
    let Some(taints) = change(taints(&node)) else {
        return false;
    };
    node.spec.get_or_insert_default().taints = Some(taints);
    api.replace(name, &PostParams::default(), &node)
        .await
        .is_ok()
}
