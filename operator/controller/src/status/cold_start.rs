//! Turns cells into the rows of a run's status. Numbers are those of the summary, digit by digit.

use wasmbench_api::status::{
    ColdStartPoint, ColdStartRatio, ColdStartTime, FloorTime, HarnessFloor as StatusFloor,
    LateStarts,
};
use wasmbench_report::validity::invalid;
use wasmbench_results::cells::coldstart::{ColdStartCell, ColdTime, HarnessFloor};
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::Metric;

use crate::status::judged::judged;

/// The points of a row.
pub fn points(summary: &Summary, cells: &[&ColdStartCell]) -> Vec<ColdStartPoint> {
    let points = cells.iter().filter_map(|cell| point(summary, cell));
    points.collect()
}

/// The time that the harness itself takes.
pub fn harness_floor(summary: &Summary) -> Vec<StatusFloor> {
    let time = |spread: Option<Spread>| {
        let Spread { median, low, high } = spread?;
        Some(FloorTime {
            p50_microseconds: median,
            low_microseconds: low,
            high_microseconds: high,
        })
    };
    let floor = |floor: &HarnessFloor| StatusFloor {
        concurrency: floor.concurrency,
        listening: time(floor.listening_microseconds),
        answer: time(floor.answer_microseconds),
    };
    summary.harness_floors.iter().map(floor).collect()
}

fn point(summary: &Summary, cell: &ColdStartCell) -> Option<ColdStartPoint> {
    let invalid = invalid(&cell.invalid_because);
    let cold_time = |metric, found: &Option<ColdTime>| {
        let found = found.as_ref();
        found.map(|found| time(summary, cell, metric, found))
    };
    (cell.counts.is_measured() || invalid.is_some()).then(|| ColdStartPoint {
        concurrency: cell.detail.concurrency,
        trials: cell.counts.valid,
        failed_trials: cell.counts.unused(),
        invalid,
        samples: cell.detail.pods / cell.detail.concurrency.max(1),
        late: cell.detail.late.as_ref().map(|late| LateStarts {
            starts: late.starts,
            limit_seconds: late.limit_seconds,
        }),
        listening: cold_time(Metric::ColdStartListening, &cell.detail.create_to_listening),
        answer: cold_time(Metric::ColdStartAnswer, &cell.detail.create_to_answer),
        makespan_microseconds: cell
            .detail
            .makespan_microseconds
            .map(|spread| spread.median),
    })
}

fn time(summary: &Summary, cell: &ColdStartCell, metric: Metric, time: &ColdTime) -> ColdStartTime {
    ColdStartTime {
        p50_microseconds: time.p50_microseconds.median,
        p90_microseconds: time.p90_microseconds,
        versus_baseline: summary.comparison(cell.any(), metric).map(ratio),
    }
}

fn ratio(found: &Comparison) -> ColdStartRatio {
    ColdStartRatio {
        judged: judged(found),
        difference_microseconds: found.difference.map(|difference| difference.value),
        difference_low_microseconds: found.difference.and_then(|difference| difference.low),
        difference_high_microseconds: found.difference.and_then(|difference| difference.high),
    }
}
