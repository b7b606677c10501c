//! Cold starts for a terminal.

use wasmbench_api::status::{
    ColdStartPoint, ColdStartRatio, ColdStartTime, FloorTime, HarnessFloor, SummaryRow,
};
use wasmbench_core::units::{self, judged_ratio, marked};
use wasmbench_results::coldstart::ColdTime;
use wasmbench_results::comparison::Difference;
use wasmbench_results::measure::{Metric, Unit};
use wasmbench_results::trial::carries;

use crate::sheet::Sheet;
use crate::tables::with_mark;
use crate::terminal::words::{verdict, versus};

/// The 90th percentile, marked if there are too few pods for it.
pub(super) fn tilde(time: &ColdTime) -> String {
    marked(units::micros(time.p90_microseconds), time.p90_carried)
}

/// A point of a variant, or the time that the harness itself takes.
enum Row<'a> {
    Point(&'a SummaryRow, &'a ColdStartPoint),
    Floor(&'a HarnessFloor),
}

impl<'a> Row<'a> {
    fn point(&self) -> Option<&'a ColdStartPoint> {
        match self {
            Row::Point(_, point) => Some(point),
            Row::Floor(_) => None,
        }
    }
}

/// Cold starts of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str, floors: &[HarnessFloor]) -> String {
    let points = rows.iter();
    let points = points.flat_map(|row| row.cold_start.iter().map(|point| Row::Point(row, point)));
    let points: Vec<Row<'_>> = points.collect();
    if points.is_empty() {
        return String::new();
    }
    let decides = |time: &Time| {
        let mut times = points
            .iter()
            .filter_map(|row| (time.of_point)(row.point()?));
        times.any(|time| {
            time.versus_baseline
                .as_ref()
                .is_some_and(|ratio| ratio.primary)
        })
    };
    let times = [LISTENING, ANSWER].map(|time| (versus(baseline, decides(&time)), time));
    let rows = points.into_iter().chain(floors.iter().map(Row::Floor));
    let sheet = Sheet::of(rows)
        .counting(|row| row.point().is_none_or(|point| point.invalid.is_none()))
        .left("COLD START", |row| match row {
            Row::Point(of, _) => with_mark(&of.variant, baseline),
            Row::Floor(_) => "harness floor".to_owned(),
        })
        .right("AT ONCE", |row| match row {
            Row::Point(_, point) => point.concurrency,
            Row::Floor(floor) => floor.concurrency,
        });
    sheet
        .for_each(times, |sheet, (versus, time)| time.columns(sheet, versus))
        .measured("MAKESPAN", |row| {
            row.point()?.makespan_microseconds.map(units::micros)
        })
        .right("SAMPLES", |row| Some(row.point()?.samples.to_string()))
        .left("INVALID", |row| row.point()?.invalid.clone())
        .table()
        .plain()
}

/// One of the two times of a cold start.
struct Time {
    title: &'static str,
    metric: Metric,
    of_point: fn(&ColdStartPoint) -> Option<&ColdStartTime>,
    of_floor: fn(&HarnessFloor) -> Option<&FloorTime>,
}

const LISTENING: Time = Time {
    title: "LISTENING P50",
    metric: Metric::ColdStartListening,
    of_point: |point| point.listening.as_ref(),
    of_floor: |floor| floor.listening.as_ref(),
};

const ANSWER: Time = Time {
    title: "ANSWER P50",
    metric: Metric::ColdStartAnswer,
    of_point: |point| point.answer.as_ref(),
    of_floor: |floor| floor.answer.as_ref(),
};

impl Time {
    /// Its median, its 90th percentile and its ratio.
    fn columns<'a>(self, sheet: Sheet<'a, Row<'a>>, versus: String) -> Sheet<'a, Row<'a>> {
        let Self {
            title,
            metric,
            of_point,
            of_floor,
        } = self;
        sheet
            .measured(title, move |row| {
                let p50 = match row {
                    Row::Point(_, point) => of_point(point)?.p50_microseconds,
                    Row::Floor(floor) => of_floor(floor)?.p50_microseconds,
                };
                Some(units::micros(p50))
            })
            .measured("P90", move |row| {
                let point = row.point()?;
                // A pod without evidence of a step still counts: only the report shows that.
                let pods = u64::from(point.samples) * u64::from(point.concurrency);
                let p90 = units::micros(of_point(point)?.p90_microseconds);
                Some(marked(p90, carries(pods, 10)))
            })
            .right(versus, move |row| {
                let found = of_point(row.point()?)?.versus_baseline.as_ref()?;
                let interval = (found.blocks > 1).then_some((found.low, found.high));
                let verdict = verdict(&found.verdict, metric, found.untrusted.as_deref());
                let ratio = judged_ratio(found.ratio, interval, &verdict);
                let difference = difference(found).map(|words| format!("{words}, {ratio}"));
                Some(difference.unwrap_or(ratio))
            })
    }
}

/// The difference in words; `None` in a status of an earlier version.
fn difference(found: &ColdStartRatio) -> Option<String> {
    let difference = Difference {
        value: found.difference_microseconds?,
        low: found.difference_low_microseconds,
        high: found.difference_high_microseconds,
        smallest: 0.0,
        at_least: None,
        smallest_found: None,
    };
    Some(difference.words(Unit::Microseconds))
}
