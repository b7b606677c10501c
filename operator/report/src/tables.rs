//! The tables of a report: points and trials.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use wasmbench_model::quote::shorten;
use wasmbench_model::units::{self, NOTHING, marked};
use wasmbench_results::cells::curve::knee;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::read::trial::{Discarded, Trial, TrialState};
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::limits::VariantLimits;
use wasmbench_results::summary::power;
use wasmbench_results::summary::{Named, Summary};
use wasmbench_results::vocabulary::counts::TrialCounts;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Measured as _, Metric, Sweep};

use crate::comparisons::{each_block, place};
use crate::sheet::Sheet;
use crate::table::Table;
use crate::validity::{VALIDITY, standing};

/// Longest message in a report, in characters; `summary.json` has a longer one.
const MAX_SHOWN_CHARS: usize = 256;

/// What variants cannot do by definition.
pub fn not_applicable(summary: &Summary) -> Table {
    Sheet::new(&summary.not_applicable)
        .left("Variant", |one| one.variant.clone())
        .left("What", |one| one.what.clone())
        .left("Because", |one| one.reason.clone())
        .table()
}

/// The variants and what ran as each.
pub fn variants(summary: &Summary) -> Table {
    let images = |variant: &Named| {
        let mut all = summary.environment.variants.iter();
        all.find(|images| images.variant == variant.name)
    };
    Sheet::new(&summary.compared.variants)
        .left("Variant", |one| with_mark(&one.name, &summary.baseline))
        .left("What", |one| one.what.clone())
        .left("Limits", |one| {
            let limits = summary.compared.limits_of(&one.name);
            limits.map(VariantLimits::text)
        })
        .left("RuntimeClass", |one| joined(&images(one)?.runtime_classes))
        .left("Image", |one| {
            let images = images(one)?;
            let image = joined(&images.image_ids).or_else(|| joined(&images.images));
            image.map(|image| units::short_digests(&image))
        })
        .right("Size", |one| sizes(&images(one)?.image_bytes))
        .right("Layers", |one| {
            let layers = images(one)?.layers.iter();
            joined(&layers.map(u32::to_string).collect())
        })
        .right("Wasm", |one| sizes(&images(one)?.wasm_bytes))
        .table()
}

fn sizes(all: &BTreeSet<u64>) -> Option<String> {
    let all = all.iter().map(|size| units::bytes(*size as f64));
    joined(&all.collect())
}

fn joined(set: &BTreeSet<String>) -> Option<String> {
    let all: Vec<&str> = set.iter().map(String::as_str).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// What the run was to decide, and what a run with this scatter can detect, in sentences; `None`
/// where nothing is compared.
pub fn primary(summary: &Summary, workload: &str) -> Option<String> {
    let [primary, secondary] =
        [true, false].map(|primary| power::found_text(summary, workload, primary));
    let secondary = match secondary.as_str() {
        "" => String::new(),
        list => format!(" Secondary, and adjusted separately: {list}."),
    };
    (!primary.is_empty()).then(|| {
        format!(
            "Primary, with the smallest difference that this run finds in 80 of 100 cases by its own scatter: \
             {primary}.{secondary}"
        )
    })
}

/// The baseline compared with its twin under one workload, one row per measure.
pub fn noise_floor(summary: &Summary, workload: &str) -> Table {
    let floors = summary.noise_floors.iter();
    Sheet::new(floors.filter(|floor| floor.workload == workload))
        .left("Metric", |floor| {
            floor.metric.at(floor.point) + &place(floor.metric, floor.point)
        })
        .right("Twin", |floor| floor.estimate.ratio_text())
        .right("Interval", |floor| floor.estimate.interval_text())
        .right("Floor", |floor| floor.factor.map(units::excess))
        .right("Each block", |floor| each_block(&floor.estimate.per_block))
        .table()
}

/// The name of a variant, marked when it is the baseline.
pub fn with_mark(variant: &str, baseline: &str) -> String {
    let mark = if variant == baseline {
        " (baseline)"
    } else {
        ""
    };
    format!("{variant}{mark}")
}

/// The points of one workload, one row per variant and sweep point.
pub fn points(summary: &Summary, workload: &str) -> Table {
    let closed = summary
        .cells
        .iter()
        .filter(|cell| cell.workload == workload && cell.detail.sweep != Sweep::OpenLoop);
    let interval = |cell: &LoadCell, spread: Option<Spread>, unit: fn(f64) -> String| {
        interval(cell.counts.valid, spread, unit)
    };
    // Where variants used equally many CPUs, the column would say nothing.
    let mut doubts = summary.doubts.iter();
    let shows_cpus = doubts.any(|doubt| doubt.reason == Reason::UnequalCpus);
    Sheet::new(closed)
        .counting(|cell| cell.ranked)
        .left("Variant", |cell| cell.variant.clone())
        .left(VALIDITY, |cell| {
            on_the_curve(cell, knee(&summary.cells, &cell.variant, workload))
        })
        .left("Sweep", |cell| sweep_name(cell.detail.sweep))
        .right("Connections", |cell| cell.detail.connections)
        .right("Valid", |cell| valid(cell.counts))
        .measured("Requests/s", |cell| median(cell.detail.rps, units::rate))
        .measured("Interval", |cell| {
            interval(cell, cell.detail.rps, units::rate)
        })
        .measured("Per core", |cell| {
            let cpu = cell.detail.cpu_microseconds_per_request?.median;
            (cpu > 0.0).then(|| units::rate(1e6 / cpu))
        })
        .measured("p50", |cell| {
            median(cell.detail.p50_microseconds, units::micros)
        })
        .measured("Interval", |cell| {
            interval(cell, cell.detail.p50_microseconds, units::micros)
        })
        .measured("p90", |cell| {
            let p90 = median(cell.detail.p90_microseconds, units::micros)?;
            Some(marked(p90, cell.detail.p90_carried()))
        })
        .measured("p99", |cell| {
            let p99 = median(cell.detail.p99_microseconds, units::micros)?;
            Some(marked(p99, cell.detail.p99_carried))
        })
        .measured("p99.9", |cell| {
            cell.detail.p999_microseconds.map(units::micros)
        })
        .measured("CPU/req", |cell| {
            median(cell.detail.cpu_microseconds_per_request, units::micros)
        })
        .measured("Its log/req", |cell| {
            median(cell.detail.log_cpu_microseconds_per_request, units::micros)
        })
        .measured("By container", |cell| {
            let all = &cell.detail.containers_cpu_microseconds_per_request;
            let one = |(name, spread): (&String, &Spread)| {
                format!("{name} {}", units::micros(spread.median))
            };
            // That of a single one is the pod's.
            (all.len() > 1).then(|| all.iter().map(one).collect::<Vec<_>>().join(", "))
        })
        .measured("Companions/req", |cell| {
            median(
                cell.detail.companions_cpu_microseconds_per_request,
                units::micros,
            )
        })
        .measured("CPUs", |cell| {
            median(cell.detail.cpus_used.filter(|_| shows_cpus), |cpus| {
                format!("{cpus:.2}")
            })
        })
        .measured("Memory", |cell| {
            median(cell.detail.memory_bytes, units::bytes)
        })
        .measured("Throttled", |cell| throttled(cell))
        .measured("Generator CPU", |cell| {
            cell.detail.generator_cpu_share_max.map(units::percent)
        })
        .measured("Of ceiling", |cell| of_ceiling(cell).map(units::percent))
        .measured("Requests per connection", |cell| {
            let traffic = cell.detail.traffic.as_ref()?;
            median(traffic.requests_per_connection, units::amount)
        })
        .for_each(additional(summary), |sheet, metric| {
            let unit = metric.measure().unit;
            sheet.measured(metric.noun(), move |cell| {
                let spread = cell.detail.additional.get(&metric)?;
                Some(unit.shown(spread.median))
            })
        })
        .table()
}

/// The measures that are compared because the run names them.
fn additional(summary: &Summary) -> BTreeSet<Metric> {
    let of_cells = summary.cells.iter().map(|cell| &cell.detail.additional);
    of_cells.flat_map(BTreeMap::keys).copied().collect()
}

/// For how much of the window a CPU limit stopped the subject; `None` if it did not.
pub fn throttled(cell: &LoadCell) -> Option<String> {
    cell.detail
        .throttled_share
        .filter(|_| cell.detail.is_throttled())
        .map(units::percent)
}

/// The median, in a unit.
pub fn median(spread: Option<Spread>, unit: fn(f64) -> String) -> Option<String> {
    spread.map(|spread| unit(spread.median))
}

/// The interval, in a unit; `None` for a single trial.
pub fn interval(trials: u32, spread: Option<Spread>, unit: fn(f64) -> String) -> Option<String> {
    let Spread { low, high, .. } = spread.filter(|_| trials > 1)?;
    Some(format!("{} to {}", unit(low), unit(high)))
}

/// The number of valid trials out of those planned.
pub fn valid(counts: TrialCounts) -> String {
    format!("{}/{}", counts.valid, counts.planned)
}

/// Little's law at the knee: connections = rate x mean latency.
fn at_knee(cell: &LoadCell) -> String {
    let busy = cell.detail.connections_busy.map(units::percent);
    busy.map_or_else(
        || "valid, knee".to_owned(),
        |busy| format!("valid, knee ({busy} of the connections busy)"),
    )
}

/// The rate as a share of the rate that the load generator reaches when responses cost nothing.
fn of_ceiling(cell: &LoadCell) -> Option<f64> {
    Some(cell.detail.rps?.median / cell.detail.generator_ceiling_rps?)
}

/// Where the point lies on the curve. Beyond the knee the queue grows but the rate hardly does:
/// those points are shown, but nothing is compared there.
fn on_the_curve(cell: &LoadCell, knee: Option<&LoadCell>) -> String {
    let knee = knee.filter(|knee| knee.detail.sweep == cell.detail.sweep && cell.ranked);
    match knee.map(|knee| cell.detail.connections.cmp(&knee.detail.connections)) {
        Some(Ordering::Equal) => at_knee(cell),
        Some(Ordering::Greater) => "valid, beyond the knee".to_owned(),
        Some(Ordering::Less) | None => standing(cell.any()),
    }
}

/// The name of the sweep in a table.
pub fn sweep_name(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::WarmLatency => "warm",
        Sweep::Throughput => "throughput",
        Sweep::OpenLoop => "open loop",
    }
}

/// The first `limit` trials with their numbers, by cell and block.
pub fn trials(summary: &Summary, limit: usize) -> Table {
    let all = summary
        .cells
        .iter()
        .flat_map(|cell| cell.detail.trials.iter().map(move |trial| (cell, trial)));
    Sheet::new(all.take(limit))
        .left("Trial", |(cell, trial)| {
            let (variant, workload, point) = (&cell.variant, &cell.workload, cell.point());
            format!("{variant}/{workload}/{point}/b{}", trial.block)
        })
        .right("Order", |(_, trial)| trial.position + 1)
        .left("State", |(_, trial)| state(trial))
        .right("Requests", |(_, trial)| {
            is_counted(trial).then(|| trial.metrics.requests.to_string())
        })
        .right("Failed", |(_, trial)| {
            is_counted(trial).then(|| trial.metrics.errors.to_string())
        })
        .right("Requests/s", |(_, trial)| {
            trial.metrics.rps.map(units::rate)
        })
        .right("p50", |(_, trial)| trial.metrics.p50.map(units::micros))
        .right("p90", |(_, trial)| trial.metrics.p90.map(units::micros))
        .right("p99", |(_, trial)| trial.metrics.p99.map(units::micros))
        .right("From schedule", |(_, trial)| {
            let times = trial.metrics.open_loop?;
            Some(units::micros(times.p99_microseconds))
        })
        .right("CPU/req", |(_, trial)| trial.metrics.cpu.map(units::micros))
        .right("Memory", |(_, trial)| {
            trial.metrics.memory.map(|bytes| units::bytes(bytes as f64))
        })
        .right("Generator CPU", |(_, trial)| {
            trial.metrics.generator_cpu_share.map(units::percent)
        })
        .right("Others' CPU", |(_, trial)| {
            trial.metrics.noise.others.map(units::percent)
        })
        .left("Thrown away", |(_, trial)| {
            trial.metrics.discarded.as_ref().map(thrown_away)
        })
        .table()
}

fn state(trial: &Trial) -> String {
    let state: &str = trial.state.into();
    match (&trial.reason, trial.state) {
        (None, _) | (Some(_), TrialState::Valid) => state.to_owned(),
        (Some(reason), TrialState::Invalid | TrialState::Failed | TrialState::Skipped) => {
            format!("{state}: {reason}")
        }
    }
}

/// Whether the trial's requests were counted; a trial without a measurement may have no counts.
fn is_counted(trial: &Trial) -> bool {
    let is_measured = matches!(trial.state, TrialState::Valid | TrialState::Invalid);
    is_measured || trial.metrics.requests + trial.metrics.errors > 0
}

/// `39.2k/s: 28 % used by others`.
fn thrown_away(window: &Discarded) -> String {
    let rate = window.rps.map_or_else(|| NOTHING.to_owned(), units::rate);
    format!("{rate}/s: {}", window.noise.message())
}

/// Distinct reasons for trials without a measurement, the most frequent first.
pub fn failures(summary: &Summary) -> Table {
    Sheet::new(&summary.failures)
        .left("Variant", |group| group.variant.clone())
        .left("Reason", |group| group.reason.clone())
        .right("Failed", |group| group.failed)
        .right("Skipped", |group| group.skipped)
        .left("Workloads", |group| group.workloads.join(", "))
        .left("First trial", |group| group.first.clone())
        .left("Message", |group| shorten(&group.message, MAX_SHOWN_CHARS))
        .table()
}

/// What the table of failures leaves out, in a sentence; `None` if nothing.
pub fn failures_not_listed(summary: &Summary) -> Option<String> {
    let more = summary.failures_not_listed;
    (more > 0).then(|| format!("{more} more trials for other reasons: see the records."))
}
