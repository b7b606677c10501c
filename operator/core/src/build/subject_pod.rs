//! The pod under test: one container of the variant, with its resources, and with the same placement
//! and security as every other variant's.

use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvVar, Pod, PodSpec, ResourceRequirements, SecurityContext,
};
use wasmbench_api::labels;
use wasmbench_api::run::{Network, Placement, SubjectResources};
use wasmbench_model::containers;
use wasmbench_model::wire::record::TrialId;

use crate::build::{names, owned_meta, pod, with_trial};
use crate::subject::SubjectSpec;
use crate::validate::{ValidatedRun, ValidatedVariant};

/// The environment variable that holds the echo server's address.
pub const UPSTREAM_ENV: &str = "WASMBENCH_UPSTREAM";

/// The subject of `trial` on `node`; `upstream` is the echo server's `address:port`, if the
/// workload needs one.
pub fn subject_pod(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    trial: &TrialId,
    node: &str,
    upstream: Option<&str>,
) -> Pod {
    let meta = owned_meta(run, names::subject(run, trial), labels::COMPONENT_SUBJECT);
    let placement = run.spec.placement.clone().unwrap_or_default();
    pod::signed(Pod {
        metadata: pod::undisturbed(with_trial(meta, trial)),
        spec: Some(PodSpec {
            containers: vec![container(variant, upstream)],
            runtime_class_name: variant.subject.runtime_class.clone(),
            host_network: on_host(&placement, variant).then_some(true),
            ..pod::restricted(node, &placement)
        }),
        status: None,
    })
}

/// The desired subject of `trial` on `node`, to compare with the one that is there.
pub fn desired_subject(run: &ValidatedRun, trial: &TrialId, node: &str) -> Option<Pod> {
    // Values of the environment are not compared.
    let upstream = run.has_upstream(trial).then_some("");
    Some(subject_pod(run, run.variant(trial)?, trial, node, upstream))
}

/// Whether `variant` shares the node's network: the variant may request that for itself, or the run
/// for all variants.
fn on_host(placement: &Placement, variant: &ValidatedVariant) -> bool {
    placement.network == Network::Host || variant.subject.host_network
}

/// What a cold start creates: the subject of `trial`, under a name to which the probe appends
/// numbers. The image is pulled only if it is missing on the node, which depends on the sweep's class.
pub fn cold_subject(
    run: &ValidatedRun,
    variant: &ValidatedVariant,
    trial: &TrialId,
    node: &str,
    upstream: Option<&str>,
) -> Pod {
    let name = names::cold_subject(run, trial);
    let meta = owned_meta(run, name, labels::COMPONENT_COLD_SUBJECT);
    let mut pod = subject_pod(run, variant, trial, node, upstream);
    pod.metadata = pod::undisturbed(with_trial(meta, trial));
    for container in pod.spec.iter_mut().flat_map(|spec| &mut spec.containers) {
        container.image_pull_policy = Some("IfNotPresent".into());
    }
    pod
}

/// What the floor of `trial` creates: a cold subject that does nothing but listen.
pub fn floor_subject(run: &ValidatedRun, floor: SubjectSpec, trial: &TrialId, node: &str) -> Pod {
    let variant = ValidatedVariant {
        name: trial.cell.variant.clone(),
        subject: floor,
        resources: run.spec.common_resources(),
    };
    let mut pod = cold_subject(run, &variant, trial, node, None);
    pod.metadata.name = Some(names::floor(run, trial));
    pod
}

fn container(variant: &ValidatedVariant, upstream: Option<&str>) -> Container {
    let subject = &variant.subject;
    let own = subject
        .env
        .iter()
        .map(|env| (env.name.clone(), env.value.clone()));
    let added = upstream.map(|address| (UPSTREAM_ENV.to_owned(), address.to_owned()));
    let env = own.chain(added).map(|(name, value)| EnvVar {
        name,
        // The API promises the literal value.
        value: Some(pod::literal(&value)),
        value_from: None,
    });
    Container {
        name: containers::SUBJECT.into(),
        image: Some(subject.image.clone()),
        image_pull_policy: subject.pull_policy.clone(),
        command: non_empty(&subject.command),
        args: non_empty(&subject.args),
        env: Some(env.collect()).filter(|env: &Vec<EnvVar>| !env.is_empty()),
        ports: Some(vec![ContainerPort {
            name: Some("http".into()),
            container_port: i32::from(subject.port),
            ..ContainerPort::default()
        }]),
        resources: Some(resources(&variant.resources)),
        security_context: Some(SecurityContext {
            run_as_user: subject.run_as_user,
            run_as_group: subject.run_as_group,
            // Our own images never write; the user's own images may need to.
            ..pod::locked_down(subject.pull_policy.is_some())
        }),
        // A trap or a panic is reported only in the log.
        termination_message_policy: Some("FallbackToLogsOnError".into()),
        ..Container::default()
    }
}

/// Words of a command line, as the API promises them: literal.
fn non_empty(all: &[String]) -> Option<Vec<String>> {
    let literal = all.iter().map(|word| pod::literal(word));
    (!all.is_empty()).then(|| literal.collect())
}

/// Where only a limit is set, the API server takes it for the request, too.
fn resources(set: &SubjectResources) -> ResourceRequirements {
    ResourceRequirements {
        requests: set.requests.as_ref().and_then(pod::quantities),
        limits: set.limits.as_ref().and_then(pod::quantities),
        claims: None,
    }
}
