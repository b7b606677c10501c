//! `kubectl wasmbench cost`: what the variants of a run cost on a node with a given price.

use k8s_openapi::api::core::v1::Node;
use wasmbench_api::quantity::thousandths;
use wasmbench_report::cost::cost_text;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::cost::Costs;

use crate::args::{ClusterArgs, CostArgs};
use crate::error::Error;
use crate::live::NOT_TRUSTWORTHY;
use crate::print;
use crate::read::Source;

/// Prints the costs of the run that the arguments name.
pub async fn run(cluster: &ClusterArgs, args: &CostArgs) -> Result<u8, Error> {
    let source = Source::open(cluster, args.records_from.as_deref()).await?;
    let (_, summary) = source
        .read(&args.name, cluster.namespace.as_deref())
        .await?;
    let (vcpus, memory) = size(&source, &summary, args).await?;
    let costs = Costs::new(&summary, args.node(vcpus, memory), args.rate);
    if !costs.any() {
        return Err(Error::NothingToCost(args.name.clone()));
    }
    print(&match args.output.format() {
        None => cost_text(&summary, &costs),
        Some(format) => format.text(&costs)?,
    })?;
    Ok(if summary.trustworthy == Some(true) {
        0
    } else {
        NOT_TRUSTWORTHY
    })
}

/// The CPUs and the memory of the node: as given, or what pods may use of the run's.
async fn size(source: &Source, summary: &Summary, args: &CostArgs) -> Result<(f64, f64), Error> {
    if let (Some(vcpus), Some(memory)) = (args.vcpus, args.memory) {
        return Ok((vcpus, memory));
    }
    let unknown = |why: &str| Error::NodeUnknown(why.to_owned());
    let Source::Cluster(cluster) = source else {
        return Err(unknown("they are not in the records"));
    };
    let name = summary.environment.node.as_deref();
    let name = name.ok_or_else(|| unknown("the run has no node"))?;
    let node = cluster.node(name).await;
    let node = node.map_err(|error| unknown(&error.to_string()))?;
    let node = node.ok_or_else(|| unknown(&format!("node {name} is gone")))?;
    let of_node = |resource| allocatable(&node, resource);
    let (vcpus, memory) = (
        args.vcpus.or_else(|| of_node("cpu")),
        args.memory.or_else(|| of_node("memory")),
    );
    vcpus
        .zip(memory)
        .ok_or_else(|| unknown(&format!("node {name} does not state them")))
}

/// What pods may use of a node.
fn allocatable(node: &Node, resource: &str) -> Option<f64> {
    let amounts = node.status.as_ref()?.allocatable.as_ref()?;
    let thousandths = thousandths(&amounts.get(resource)?.0)?;
    (thousandths > 0).then_some(thousandths as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_has_what_pods_may_use_of_it() {
        let node = json!({"status": {
            "capacity": {"cpu": "4"}, "allocatable": {"cpu": "3920m", "memory": "13Gi"},
        }});
        let node: Node = serde_json::from_value(node).unwrap();
        assert_eq!(allocatable(&node, "cpu"), Some(3.92));
        assert_eq!(allocatable(&node, "memory"), Some(13_958_643_712.0));
        assert_eq!(allocatable(&node, "pods"), None);
        assert_eq!(allocatable(&Node::default(), "cpu"), None);
    }
}
