//! The rules that raise doubts. Each examines the results and reports what is wrong, where, and what
//! to do about it, in a file named after what is wrong. Thresholds are named constants with their
//! reasons.

mod answers_vary;
mod capacity;
mod coarse_clock;
mod cold_starts;
mod connections_end;
mod counts;
mod delayed_ack;
mod density;
mod drifted;
mod engine_mode;
mod errors;
mod generator_late;
mod generator_share;
mod high_variance;
mod littles_law;
mod log_cost;
mod lost_blocks;
mod noisy;
mod not_steady;
mod order_effect;
mod overrun;
mod payload;
mod rate_not_achieved;
mod response_mismatch;
mod saturation;
mod start_limit;
mod throttled;
mod too_few_blocks;
mod too_few_samples;
mod two_modes;
mod unequal_answers;
mod unequal_cpus;
mod unequal_resources;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::units::truncate;

use crate::cells::Cells;
use crate::cells::variant_validity::WrongEngines;
use crate::judge::comparison::Comparison;
use crate::judge::order_effects::OrderEffect;
use crate::read::answer_sizes::AnswerSizes;
use crate::read::answers::Mismatch;
use crate::read::cpu_limit::CpuLimits;
use crate::read::environment::Drift;
use crate::vocabulary::doubt::{Doubt, Reason};

/// The most places that a message lists; further ones are only counted.
const MAX_PLACES: usize = 4;
/// What to do about a noisy node.
const NOISY_REMEDY: &str = "move other pods away (kubectl top pods), or choose a quiet node, with memory to spare, by \
                                spec.placement, and run again: numbers of noisy points are shown, and not trusted";
/// The most differing facts or answers that are listed.
const MAX_ITEMS: usize = 6;
/// Longest single item in a message, in characters.
const MAX_ITEM_CHARS: usize = 300;

/// The results from which doubts are raised.
pub struct Evidence<'a> {
    /// What was requested.
    pub spec: &'a BenchmarkRunSpec,
    /// Who set the subjects' CPU limits.
    pub cpu_limits: &'a CpuLimits<'a>,
    /// What was found.
    pub cells: &'a Cells,
    /// Answers that differ.
    pub mismatches: &'a [Mismatch],
    /// How large the answers were.
    pub answer_sizes: &'a AnswerSizes,
    /// Variants in a different mode than they claim.
    pub engines: &'a WrongEngines<'a>,
    /// Facts that differ.
    pub drift: &'a [Drift],
    /// The comparisons.
    pub comparisons: &'a [Comparison],
    /// How the order of trials moves the measures that the run decides.
    pub order_effects: &'a [OrderEffect],
}

/// All doubts: those about loads and the whole run, the worst first, then those about capacity,
/// payload, cold starts and density.
pub fn doubts(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let [p50, p90, p99] = too_few_samples::doubts(evidence);
    let worst = [
        response_mismatch::doubt(evidence),
        engine_mode::doubt(evidence),
        errors::doubt(evidence),
        errors::within_limit(evidence),
        counts::trials_failed(evidence),
        counts::nothing_measured(evidence),
        counts::incomplete(evidence),
        too_few_blocks::doubt(evidence),
        lost_blocks::doubt(evidence),
        p50,
        p90,
        p99,
    ];
    let others = [
        noisy::doubt(evidence),
        noisy::repeats(evidence),
        noisy::not_judged(evidence),
        saturation::doubt(evidence),
        rate_not_achieved::doubt(evidence),
        drifted::doubt(evidence),
        coarse_clock::doubt(evidence),
        littles_law::doubt(evidence),
        generator_late::doubt(evidence),
        delayed_ack::doubt(evidence),
        not_steady::doubt(evidence),
        overrun::doubt(evidence),
        order_effect::doubt(evidence),
        connections_end::doubt(evidence),
        connections_end::sent_again(evidence),
        answers_vary::doubt(evidence),
        high_variance::doubt(evidence),
        two_modes::doubt(evidence),
        generator_share::doubt(evidence),
        log_cost::doubt(evidence),
        unequal_answers::doubt(evidence),
        unequal_cpus::doubt(evidence),
        unequal_resources::doubt(evidence),
    ];
    let of_loads = worst
        .into_iter()
        .flatten()
        .chain(throttled::doubts(evidence))
        .chain(start_limit::doubts(evidence))
        .chain(others.into_iter().flatten());
    let of_starts = cold_starts::doubts(&evidence.cells.cold_starts);
    let of_capacity = capacity::doubts(evidence.cpu_limits, &evidence.cells.capacity);
    let of_payload = payload::doubts(evidence.cpu_limits, &evidence.cells.payload);
    let of_density = density::doubts(evidence.cpu_limits, &evidence.cells.density);
    of_loads
        .chain(of_capacity)
        .chain(of_payload)
        .chain(of_starts)
        .chain(of_density)
        .collect()
}

fn doubt(reason: Reason, message: String, remedy: &str) -> Doubt {
    Doubt {
        reason,
        breaks_trust: true,
        message,
        remedy: remedy.to_owned(),
    }
}

fn note(reason: Reason, message: String, remedy: &str) -> Doubt {
    Doubt {
        breaks_trust: false,
        ..doubt(reason, message, remedy)
    }
}

/// The places of the `cells` for which `place` returns text; `None` if there are none.
fn places<C>(cells: &[C], place: impl Fn(&C) -> Option<String>) -> Option<String> {
    listed(cells.iter().filter_map(place), MAX_PLACES, ", ")
}

/// The first `limit` items, and how many more there are; `None` without items.
fn listed(items: impl Iterator<Item = String>, limit: usize, between: &str) -> Option<String> {
    let all: Vec<String> = items.collect();
    let shown: Vec<String> = all
        .iter()
        .take(limit)
        .map(|item| truncate(item, MAX_ITEM_CHARS))
        .collect();
    let more = match all.len().saturating_sub(limit) {
        0 => String::new(),
        more => format!("{between}and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(between)))
}
