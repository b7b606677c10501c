//! The ratios of a status.

use wasmbench_api::status::{
    ColdStartPoint, ColdStartRatio, JudgedRatio, OpenLoopPoint, SummaryRow,
};
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::Point;
use wasmbench_results::judge::comparison::Difference;
use wasmbench_results::judge::lead::Lead;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::vocabulary::measure::{Judged, Measured as _, Metric, Unit};

use crate::comparisons::row::Row;
use crate::table::ascii;

/// The ratios of a variant under a workload.
pub fn of_status(row: &SummaryRow) -> impl Iterator<Item = Row<'_>> {
    let loads = row.versus_baseline.iter().filter_map(|ratio| {
        let metric: Metric = ratio.metric.parse().ok()?;
        // The status has no differences of loads, and a ratio by itself does not explain a verdict.
        if metric.measure().judged == Judged::Difference {
            return None;
        }
        let measure = metric.noun().to_owned();
        Some(judged(row, metric, None, measure, &ratio.judged))
    });
    let starts = row.cold_start.iter().flat_map(|point| of_start(row, point));
    let open = row.open_loop.iter().filter_map(|found| {
        let point = Point::OpenLoop { rate: rate(found) };
        Some(at(row, Metric::OpenLoopP99, point, found.judged.as_ref()?))
    });
    let density = row.density.iter().filter_map(|found| {
        let judged = found.judged.as_ref()?;
        Some(at(row, Metric::MemoryPerInstance, Point::Density, judged))
    });
    let capacity = row.capacity.iter().filter_map(|found| {
        let judged = found.judged.as_ref()?;
        Some(at(row, Metric::Capacity, Point::Capacity, judged))
    });
    loads
        .chain(starts)
        .chain(open)
        .chain(capacity)
        .chain(density)
}

/// The rate of a point; a stated one is a whole number.
fn rate(point: &OpenLoopPoint) -> Rate {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and a stated rate is a u32"
    )]
    let stated = Rate::Rps(point.requested_rps as u32);
    point.percent_of_peak.map_or(stated, Rate::PercentOfPeak)
}

fn of_start<'a>(row: &'a SummaryRow, found: &'a ColdStartPoint) -> impl Iterator<Item = Row<'a>> {
    let concurrency = found.concurrency;
    let times = [
        (Metric::ColdStartListening, &found.listening),
        (Metric::ColdStartAnswer, &found.answer),
    ];
    times.into_iter().filter_map(move |(metric, time)| {
        let ratio = time.as_ref()?.versus_baseline.as_ref()?;
        Some(Row {
            difference: difference(ratio),
            ..at(row, metric, Point::ColdStart { concurrency }, &ratio.judged)
        })
    })
}

/// The difference in words; `None` if the status has none.
fn difference(found: &ColdStartRatio) -> Option<String> {
    let difference = Difference {
        value: found.difference_microseconds?,
        low: found.difference_low_microseconds,
        high: found.difference_high_microseconds,
        smallest: 0.0,
        at_least: None,
        smallest_found: None,
    };
    Some(difference.text(Unit::Microseconds))
}

fn at<'a>(row: &'a SummaryRow, metric: Metric, point: Point, found: &JudgedRatio) -> Row<'a> {
    judged(row, metric, Some(point), metric.at(point), found)
}

fn judged<'a>(
    row: &'a SummaryRow,
    metric: Metric,
    point: Option<Point>,
    measure: String,
    found: &JudgedRatio,
) -> Row<'a> {
    let untrusted = if found.untrusted.is_some() {
        ", untrusted"
    } else {
        ""
    };
    let known = found.verdict.parse::<Verdict>();
    let decided = known.unwrap_or(Verdict::Inconclusive);
    Row {
        metric,
        point,
        measure,
        is_primary: found.primary,
        lead: Lead::new(
            found.primary,
            decided,
            found.untrusted.is_none(),
            found.ratio,
        ),
        variant: &row.variant,
        ratio: found.ratio,
        bound: found.bound.as_ref().and_then(|bound| bound.parse().ok()),
        interval: found.low.zip(found.high),
        difference: None,
        verdict: verdict(&found.verdict, metric) + untrusted,
        noise_floor: found.noise_floor,
        blocks: found.blocks,
        each_block: &[],
    }
}

/// A verdict in words; one that is unknown to this version, as it stands in the status.
fn verdict(verdict: &str, metric: Metric) -> String {
    match verdict.parse::<Verdict>() {
        Ok(known) => known.text(metric),
        Err(_) => ascii(verdict),
    }
}
