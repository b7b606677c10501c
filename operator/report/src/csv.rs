//! Tables for spreadsheets: `summary.csv` has one row per variant, workload and sweep point,
//! `comparisons.csv` one per ratio to the baseline. Units are in the headers; a number that could
//! not be measured is an empty field.

use strum::IntoEnumIterator as _;
use wasmbench_api::run::TWIN;
use wasmbench_model::wire::evidence::Kind;
use wasmbench_model::wire::record::Point;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::cells::capacity::CapacityDetail;
use wasmbench_results::cells::coldstart::ColdStartDetail;
use wasmbench_results::cells::load::{LoadDetail, extremes};
use wasmbench_results::cells::open_loop::OpenLoopSummary;
use wasmbench_results::read::trial::Metrics;
use wasmbench_results::statistics::{BoundedSpread, OneSided, Spread};
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use crate::sheet::Sheet;

/// `summary.csv`.
pub fn summary_csv(summary: &Summary) -> String {
    let sheet = of_any_cell(Sheet::new(summary.all_cells()));
    let with_kind = |sheet, kind| match kind {
        Kind::Load => of_load(sheet),
        Kind::ColdStart => of_cold_start(sheet),
        Kind::Density => of_density(sheet),
        Kind::Scout => sheet,
    };
    let is_named = |(metric, _): &(Metric, &str)| {
        let mut loads = summary.cells.iter();
        loads.any(|cell| cell.detail.additional.contains_key(metric))
    };
    let named = ADDITIONAL.into_iter().filter(is_named);
    let sheet = Kind::iter().fold(sheet, with_kind);
    let sheet = if summary.capacity.is_empty() {
        sheet
    } else {
        of_capacity(sheet)
    };
    let sheet = if summary.payload.is_empty() {
        sheet
    } else {
        of_payload(sheet)
    };
    let limits = move |row: &AnyCell<'_>| {
        let is_twin = row.variant == TWIN;
        let name = if is_twin {
            summary.baseline.as_str()
        } else {
            row.variant
        };
        summary.compared.limits_of(name)
    };
    let with_limits = Some(()).filter(|()| !summary.compared.limits.is_empty());
    sheet
        .for_each(with_limits, |sheet, ()| {
            sheet
                .right("cpu_limit_cores", move |row| limits(row)?.cores())
                .right("memory_limit_bytes", move |row| limits(row)?.bytes())
        })
        .for_each(named, |sheet, (metric, name)| {
            spread(sheet, name, move |row| {
                load(row)?.additional.get(&metric).copied()
            })
        })
        .csv()
}

/// Measures that have columns only in runs that name them.
const ADDITIONAL: [(Metric, &str); 5] = [
    (
        Metric::ContextSwitchesPerCpuSecond,
        "context_switches_per_cpu_second",
    ),
    (Metric::PageFaultsPerRequest, "page_faults_per_request"),
    (
        Metric::SystemCpuPerRequest,
        "system_cpu_microseconds_per_request",
    ),
    (
        Metric::InstanceTimePerRequest,
        "instance_microseconds_per_request",
    ),
    (Metric::CpuUse, "cpu_use_share"),
];

/// `comparisons.csv`.
pub fn comparisons_csv(summary: &Summary) -> String {
    Sheet::new(&summary.comparisons)
        .left("variant", |one| one.variant.clone())
        .left("workload", |one| one.workload.clone())
        .left("measure", |one| <&str>::from(one.metric))
        .left("sweep", |one| sweep(one.point))
        .right("at", |one| one.point.number())
        .right("primary", |one| one.primary)
        .right("ratio", |one| {
            let known = one.estimate.bound.is_none();
            known.then_some(one.estimate.ratio)
        })
        .right("low", |one| one.estimate.low)
        .right("high", |one| one.estimate.high)
        .right("difference", |one| one.difference.map(|found| found.value))
        .right("difference_low", |one| {
            one.difference.and_then(|found| found.low)
        })
        .right("difference_high", |one| {
            one.difference.and_then(|found| found.high)
        })
        .right("blocks", |one| one.estimate.blocks)
        .right("p_value", |one| one.p_value)
        .right("adjusted_p_value", |one| one.adjusted_p_value)
        .right("noise_floor", |one| one.noise_floor)
        .left("verdict", |one| <&str>::from(one.verdict))
        .left("untrusted", |one| joined(&one.untrusted))
        .right("at_least", |one| one.at_least)
        .right("smallest_found", |one| one.smallest_found)
        .csv()
}

fn joined(reasons: &[Reason]) -> String {
    let reasons: Vec<&str> = reasons.iter().map(|reason| (*reason).into()).collect();
    reasons.join(" ")
}

type Cells<'a> = Sheet<'a, AnyCell<'a>>;

fn load<'a>(row: &AnyCell<'a>) -> Option<&'a LoadDetail> {
    row.detail.try_as_load()
}

fn cold_start<'a>(row: &AnyCell<'a>) -> Option<&'a ColdStartDetail> {
    row.detail.try_as_cold_start()
}

fn capacity<'a>(row: &AnyCell<'a>) -> Option<&'a CapacityDetail> {
    row.detail.try_as_capacity()
}

/// Adds the columns that every cell has.
fn of_any_cell(sheet: Cells<'_>) -> Cells<'_> {
    sheet
        .left("variant", |row| row.variant)
        .left("workload", |row| row.workload)
        .left("sweep", |row| sweep(row.point))
        .right("connections", |row| load(row).map(|cell| cell.connections))
        .left("ranked", |row| row.ranked)
        .left("invalid_because", |row| joined(row.invalid_because))
        .right("trials_planned", |row| row.counts.planned)
        .right("trials_valid", |row| row.counts.valid)
        .right("trials_invalid", |row| row.counts.invalid)
        .right("trials_failed", |row| row.counts.failed)
        .right("trials_skipped", |row| row.counts.skipped)
        .right("trials_missing", |row| row.counts.missing)
        .right("trials_repeated", |row| row.counts.repeated)
}

fn of_load(sheet: Cells<'_>) -> Cells<'_> {
    let sheet = sheet
        .right("requests_failed", |row| load(row).map(|cell| cell.errors))
        .right("requests_per_trial_min", |row| load(row)?.fewest_requests)
        .left("p99_carried", |row| load(row).map(|cell| cell.p99_carried))
        .right("throttled_periods", |row| load(row)?.throttled_periods)
        .right("throttled_share", |row| load(row)?.throttled_share)
        .right("generator_cpu_share_of_node_max", |row| {
            load(row)?.generator_cpu_share_max
        })
        .for_each(NUMBERS, |sheet, (name, of_cell, of_trial)| {
            let ends = move |row: &AnyCell<'_>| extremes(&load(row)?.trials, of_trial);
            spread(sheet, name, move |row| of_cell(load(row)?))
                .right(format!("{name}_min"), move |row| {
                    ends(row).map(|(min, _)| min)
                })
                .right(format!("{name}_max"), move |row| {
                    ends(row).map(|(_, max)| max)
                })
        });
    spread(sheet, "cpus_used", |row| load(row)?.cpus_used)
        .right("requested_rps", |row| {
            let rate = load(row)?.rate?;
            rate.percent_of_peak().is_none().then(|| rate.number())
        })
        .right("percent_of_peak", |row| load(row)?.rate?.percent_of_peak())
        .right("achieved_share_min", |row| {
            Some(load(row)?.open_loop?.achieved_share_min)
        })
        .for_each(SCHEDULED, |sheet, (name, spread_of)| {
            spread(sheet, name, move |row| {
                spread_of(load(row)?.open_loop.as_ref()?)
            })
        })
        .right("log_cpu_microseconds_per_request", |row| {
            let log = load(row)?.log_cpu_microseconds_per_request;
            log.map(|log| log.median)
        })
        .right("companions_cpu_microseconds_per_request", |row| {
            let companions = load(row)?.companions_cpu_microseconds_per_request;
            companions.map(|companions| companions.median)
        })
        .right("all_requests_p999_microseconds", |row| {
            load(row)?.p999_microseconds
        })
}

fn of_cold_start(sheet: Cells<'_>) -> Cells<'_> {
    let sheet = sheet.right("pods_at_once", |row| {
        cold_start(row).map(|cell| cell.concurrency)
    });
    let sheet = spread(sheet, "listening_microseconds", |row| {
        let time = cold_start(row)?.create_to_listening.as_ref()?;
        Some(time.p50_microseconds)
    });
    let sheet = spread(sheet, "answer_microseconds", |row| {
        let time = cold_start(row)?.create_to_answer.as_ref()?;
        Some(time.p50_microseconds)
    });
    spread(sheet, "makespan_microseconds", |row| {
        cold_start(row)?.makespan_microseconds
    })
}

fn of_density(sheet: Cells<'_>) -> Cells<'_> {
    spread(sheet, "bytes_per_instance", |row| {
        row.detail.try_as_density()?.bytes_per_instance
    })
}

/// The columns that only runs with a target have.
fn of_capacity(sheet: Cells<'_>) -> Cells<'_> {
    let known = |number: KnownPart| move |row: &AnyCell<'_>| number(capacity(row)?.rps);
    sheet
        .right("target_p99_microseconds", |row| {
            capacity(row).map(|cell| cell.target_p99_microseconds)
        })
        .right(
            "capacity_requests_per_second_median",
            known(|rps| rps.median),
        )
        .right("capacity_requests_per_second_low", known(|rps| rps.low))
        .right("capacity_requests_per_second_high", known(|rps| rps.high))
        .right("capacity_trials_below", |row| {
            capacity(row).map(|cell| cell.beyond(OneSided::AtMost))
        })
        .right("capacity_trials_above", |row| {
            capacity(row).map(|cell| cell.beyond(OneSided::AtLeast))
        })
        .right("throttled_share_of_periods", |row| {
            capacity(row)?.limits.throttled_share_of_periods
        })
        .right("memory_limit_trials", |row| {
            capacity(row).map(|cell| cell.limits.memory_limit_blocks)
        })
        .right("oom_kills", |row| {
            capacity(row).map(|cell| cell.limits.oom_kills)
        })
}

/// The columns that only runs with payload have; summary.json has the sizes.
fn of_payload(sheet: Cells<'_>) -> Cells<'_> {
    let sheet = spread(sheet, "fixed_cpu_microseconds_per_request", |row| {
        row.detail.try_as_payload()?.fixed_cpu_microseconds
    });
    spread(sheet, "cpu_microseconds_per_megabyte", |row| {
        row.detail.try_as_payload()?.cpu_microseconds_per_megabyte
    })
    .right("off_line_share", |row| {
        row.detail.try_as_payload()?.off_line_share
    })
}

/// A part of a median with its interval, where it is known.
type KnownPart = fn(BoundedSpread) -> Option<f64>;

type Part = fn(Spread) -> f64;

/// Adds the three columns of a median and its interval.
fn spread<'a>(
    sheet: Cells<'a>,
    name: &str,
    spread_of: impl Fn(&AnyCell<'a>) -> Option<Spread> + Copy + 'a,
) -> Cells<'a> {
    let ends: [(&str, Part); 3] = [
        ("median", |spread| spread.median),
        ("low", |spread| spread.low),
        ("high", |spread| spread.high),
    ];
    sheet.for_each(ends, |sheet, (which, part)| {
        sheet.right(format!("{name}_{which}"), move |row| {
            spread_of(row).map(part)
        })
    })
}

/// A metric of a load: its name, its spread, and where trials have it.
type OfLoad = (
    &'static str,
    fn(&LoadDetail) -> Option<Spread>,
    fn(&Metrics) -> Option<f64>,
);

const NUMBERS: [OfLoad; 6] = [
    ("requests_per_second", |cell| cell.rps, |trial| trial.rps),
    (
        "p50_microseconds",
        |cell| cell.p50_microseconds,
        |trial| trial.p50,
    ),
    (
        "p90_microseconds",
        |cell| cell.p90_microseconds,
        |trial| trial.p90,
    ),
    (
        "p99_microseconds",
        |cell| cell.p99_microseconds,
        |trial| trial.p99,
    ),
    (
        "cpu_microseconds_per_request",
        |cell| cell.cpu_microseconds_per_request,
        |trial| trial.cpu,
    ),
    (
        "memory_bytes",
        |cell| cell.memory_bytes,
        |trial| trial.memory.map(|bytes| bytes as f64),
    ),
];

/// A metric of a load on a schedule: its name and its spread.
type Scheduled = (&'static str, fn(&OpenLoopSummary) -> Option<Spread>);

const SCHEDULED: [Scheduled; 5] = [
    ("requested_requests_per_second", |found| {
        Some(found.requested_rps)
    }),
    ("schedule_p50_microseconds", |found| {
        Some(found.p50_microseconds)
    }),
    ("schedule_p99_microseconds", |found| {
        Some(found.p99_microseconds)
    }),
    ("schedule_p999_microseconds", |found| {
        found.p999_microseconds
    }),
    ("generator_late_p99_microseconds", |found| {
        Some(found.generator_p99_microseconds)
    }),
];

fn sweep(point: Point) -> &'static str {
    point.sweep().into()
}
