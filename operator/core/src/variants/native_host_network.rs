//! `native-host-network`: the native gateway on the node's network. What it saves compared with
//! `native` is the price of a pod's own network.

use crate::config::OperatorConfig;
use crate::variants::{SubjectSpec, gateway};
use crate::wire::record::Point;

/// Why it is skipped, and what to do.
const NOT_ALLOWED: &str = "the administrator does not allow the node's network: have hostNetwork.enabled \
    set in the chart, or remove this variant";

pub(super) fn subject(config: &OperatorConfig) -> SubjectSpec {
    SubjectSpec {
        host_network: true,
        not_allowed: (!config.host_network).then_some(NOT_ALLOWED),
        ..gateway(&config.images.native, &config.images)
    }
}

/// Why it cannot do a point: all pods of one trial would listen on the same port of the node.
pub(super) fn cannot(point: Point) -> Option<&'static str> {
    match point {
        Point::WarmLatency
        | Point::Throughput { .. }
        | Point::OpenLoop { .. }
        | Point::ColdStart { concurrency: 0..=1 } => None,
        Point::ColdStart { .. } | Point::Density => Some(
            "pods on the node's network share its ports, so that only one of them can listen at a time",
        ),
    }
}
