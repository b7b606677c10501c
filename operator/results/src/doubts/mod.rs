//! The rules that raise doubts. Each examines the results and says what is wrong, where, and what
//! to do about it. Thresholds are named constants with their reasons.

mod answers_vary;
mod coarse_clock;
mod connections_end;
mod counts;
mod delayed_ack;
mod errors;
mod generator_share;
mod high_variance;
mod littles_law;
mod log_cost;
mod lost_blocks;
mod noisy;
mod not_steady;
mod overrun;
pub mod saturation;
mod start_limit;
pub mod throttled;
mod twin;
mod two_modes;
mod unequal_answers;
mod unequal_cpus;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::units::cut;

use crate::cells::Cells;
use crate::cells::load::LoadCell;
use crate::cells::open_loop;
use crate::cells::variant_validity::WrongEngines;
use crate::judge::comparison::{Comparison, NoiseFloor};
use crate::judge::ratios::FEWEST_BLOCKS;
use crate::read::answer_sizes::AnswerSizes;
use crate::read::answers::Mismatch;
use crate::read::cpu_limit::CpuLimit;
use crate::read::environment::Drift;
use crate::read::trial::{REQUESTS_BEYOND_PERCENTILE, TrialState};
use crate::vocabulary::doubt::{Doubt, Reason};

/// The most places that a message lists; further ones are only counted.
pub const MAX_PLACES: usize = 4;
/// What to do about a noisy node.
pub const NOISY_REMEDY: &str = "move other pods away (kubectl top pods), or choose a quiet node, with memory to spare, by \
                                spec.placement, and run again: numbers of noisy points are shown, and not trusted";
/// The most differing facts or answers that are listed.
const MAX_ITEMS: usize = 6;
/// Longest single item in a message, in characters.
const MAX_ITEM_CHARS: usize = 300;

/// The results from which doubts are raised.
pub struct Evidence<'a> {
    /// What was requested.
    pub spec: &'a BenchmarkRunSpec,
    /// Who set the subjects' CPU limit.
    pub cpu_limit: &'a CpuLimit,
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
    /// The baseline compared with its twin.
    pub noise_floors: &'a [NoiseFloor],
}

/// All doubts, the worst first.
pub fn doubts(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let found = [
        response_mismatch(evidence),
        engine_mode(evidence),
        errors::doubt(evidence),
        errors::within_limit(evidence),
        counts::trials_failed(evidence),
        counts::nothing_measured(evidence),
        counts::incomplete(evidence),
        too_few_blocks(evidence),
        lost_blocks::doubt(evidence),
        too_few_samples(evidence, PERCENTILES[0]),
        too_few_samples(evidence, PERCENTILES[1]),
        too_few_samples(evidence, PERCENTILES[2]),
        throttled::doubt(evidence),
        start_limit::doubt(evidence),
        noisy::doubt(evidence),
        twin::doubt(evidence),
        noisy::repeats(evidence),
        noisy::not_judged(evidence),
        saturation::doubt(evidence),
        open_loop::doubt_rate(evidence),
        drifted(evidence),
        coarse_clock::doubt(evidence),
        littles_law::doubt(evidence),
        open_loop::doubt_late(evidence),
        delayed_ack::doubt(evidence),
        not_steady::doubt(evidence),
        overrun::doubt(evidence),
        connections_end::doubt(evidence),
        connections_end::sent_again(evidence),
        answers_vary::doubt(evidence),
        high_variance::doubt(evidence),
        two_modes::doubt(evidence),
        generator_share::doubt(evidence),
        log_cost::doubt(evidence),
        unequal_answers::doubt(evidence),
        unequal_cpus::doubt(evidence),
    ];
    found.into_iter().flatten().collect()
}

pub(super) fn doubt(reason: Reason, message: String, remedy: &str) -> Doubt {
    Doubt {
        reason,
        breaks_trust: true,
        message,
        remedy: remedy.to_owned(),
    }
}

pub(super) fn note(reason: Reason, message: String, remedy: &str) -> Doubt {
    Doubt {
        breaks_trust: false,
        ..doubt(reason, message, remedy)
    }
}

fn response_mismatch(evidence: &Evidence<'_>) -> Option<Doubt> {
    let differ = evidence.mismatches.iter();
    let differ = differ.map(|m| format!("on {}, {}", m.workload, m.message));
    let wrong = evidence.cells.loads.iter().filter(|cell| {
        cell.detail.trials.iter().any(|trial| {
            matches!(trial.state, TrialState::Failed | TrialState::Skipped)
                && trial.reason.as_deref().and_then(Reason::of_trial)
                    == Some(Reason::ResponseMismatch)
        })
    });
    let wrong = wrong.map(|cell| format!("{} gave a wrong answer", cell.place()));
    let others = evidence.cells.loads.iter().filter_map(other_sizes);
    let message = listed(differ.chain(wrong).chain(others), MAX_ITEMS, "; ")?;
    Some(doubt(
        Reason::ResponseMismatch,
        message,
        "these points are not compared; make all variants give the right answer, or correct \
         spec.workloads[].expect",
    ))
}

/// Says that answers under load had another size than the right one; `None` where they may.
fn other_sizes(cell: &LoadCell) -> Option<String> {
    let mut trials = cell.detail.trials.iter();
    let before = trials.find_map(|trial| {
        let is_wrong = trial.reason.as_deref() == Some(Reason::ResponseMismatch.into());
        trial.metrics.other_bytes_before.filter(|_| is_wrong)
    })?;
    let bytes = cell.detail.traffic.as_ref()?.answer_bytes?;
    let place = cell.place();
    let sizes = if bytes.min == bytes.max {
        bytes.min.to_string()
    } else {
        format!("{} to {}", bytes.min, bytes.max)
    };
    Some(format!(
        "{place} gave answers of {sizes} bytes under load, and one of {before} before it"
    ))
}

fn engine_mode(evidence: &Evidence<'_>) -> Option<Doubt> {
    let item = |(variant, how): (&&str, &&str)| format!("{variant}: {how}");
    Some(doubt(
        Reason::EngineModeMismatch,
        listed(evidence.engines.iter().map(item), MAX_ITEMS, "; ")?,
        "these points are not compared: they measure another mode than their name says; look at the \
         images in the chart's values",
    ))
}

fn too_few_blocks(evidence: &Evidence<'_>) -> Option<Doubt> {
    let blocks = evidence.spec.blocks;
    (blocks < FEWEST_BLOCKS).then(|| {
        doubt(
            Reason::TooFewBlocks,
            format!("{blocks} block(s) say little about the noise of the node"),
            "set spec.blocks to 5 or more",
        )
    })
}

/// Percentiles that may rest on too few requests: each with the share of requests beyond it (one in
/// this many), and that of the next lower percentile. Comparisons use medians and rates, so too few
/// requests for a median break trust.
const PERCENTILES: [(&str, u64, Option<u64>); 3] = [
    ("p50", 2, None),
    ("p90", 10, Some(2)),
    ("p99", 100, Some(10)),
];

fn too_few_samples(
    evidence: &Evidence<'_>,
    (percentile, one_in, below): (&str, u64, Option<u64>),
) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let carries_below = below.is_none_or(|below| cell.detail.carries(below));
        let is_short = cell.counts.valid > 0 && !cell.detail.carries(one_in) && carries_below;
        let requests = cell.detail.fewest_requests.unwrap_or_default();
        is_short.then(|| format!("{} ({requests})", cell.place()))
    })?;
    let needed = REQUESTS_BEYOND_PERCENTILE * one_in;
    let message = format!("{percentile} needs {needed} requests per trial: {places}");
    let remedy = "raise spec.sweeps.warmLatency.requests or \
                  spec.sweeps.throughput.durationSeconds, or do not use this percentile";
    Some(Doubt {
        breaks_trust: below.is_none(),
        ..doubt(Reason::TooFewSamples, message, remedy)
    })
}

fn drifted(evidence: &Evidence<'_>) -> Option<Doubt> {
    let item = |drift: &Drift| {
        let values: Vec<&str> = drift.values.iter().take(3).map(String::as_str).collect();
        format!("{}: {}", drift.fact, values.join(" / "))
    };
    Some(doubt(
        Reason::EnvironmentDrifted,
        listed(evidence.drift.iter().map(item), MAX_ITEMS, "; ")?,
        "these points are not compared, because trials before and after the change differ: keep the node as it is and name \
         images by digest, then run again",
    ))
}

/// The places of the `cells` for which `place` returns text; `None` if there are none.
pub(super) fn places<C>(cells: &[C], place: impl Fn(&C) -> Option<String>) -> Option<String> {
    listed(cells.iter().filter_map(place), MAX_PLACES, ", ")
}

/// The first `limit` items, and how many more there are; `None` without items.
pub(super) fn listed(
    items: impl Iterator<Item = String>,
    limit: usize,
    between: &str,
) -> Option<String> {
    let all: Vec<String> = items.collect();
    let shown: Vec<String> = all
        .iter()
        .take(limit)
        .map(|item| cut(item, MAX_ITEM_CHARS))
        .collect();
    let more = match all.len().saturating_sub(limit) {
        0 => String::new(),
        more => format!("{between}and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("{}{more}", shown.join(between)))
}
