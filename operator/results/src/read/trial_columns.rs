//! Trials as parallel columns, one list per number: this lets the largest valid run fit into a
//! `ConfigMap`, where 5000 objects would not fit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wasmbench_model::noise::Noise;

use crate::read::open_loop_trial::{self, OpenLoopTrial};
use crate::read::trial::{Discarded, Metrics, Trial, TrialState};
use crate::vocabulary::measure::Metric;
use crate::vocabulary::trial_reason::TrialReason;

#[serde_with::serde_as]
#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Columns {
    blocks: Vec<u32>,
    positions: Vec<u32>,
    /// One letter per trial: V valid, I invalid, F failed, S skipped.
    states: String,
    /// By block, for trials that are not valid.
    #[serde_as(as = "BTreeMap<serde_with::DisplayFromStr, _>")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reasons: BTreeMap<u32, String>,
    requests: Vec<u64>,
    errors: Vec<u64>,
    rps: Vec<Option<f64>>,
    p50_microseconds: Vec<Option<f64>>,
    p90_microseconds: Vec<Option<f64>>,
    p99_microseconds: Vec<Option<f64>>,
    cpu_microseconds_per_request: Vec<Option<f64>>,
    memory_bytes: Vec<Option<u64>>,
    generator_cpu_share: Vec<Option<f64>>,
    #[serde(default, skip_serializing_if = "without_numbers")]
    others_cpu_share: Vec<Option<f64>>,
    /// One entry per trial of an open-loop point.
    #[serde(default, skip_serializing_if = "open_loop_trial::are_absent")]
    open_loop: Vec<Option<OpenLoopTrial>>,
    /// One entry per trial of each measure that is compared because the run names it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    additional: BTreeMap<Metric, Vec<Option<f64>>>,
    /// Blocks whose trial was measured once more because the node was noisy. The records have the
    /// discarded windows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repeated: Vec<u32>,
}

fn without_numbers(column: &[Option<f64>]) -> bool {
    column.iter().all(Option::is_none)
}

fn letter(state: TrialState) -> char {
    match state {
        TrialState::Valid => 'V',
        TrialState::Invalid => 'I',
        TrialState::Failed => 'F',
        TrialState::Skipped => 'S',
    }
}

fn state(letter: char) -> Option<TrialState> {
    use TrialState::{Failed, Invalid, Skipped, Valid};
    [Valid, Invalid, Failed, Skipped]
        .into_iter()
        .find(|state| self::letter(*state) == letter)
}

/// The reason that a word stands for in a trial of this state.
fn reason(state: TrialState, word: &str) -> TrialReason {
    let doubt = (state == TrialState::Invalid).then(|| word.parse().ok());
    let failure = || TrialReason::Failure(word.into());
    doubt.flatten().map_or_else(failure, TrialReason::Doubt)
}

/// Writes trials as columns.
pub fn serialize<S: Serializer>(trials: &[Trial], serializer: S) -> Result<S::Ok, S::Error> {
    let mut columns = Columns {
        additional: additional(trials),
        ..Columns::default()
    };
    for trial in trials {
        let Trial {
            block,
            position,
            state,
            reason,
            metrics: m,
        } = trial;
        columns.blocks.push(*block);
        columns.positions.push(*position);
        columns.states.push(letter(*state));
        columns
            .reasons
            .extend(reason.as_ref().map(|reason| (*block, reason.to_string())));
        columns.requests.push(m.requests);
        columns.errors.push(m.errors);
        columns.rps.push(m.rps);
        columns.p50_microseconds.push(m.p50);
        columns.p90_microseconds.push(m.p90);
        columns.p99_microseconds.push(m.p99);
        columns.cpu_microseconds_per_request.push(m.cpu);
        columns.memory_bytes.push(m.memory);
        columns.generator_cpu_share.push(m.generator_cpu_share);
        columns.others_cpu_share.push(m.noise.others);
        columns.repeated.extend(m.discarded.map(|_| *block));
        columns.open_loop.push(m.open_loop);
    }
    columns.serialize(serializer)
}

fn additional(trials: &[Trial]) -> BTreeMap<Metric, Vec<Option<f64>>> {
    let of_trials = trials.iter().map(|trial| &trial.metrics.additional);
    let measures: BTreeSet<Metric> = of_trials
        .clone()
        .flat_map(BTreeMap::keys)
        .copied()
        .collect();
    let column = |metric: Metric| {
        of_trials
            .clone()
            .map(move |found| found.get(&metric).copied())
    };
    let columns = measures.into_iter();
    columns
        .map(|metric| (metric, column(metric).collect()))
        .collect()
}

/// Reads columns. If a column is too short its number is absent; trials without an entry in
/// `positions`, `requests` or `errors`, or with an unknown state, are left out.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Trial>, D::Error> {
    let c = Columns::deserialize(deserializer)?;
    let rows = c.blocks.iter().zip(c.states.chars()).enumerate();
    let trial = |(row, (block, letter)): (usize, (&u32, char))| {
        let state = state(letter)?;
        Some(Trial {
            block: *block,
            position: c.positions.get(row).copied()?,
            state,
            reason: c.reasons.get(block).map(|word| reason(state, word)),
            metrics: Metrics {
                requests: c.requests.get(row).copied()?,
                errors: c.errors.get(row).copied()?,
                rps: c.rps.get(row).copied().flatten(),
                p50: c.p50_microseconds.get(row).copied().flatten(),
                p90: c.p90_microseconds.get(row).copied().flatten(),
                p99: c.p99_microseconds.get(row).copied().flatten(),
                cpu: c.cpu_microseconds_per_request.get(row).copied().flatten(),
                memory: c.memory_bytes.get(row).copied().flatten(),
                generator_cpu_share: c.generator_cpu_share.get(row).copied().flatten(),
                noise: Noise {
                    others: c.others_cpu_share.get(row).copied().flatten(),
                    ..Noise::default()
                },
                discarded: c.repeated.contains(block).then(Discarded::default),
                open_loop: c.open_loop.get(row).copied().flatten(),
                additional: c
                    .additional
                    .iter()
                    .filter_map(|(metric, column)| Some((*metric, column.get(row).copied()??)))
                    .collect(),
                // The rest is summarised elsewhere: in the trial's reason, by cell, by variant, in
                // the environment and in the doubts.
                ..Metrics::default()
            },
        })
    };
    Ok(rows.filter_map(trial).collect())
}
