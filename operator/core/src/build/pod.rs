//! What all pods share: security, placement on the measured node, and no access to the API.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Affinity, Capabilities, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
    Pod, PodSecurityContext, PodSpec, ResourceRequirements, SeccompProfile, SecurityContext,
    Toleration,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use sha2::{Digest, Sha256};
use wasmbench_api::labels;
use wasmbench_api::run::{CpuAndMemory, Placement};

use wasmbench_model::store::hex;

/// Seconds between SIGTERM and SIGKILL. A subject has nothing to save, and the next trial is
/// waiting.
const GRACE_SECONDS: i64 = 1;

/// Characters of the digest of a desired pod.
const DIGEST: usize = 16;

/// Labels that keep service meshes away: a proxy next to the subject would be measured as part of
/// it. Istio reads both as labels, the first for its sidecars, the second for its ambient mode.
const OUT_OF_ISTIO: [(&str, &str); 2] = [
    ("sidecar.istio.io/inject", "false"),
    ("istio.io/dataplane-mode", "none"),
];
/// The same for Linkerd, which reads an annotation.
const OUT_OF_LINKERD: (&str, &str) = ("linkerd.io/inject", "disabled");
/// Annotations that keep a node where it is. Its pods request little, so it looks idle: the cluster
/// autoscaler and Karpenter would remove it, and a descheduler would move its pods.
const STAYS: [(&str, &str); 3] = [
    ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"),
    ("karpenter.sh/do-not-disrupt", "true"),
    ("descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"),
];

/// Metadata of a pod that is in no service mesh, and that nothing moves elsewhere.
pub(super) fn undisturbed(mut meta: ObjectMeta) -> ObjectMeta {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let labels = meta.labels.get_or_insert_default();
    labels.extend(OUT_OF_ISTIO.map(owned));
    let annotations = meta.annotations.get_or_insert_default();
    annotations.extend([owned(OUT_OF_LINKERD)]);
    annotations.extend(STAYS.map(owned));
    meta
}

/// The pod with a digest of its desired spec. Values of the environment are left out, because the
/// echo server's address is one of them.
pub(super) fn signed(mut pod: Pod) -> Pod {
    let mut spec = pod.spec.clone().unwrap_or_default();
    let containers = spec.containers.iter_mut();
    for variable in containers.flat_map(|one| one.env.iter_mut().flatten()) {
        variable.value = None;
    }
    let text = serde_json::to_vec(&spec).unwrap_or_default();
    let digest = hex(&Sha256::digest(text))[..DIGEST].to_owned();
    let annotations = pod.metadata.annotations.get_or_insert_default();
    annotations.insert(labels::DESIRED_SPEC_HASH.to_owned(), digest);
    pod
}

/// A pod on `node` that passes the `restricted` pod security standard and holds no token.
pub(super) fn restricted(node: &str, placement: &Placement) -> PodSpec {
    PodSpec {
        affinity: Some(on_node(node)),
        tolerations: tolerations(placement),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        restart_policy: Some("Never".into()),
        termination_grace_period_seconds: Some(GRACE_SECONDS),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(true),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".into(),
                ..SeccompProfile::default()
            }),
            ..PodSecurityContext::default()
        }),
        ..PodSpec::default()
    }
}

/// The security context of every container.
pub(super) fn locked_down(read_only_root: bool) -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        capabilities: Some(Capabilities {
            drop: Some(vec!["ALL".into()]),
            add: None,
        }),
        read_only_root_filesystem: Some(read_only_root),
        run_as_non_root: Some(true),
        ..SecurityContext::default()
    }
}

/// Goes through the scheduler instead of bypassing it with `nodeName`: resource requests are
/// counted, and a full node is reported instead of causing an eviction.
fn on_node(node: &str) -> Affinity {
    let by_name = NodeSelectorRequirement {
        key: "metadata.name".into(),
        operator: "In".into(),
        values: Some(vec![node.to_owned()]),
    };
    let term = NodeSelectorTerm {
        match_fields: Some(vec![by_name]),
        match_expressions: None,
    };
    Affinity {
        node_affinity: Some(NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector {
                node_selector_terms: vec![term],
            }),
            ..NodeAffinity::default()
        }),
        ..Affinity::default()
    }
}

/// The node that a pod is on or requests.
pub fn node_of(spec: &PodSpec) -> Option<&str> {
    let requested = || {
        let affinity = spec.affinity.as_ref()?.node_affinity.as_ref()?;
        let required = affinity
            .required_during_scheduling_ignored_during_execution
            .as_ref()?;
        let term = required.node_selector_terms.first()?;
        let fields = term.match_fields.as_ref()?;
        fields.first()?.values.as_ref()?.first().map(String::as_str)
    };
    spec.node_name.as_deref().or_else(requested)
}

fn tolerations(placement: &Placement) -> Option<Vec<Toleration>> {
    let one = |toleration: &wasmbench_api::run::Toleration| Toleration {
        key: toleration.key.clone(),
        operator: toleration
            .operator
            .map(|operator| <&'static str>::from(operator).to_owned()),
        value: toleration.value.clone(),
        effect: toleration
            .effect
            .map(|effect| <&'static str>::from(effect).to_owned()),
        toleration_seconds: None,
    };
    let all: Vec<Toleration> = placement.tolerations.iter().map(one).collect();
    (!all.is_empty()).then_some(all)
}

/// Escapes `text` so that the kubelet, which expands `$(NAME)` and reads `$$` as `$`, passes it on
/// unchanged.
pub(super) fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

/// A request for CPU and memory, and a limit of memory only.
pub(super) fn resources(cpu: &str, memory: &str, limit: &str) -> ResourceRequirements {
    let amount = |cpu: Option<&str>, memory: &str| {
        quantities(&CpuAndMemory {
            cpu: cpu.map(str::to_owned),
            memory: Some(memory.to_owned()),
        })
    };
    ResourceRequirements {
        requests: amount(Some(cpu), memory),
        limits: amount(None, limit),
        claims: None,
    }
}

/// CPU and memory as Kubernetes quantities; unset ones are left out.
pub(super) fn quantities(amount: &CpuAndMemory) -> Option<BTreeMap<String, Quantity>> {
    let pairs = [("cpu", &amount.cpu), ("memory", &amount.memory)];
    let map: BTreeMap<String, Quantity> = pairs
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), Quantity(value.clone()?))))
        .collect();
    (!map.is_empty()).then_some(map)
}
