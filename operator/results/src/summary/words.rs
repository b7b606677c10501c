//! The spec in words, for people who read a report without the run beside it.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{Compile, Expectation, Preset, TWIN, Variant, Workload, share_of};
use wasmbench_model::units::cut;
use wasmbench_model::wire::request::{DEFAULT_REQUESTS, LEAST_SECONDS, MOST_SECONDS};

use crate::cells::{coldstart, density, open_loop};
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
        what: cut(&what, MAX_WHAT_CHARS),
    };
    Compared {
        variants: spec
            .variants
            .iter()
            .filter(|v| v.name != TWIN)
            .map(|v| named(&v.name, variant_words(v)))
            .collect(),
        twin: spec
            .variants
            .iter()
            .any(|v| v.name == TWIN)
            .then(|| format!("{TWIN}: the baseline measured a second time, as the noise floor")),
        workloads: spec
            .workloads
            .iter()
            .map(|w| named(&w.name, workload_words(w)))
            .collect(),
        sweeps: sweeps(spec),
        blocks: spec.blocks,
        minimum_effect: share_of(&spec.minimum_effect),
    }
}

/// A sentence for each sweep.
fn sweeps(spec: &BenchmarkRunSpec) -> Vec<String> {
    let cold = spec.sweeps.cold_start.as_ref();
    let cold = cold.map(|sweep| coldstart::sweep(sweep, spec.network()));
    let dense = spec.sweeps.density.as_ref().map(density::sweep);
    let warm = spec.sweeps.warm_latency.map(|w| {
        let least = w.requests.unwrap_or(DEFAULT_REQUESTS);
        let most = match w.requests {
            Some(_) => String::new(),
            None => format!(" and {MOST_SECONDS} s at most"),
        };
        format!(
            "warm latency: {least} requests per trial, for {LEAST_SECONDS} s at least{most}, over {} connection(s), \
             after {} discarded ones",
            w.connections, w.warmup_requests
        )
    });
    let throughput = spec.sweeps.throughput.as_ref().map(|t| {
        let connections: Vec<String> = t.connections.iter().map(u32::to_string).collect();
        let reuse: &str = t.connection_reuse.into();
        format!(
            "throughput: {} s per trial after {} discarded seconds, at {} connections ({reuse})",
            t.duration_seconds,
            t.warmup_seconds,
            connections.join(", ")
        )
    });
    let open = spec.sweeps.open_loop.as_ref().map(open_loop::sweep);
    let all = [cold, warm, throughput, open, dense];
    all.into_iter().flatten().collect()
}

fn variant_words(variant: &Variant) -> String {
    let preset = variant
        .preset
        .map(|preset| format!("preset {}", <&str>::from(preset)));
    let engine = variant.engine.map(|engine| {
        let is_embedded = variant.preset == Some(Preset::WasmtimeEmbedded);
        let allocator: &str = engine.allocator.into();
        let allocator = is_embedded.then(|| format!(", allocator {allocator}"));
        let compile = engine.compile.map(|compile| {
            let holds_compiler = is_embedded && compile == Compile::Jit;
            let memory = if holds_compiler {
                " (its memory holds the compiler's)"
            } else {
                ""
            };
            format!(", {}{memory}", <&str>::from(compile))
        });
        allocator.into_iter().chain(compile).collect::<String>()
    });
    let own = variant.container.as_ref().map(|own| {
        let class = own
            .runtime_class_name
            .as_ref()
            .map(|class| format!(" under {class}"));
        format!("container {}{}", own.image, class.unwrap_or_default())
    });
    format!(
        "{}{}",
        preset.or(own).unwrap_or_default(),
        engine.unwrap_or_default()
    )
}

fn workload_words(workload: &Workload) -> String {
    let Expectation {
        status,
        body,
        body_prefix,
        body_suffix,
        same_across_variants,
    } = &workload.expect;
    let status = Some(format!("GET {} must answer {status}", workload.path));
    let parts = [
        status,
        body.as_ref().map(|body| format!("body '{body}'")),
        body_prefix
            .as_ref()
            .map(|prefix| format!("body begins with '{prefix}'")),
        body_suffix
            .as_ref()
            .map(|suffix| format!("body ends with '{suffix}'")),
        same_across_variants.then(|| "the same body from all variants".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
