//! Which differences a run can find, as its status has it.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::status::Power;
use wasmbench_core::observed::Scatter;
use wasmbench_model::rounding::round_number;
use wasmbench_results::summary::{Summary, power};

use super::truncate_to;

/// Longest message.
const MESSAGE_LIMIT: usize = 512;

/// The smallest difference that a run of this spec is expected to find, by how far its trials
/// `scatter` so far, or else by an assumed scatter; `None` if it compares nothing.
pub fn expected(spec: &BenchmarkRunSpec, scatter: Option<Scatter>) -> Option<Power> {
    let own = scatter.and_then(|scatter| Some((scatter.share?, scatter.blocks)));
    let share = own.map_or(power::USUAL_SCATTER, |(share, _)| share);
    let expected = power::expected(spec, share)?;
    let text = expected.text(spec, share, own.map(|(_, blocks)| blocks));
    Some(Power {
        smallest_difference: expected.smallest.map(excess),
        assumed_scatter: own.is_none().then_some(share),
        scatter: own.map(|(share, _)| share),
        blocks: scatter.map(|scatter| scatter.blocks),
        message: truncate_to(&text, MESSAGE_LIMIT),
    })
}

/// The smallest difference that a run with the scatter of this one finds.
pub fn found(summary: &Summary) -> Option<Power> {
    let workloads = &summary.compared.workloads;
    let primary = |name: &str| power::found(summary, name, true).into_values();
    let worst = workloads.iter().flat_map(|one| primary(&one.name));
    let worst = worst.reduce(f64::max)?;
    let scatter = power::scatter(summary);
    Some(Power {
        smallest_difference: Some(excess(worst)),
        assumed_scatter: None,
        scatter,
        blocks: scatter.map(|_| summary.compared.blocks),
        message: truncate_to(&power::found_message(summary)?, MESSAGE_LIMIT),
    })
}

/// The share by which a factor above 1 exceeds 1.
fn excess(factor: f64) -> f64 {
    round_number(factor - 1.0)
}
