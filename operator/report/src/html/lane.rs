//! Turns cells into points: what is drawn of them, and how it is labelled.

use wasmbench_api::run::TWIN;
use wasmbench_model::units;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::read::trial::{Metrics, Trial, TrialState};
use wasmbench_results::statistics::{Spread, median};
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::counts::TrialCounts;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::trial_reason::TrialReason;

use crate::html::marks::{self, Dot, Look};

/// The quantity of a load that a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Successful requests per second.
    Rate,
    /// Median latency.
    P50,
    /// 99th percentile of latency.
    P99,
    /// Median latency from the scheduled time.
    ScheduledP50,
    /// 99th percentile of latency from the scheduled time.
    ScheduledP99,
    /// CPU time per request.
    Cpu,
    /// Memory of the pod.
    Memory,
}

impl Quantity {
    /// How the numbers are written, and their axis.
    pub fn axis(self) -> Axis {
        match self {
            Self::Rate => Axis {
                name: "successful requests per second",
                label: units::rate,
                base: 1000.0,
            },
            Self::P50 | Self::P99 => Axis {
                name: "time from request to answer (us, ms, s)",
                label: units::micros,
                base: 1000.0,
            },
            Self::ScheduledP50 | Self::ScheduledP99 => Axis {
                name: "time from when a request was due to its answer (us, ms, s)",
                label: units::micros,
                base: 1000.0,
            },
            Self::Cpu => Axis {
                name: "CPU time of the pod per request (us, ms, s)",
                label: units::micros,
                base: 1000.0,
            },
            Self::Memory => Axis {
                name: "memory of the pod (KiB, MiB, GiB)",
                label: units::bytes,
                base: 1024.0,
            },
        }
    }

    fn value(self, metrics: &Metrics) -> Option<f64> {
        match self {
            Self::Rate => metrics.rps,
            Self::P50 => metrics.p50,
            Self::P99 => metrics.p99,
            Self::ScheduledP50 => metrics.open_loop.map(|times| times.p50_microseconds),
            Self::ScheduledP99 => metrics.open_loop.map(|times| times.p99_microseconds),
            Self::Cpu => metrics.cpu,
            Self::Memory => metrics.memory.map(|bytes| bytes as f64),
        }
    }

    fn spread(self, cell: &LoadCell) -> Option<Spread> {
        match self {
            Self::Rate => cell.detail.rps,
            Self::P50 => cell.detail.p50_microseconds,
            Self::P99 => cell.detail.p99_microseconds,
            Self::ScheduledP50 => cell.detail.open_loop.map(|found| found.p50_microseconds),
            Self::ScheduledP99 => cell.detail.open_loop.map(|found| found.p99_microseconds),
            Self::Cpu => cell.detail.cpu_microseconds_per_request,
            Self::Memory => cell.detail.memory_bytes,
        }
    }
}

/// An axis of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The quantity, and its units.
    pub name: &'static str,
    /// Formats a number for people.
    pub label: fn(f64) -> String,
    /// Round numbers are multiples of powers of this base.
    pub base: f64,
}

impl Axis {
    /// The number at a tick.
    pub fn tick(&self, value: f64) -> String {
        if value > 0.0 {
            marks::tick(&(self.label)(value))
        } else {
            "0".to_owned()
        }
    }
}

/// Everything that a plot shows of one variant at one point.
#[derive(Clone, Debug)]
pub struct Lane {
    /// Name of the variant.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// Its numbers, in the order of the blocks.
    pub dots: Vec<Dot>,
    /// The median of the numbers that count, with its interval.
    pub spread: Option<Spread>,
    /// Whether the median takes part in rankings.
    pub is_ranked: bool,
    /// Why the whole point does not count, in words.
    pub invalid: Option<String>,
    /// The mark after the median: `~` when it rests on too few requests.
    pub mark: &'static str,
    /// Why there is no number at all, or how many trials lack one.
    pub missing: Option<String>,
}

impl Lane {
    /// The median with its interval, if it is a result.
    pub fn result(&self) -> Option<Spread> {
        self.spread.filter(|_| self.is_ranked)
    }

    /// Every number of the lane that is drawn.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        let spread = self
            .result()
            .into_iter()
            .flat_map(|spread| [spread.low, spread.median, spread.high]);
        self.dots.iter().map(|dot| dot.value).chain(spread)
    }

    /// The median of the numbers.
    pub fn middle(&self) -> Option<f64> {
        let dots = self.dots.iter().map(|dot| dot.value);
        self.spread
            .map(|spread| spread.median)
            .or_else(|| median(dots))
    }

    /// What the plot does not show of the lane.
    pub fn note(&self) -> Option<String> {
        let remarks: Vec<&str> = [&self.missing, &self.invalid]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        (!remarks.is_empty()).then(|| format!("{}: {}", self.name, remarks.join(", ")))
    }
}

/// The look of a variant, determined by its place in the spec.
pub fn look(summary: &Summary, variant: &str) -> Look {
    if variant == TWIN {
        return Look::twin();
    }
    let variants = &summary.compared.variants;
    let index = variants.iter().position(|named| named.name == variant);
    Look::from_index(index.unwrap_or_default())
}

/// The lane of `cell` for `quantity`.
pub fn lane(summary: &Summary, cell: &LoadCell, quantity: Quantity) -> Lane {
    let label = quantity.axis().label;
    let invalid = point_invalid(&cell.invalid_because);
    let (mut dots, mut without) = (vec![], vec![]);
    for trial in &cell.detail.trials {
        match quantity
            .value(&trial.metrics)
            .filter(|value| is_drawn(*value))
        {
            Some(value) => {
                let is_valid = trial.state == TrialState::Valid;
                let of_point = invalid.as_ref().filter(|_| is_valid);
                let because = of_point.map_or_else(String::new, |why| format!(", {why}"));
                let (variant, title) = (&cell.variant, title(trial));
                dots.push(Dot {
                    value,
                    label: format!("{variant}, {title}{because}: {}", label(value)),
                    counts: is_valid && invalid.is_none(),
                    is_out_with_its_point: of_point.is_some(),
                });
            }
            None => without.push(trial),
        }
    }
    let is_p99 = matches!(quantity, Quantity::P99 | Quantity::ScheduledP99);
    let carried = !is_p99 || cell.detail.p99_carried;
    Lane {
        name: cell.variant.clone(),
        look: look(summary, &cell.variant),
        dots,
        spread: quantity.spread(cell).filter(|spread| {
            [spread.low, spread.median, spread.high]
                .into_iter()
                .all(is_drawn)
        }),
        is_ranked: cell.ranked,
        invalid,
        mark: if carried { "" } else { "~" },
        missing: missing(&without, cell.counts.missing),
    }
}

/// `point invalid: Throttled, NodeNoisy`; `None` for a point that counts.
pub fn point_invalid(reasons: &[Reason]) -> Option<String> {
    let reasons: Vec<&str> = reasons.iter().map(|reason| (*reason).into()).collect();
    (!reasons.is_empty()).then(|| format!("point invalid: {}", reasons.join(", ")))
}

/// `2 trials without a measurement, 1 invalid trial`.
pub fn without_numbers(counts: TrialCounts) -> Option<String> {
    let trials = |count: u32| if count == 1 { "trial" } else { "trials" };
    let without = counts.failed + counts.skipped + counts.missing;
    let invalid = counts.invalid;
    let both = [
        (without > 0).then(|| format!("{without} {} without a measurement", trials(without))),
        (invalid > 0).then(|| format!("{invalid} invalid {}", trials(invalid))),
    ];
    let all: Vec<String> = both.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Whether a plot has a place for the number.
pub fn is_drawn(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// `block 3 (trial 17), invalid: ErrorsInLoad`.
fn title(trial: &Trial) -> String {
    let word: &str = trial.state.into();
    let state = match (trial.state, &trial.reason) {
        (TrialState::Valid, _) => String::new(),
        (TrialState::Invalid | TrialState::Failed | TrialState::Skipped, Some(reason)) => {
            format!(", {word}: {reason}")
        }
        (TrialState::Invalid | TrialState::Failed | TrialState::Skipped, None) => {
            format!(", {word}")
        }
    };
    format!(
        "block {} (trial {}){state}",
        trial.block,
        trial.position + 1
    )
}

/// `3 trials without this number: RuntimeClassNotFound`.
fn missing(without: &[&Trial], unrecorded: u32) -> Option<String> {
    let mut reasons: Vec<&str> = without
        .iter()
        .filter_map(|trial| trial.reason.as_ref())
        .map(TrialReason::word)
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    if unrecorded > 0 {
        reasons.push("no record");
    }
    let count = without.len() + unrecorded as usize;
    let why = if reasons.is_empty() {
        String::new()
    } else {
        format!(": {}", reasons.join(", "))
    };
    let trials = if count == 1 { "trial" } else { "trials" };
    (count > 0).then(|| format!("{count} {trials} without this number{why}"))
}

/// What a plot of all variants together does not show of a cell.
pub fn remark(cell: AnyCell<'_>) -> Option<String> {
    let remarks = [
        point_invalid(cell.invalid_because),
        without_numbers(cell.counts),
    ];
    let remarks: Vec<String> = remarks.into_iter().flatten().collect();
    (!remarks.is_empty()).then(|| format!("{}: {}", cell.variant, remarks.join(", ")))
}
