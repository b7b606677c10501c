//! Nodes on which runs measure. A run claims a node by the product's own means. For a test that
//! needs a node to itself, for two runs or for a foreign pod, `hack/e2e/run` taints one.

use k8s_openapi::api::core::v1::{Node, Taint};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use tokio::sync::Mutex;

use crate::answered;

/// The program that changes nodes, as an administrator would.
const KUBECTL: &str = "kubectl";

/// Key of the taint, which only these tests tolerate.
const OWN: &str = "e2e.wasmbench.dev/own";

/// Only one test at a time has the node.
static TURN: Mutex<()> = Mutex::const_new(());

/// Names of the nodes that accept pods without a toleration.
pub async fn free(client: &Client) -> Vec<String> {
    let nodes = list(client).await.into_iter();
    let free = nodes.filter(|node| taints(node).is_empty());
    free.map(|node| node.name_any()).collect()
}

/// Calls `test` with the name of a node on which no other test's run is placed meanwhile. In a
/// cluster with a single node, where tests run one after the other, it is that node.
pub async fn with_own_node<F, Fut>(client: &Client, test: F)
where
    F: FnOnce(String) -> Fut,
    Fut: Future<Output = ()>,
{
    let _turn = TURN.lock().await;
    let nodes = list(client).await;
    let is_own = |node: &&Node| taints(node).iter().any(|taint| taint.key == OWN);
    let own = nodes.iter().find(is_own);
    let is_only = |node: &&Node| taints(node).is_empty();
    let node = own.or_else(|| nodes.iter().find(is_only));
    test(node.expect("a node").name_any()).await;
}

/// The part of a run's spec that places it on a node of its own.
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

/// What an administrator did to a node; it is undone on drop, also when a test fails.
#[derive(Debug)]
pub struct Changed {
    undo: Vec<String>,
}

impl Changed {
    /// Cordons the node.
    pub fn cordoned(node: &str) -> Self {
        administrate(&["cordon", node].map(str::to_owned));
        Self {
            undo: ["uncordon", node].map(str::to_owned).into(),
        }
    }

    /// Gives the node a taint with this key, which no run tolerates.
    pub fn tainted(node: &str, key: &str) -> Self {
        let with = |taint: String| vec!["taint".into(), "node".into(), node.to_owned(), taint];
        administrate(&with(format!("{key}=:NoSchedule")));
        Self {
            undo: with(format!("{key}-")),
        }
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        administrate(&self.undo);
    }
}

fn administrate(arguments: &[String]) {
    let ended = std::process::Command::new(KUBECTL).args(arguments).status();
    let succeeds = ended.is_ok_and(|status| status.success());
    // A panic while another one unwinds would end the process.
    assert!(
        succeeds || std::thread::panicking(),
        "kubectl {} failed",
        arguments.join(" ")
    );
}
