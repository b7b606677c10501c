//! What a run may scale: kinds and namespaces that the administrator lists, and nothing that only a pod of
//! wasmbench's own can have.

use wasmbench_api::run::{
    BenchmarkRunSpec, Network, SCALE_RESOURCES_MESSAGE, SCHEME_MESSAGE, ScaleTarget,
};

use crate::config::OperatorConfig;
use crate::scale::ScaleConfig;
use crate::validate::{Invalid, invalid};

/// Checks what the variants of a run in this namespace scale.
pub(super) fn check(
    spec: &BenchmarkRunSpec,
    namespace: &str,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    for (index, variant) in spec.variants.iter().enumerate() {
        let Some(scale) = &variant.scale else {
            continue;
        };
        let field = format!("spec.variants[{index}]");
        check_kind(&format!("{field}.scale"), scale, &config.scale)?;
        if !config.scale.allows(namespace) {
            let message = format!(
                "the administrator does not allow runs of the namespace {namespace} to scale anything: have it added \
                 to scale.namespaces of the chart, or use container instead"
            );
            return Err(invalid(format!("{field}.scale"), message));
        }
        if !scale.scheme.is_spoken() {
            return Err(invalid(format!("{field}.scale.scheme"), SCHEME_MESSAGE));
        }
        if variant.resources.is_some() {
            return Err(invalid(
                format!("{field}.resources"),
                SCALE_RESOURCES_MESSAGE,
            ));
        }
        if spec.network() == Network::Host {
            return Err(invalid(
                "spec.placement.network",
                "the pods of an object that is scaled have the network of its own template: leave network out",
            ));
        }
    }
    Ok(())
}

fn check_kind(field: &str, scale: &ScaleTarget, config: &ScaleConfig) -> Result<(), Invalid> {
    if config.target(scale).is_some() {
        return Ok(());
    }
    let listed = config.resources.iter();
    let listed: Vec<String> = listed
        .map(|one| format!("{}.{}", one.resource, one.group))
        .collect();
    let message = format!(
        "the administrator does not allow runs to scale {}.{}: name one of {}, or have it added to scale.resources \
         of the chart",
        scale.resource,
        scale.group,
        listed.join(", ")
    );
    Err(invalid(format!("{field}.resource"), message))
}
