//! What each variant's pod runs, and whether it can do any part of the run.

use wasmbench_api::run::{
    BenchmarkRunSpec, BoundsChecks, ENGINE_MESSAGE, ONE_SERVICE_MESSAGE, TWIN, UNSAFE_MESSAGE,
    UNSAFE_WORD, Variant,
};
use wasmbench_model::variants::{catalogue, not_applicable};

use crate::config::OperatorConfig;
use crate::subject;
use crate::validate::{Invalid, ValidatedVariant, invalid};

pub(super) fn resolve(
    spec: &BenchmarkRunSpec,
    config: &OperatorConfig,
) -> Result<Vec<ValidatedVariant>, Invalid> {
    let resolve = |(index, variant): (usize, &Variant)| {
        let field = format!("spec.variants[{index}]");
        if variant.container.is_some() && !config.limits.own_containers {
            return Err(invalid(
                format!("{field}.container"),
                "the administrator allows presets only: use preset instead",
            ));
        }
        let services = [
            variant.preset.is_some(),
            variant.container.is_some(),
            variant.scale.is_some(),
        ];
        if services.into_iter().filter(|is_set| *is_set).count() != 1 {
            return Err(invalid(field, ONE_SERVICE_MESSAGE));
        }
        if !engine_fits(variant) {
            return Err(invalid(format!("{field}.engine"), ENGINE_MESSAGE));
        }
        if hides_that_it_is_unsafe(variant) {
            return Err(invalid(format!("{field}.name"), UNSAFE_MESSAGE));
        }
        let subject =
            subject::subject(variant, config).ok_or_else(|| invalid(field, ONE_SERVICE_MESSAGE))?;
        Ok(ValidatedVariant {
            name: variant.name.clone(),
            subject,
            resources: spec.resources_of(variant),
        })
    };
    spec.variants.iter().enumerate().map(resolve).collect()
}

/// The CRD's rule again.
fn engine_fits(variant: &Variant) -> bool {
    let Some(engine) = variant.engine else {
        return true;
    };
    catalogue::definition_of(variant).is_some_and(|preset| preset.takes(engine))
}

/// The CRD's rule again. The twin has no name of its own: it stands beside the baseline.
fn hides_that_it_is_unsafe(variant: &Variant) -> bool {
    let checks = variant.engine.and_then(|engine| engine.bounds_checks);
    let is_named = variant.name == TWIN || variant.name.contains(UNSAFE_WORD);
    checks.is_some_and(BoundsChecks::is_unsafe) && !is_named
}

pub(super) fn nothing_applicable(spec: &BenchmarkRunSpec) -> Invalid {
    let first = not_applicable::list(spec).into_iter().next();
    let why = first.map_or_else(String::new, |first| {
        format!(" ({}: {})", first.variant, first.reason)
    });
    let message = format!(
        "no variant can do any of the run's workloads and sweeps{why}: change them or the variants"
    );
    invalid("spec.variants", message)
}
