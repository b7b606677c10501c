//! The spec in words, for people who read a report without the run at hand.

mod sweeps;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{
    Compile, Engine, Expectation, JsonValue, Preset, TWIN, Variant, Workload, share_of,
};
use wasmbench_model::units::truncate;
use wasmbench_model::variants::catalogue::definition_of;

use crate::summary::limits::limits;
use crate::summary::{Compared, Named};
use crate::vocabulary::counts::TrialCounts;

/// Longest description of a variant or workload, in characters.
const MAX_WHAT_CHARS: usize = 160;

/// How the trials of a run ended, in one or two sentences.
pub fn trials(counts: TrialCounts) -> String {
    let repeated = match counts.repeated {
        0 => String::new(),
        many => format!(" {many} measured once more, because the node was noisy."),
    };
    format!(
        "Trials: {} valid of {} planned ({} invalid, {} failed, {} skipped, {} without a record).{repeated}",
        counts.valid, counts.planned, counts.invalid, counts.failed, counts.skipped, counts.missing
    )
}

/// The variants, workloads and sweeps in words.
pub fn compared(spec: &BenchmarkRunSpec) -> Compared {
    let named = |name: &str, what: String| Named {
        name: name.to_owned(),
        what: truncate(&what, MAX_WHAT_CHARS),
    };
    Compared {
        variants: spec
            .variants
            .iter()
            .filter(|v| v.name != TWIN)
            .map(|v| named(&v.name, variant_text(v)))
            .collect(),
        limits: limits(spec),
        twin: spec
            .variants
            .iter()
            .any(|v| v.name == TWIN)
            .then(|| format!("{TWIN}: the baseline measured a second time, as the noise floor")),
        workloads: spec
            .workloads
            .iter()
            .map(|w| named(&w.name, workload_text(w)))
            .collect(),
        sweeps: sweeps::descriptions(spec),
        blocks: spec.blocks,
        minimum_effect: share_of(&spec.minimum_effect),
    }
}

fn variant_text(variant: &Variant) -> String {
    let preset = variant
        .preset
        .map(|preset| format!("preset {}", <&str>::from(preset)));
    let engine = variant.engine.map(|engine| engine_text(variant, engine));
    let own = variant.container.as_ref().map(|own| {
        let class = own
            .runtime_class_name
            .as_ref()
            .map(|class| format!(" under {class}"));
        format!("container {}{}", own.image, class.unwrap_or_default())
    });
    let scaled = variant.scale.as_ref().map(|scale| {
        let (resource, group, name) = (&scale.resource, &scale.group, &scale.name);
        format!("{resource}.{group}/{name}, as it is")
    });
    format!(
        "{}{}",
        preset.or(own).or(scaled).unwrap_or_default(),
        engine.unwrap_or_default()
    )
}

/// The settings of an engine, each after a comma.
fn engine_text(variant: &Variant, engine: Engine) -> String {
    let is_embedded = variant.preset == Some(Preset::WasmtimeEmbedded);
    let row = definition_of(variant);
    let allocator = row
        .filter(|row| row.has_allocator)
        .map(|_| format!(", allocator {}", <&str>::from(engine.allocator)));
    let compile = engine.compile.map(|compile| {
        let holds_compiler = is_embedded && compile == Compile::Jit;
        let memory = if holds_compiler {
            " (its memory holds the compiler's)"
        } else {
            ""
        };
        format!(", {}{memory}", <&str>::from(compile))
    });
    let checks = row.and_then(|row| row.bounds_checks(engine)).map(|checks| {
        let mark = if checks.is_unsafe() { " (unsafe)" } else { "" };
        format!(", bounds checks {}{mark}", <&str>::from(checks))
    });
    let threads = row.and_then(|row| row.threads(engine)).map(|threads| {
        let plural = if threads == 1 { "" } else { "s" };
        format!(", {threads} thread{plural}")
    });
    let all = [allocator, compile, checks, threads];
    all.into_iter().flatten().collect()
}

fn workload_text(workload: &Workload) -> String {
    if workload.requests.is_empty() {
        return request_text(workload);
    }
    let parts = workload.requests.iter().zip(workload.parts());
    let words = parts.map(|(one, part)| {
        format!(
            "{} of weight {}: {}",
            one.name,
            one.weight,
            request_text(&part)
        )
    });
    words.collect::<Vec<_>>().join("; ")
}

fn request_text(workload: &Workload) -> String {
    let Expectation {
        status,
        body,
        body_prefix,
        body_suffix,
        content_type,
        json,
        same_across_variants,
    } = &workload.expect;
    let status = Some(format!("{} must answer {status}", workload.request()));
    let parts = [
        status,
        body.as_ref().map(|body| format!("body '{body}'")),
        body_prefix
            .as_ref()
            .map(|prefix| format!("body begins with '{prefix}'")),
        body_suffix
            .as_ref()
            .map(|suffix| format!("body ends with '{suffix}'")),
        content_type.as_ref().map(|kind| format!("type {kind}")),
    ];
    let json = json.iter().map(|(place, value)| match value {
        JsonValue::Number(number) => format!("{place} is {number}"),
        JsonValue::Text(text) => format!("{place} is '{text}'"),
    });
    let same = same_across_variants.then(|| "the same body from all variants".to_owned());
    let all = parts.into_iter().flatten().chain(json).chain(same);
    all.collect::<Vec<_>>().join(", ")
}
