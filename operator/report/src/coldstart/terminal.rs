//! Cold starts for a terminal.

use wasmbench_api::status::{ColdStartPoint, ColdStartTime, FloorTime, HarnessFloor, SummaryRow};
use wasmbench_model::units::{self, marked};
use wasmbench_results::read::trial::carries;

use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::with_mark;

/// The 90th percentile, marked if there are too few pods for it. Absent: it is that of a pod that was
/// given up after `limit_seconds`.
pub(super) fn p90_of(
    microseconds: Option<f64>,
    is_carried: bool,
    limit_seconds: Option<u32>,
) -> Option<String> {
    let beyond = || Some(format!("over {} s", limit_seconds?));
    let shown = microseconds.map(units::micros).or_else(beyond)?;
    Some(marked(shown, is_carried))
}

/// How many pods were given up, and when: `1 of 20 over 30 s`.
pub(super) fn late_of(starts: u32, pods: u32, limit_seconds: u32) -> String {
    format!("{starts} of {pods} over {limit_seconds} s")
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
pub fn terminal(rows: &[&SummaryRow], baseline: &str, floors: &[HarnessFloor]) -> Table {
    let points: Vec<Row<'_>> = rows
        .iter()
        .flat_map(|row| row.cold_start.iter().map(|point| Row::Point(row, point)))
        .collect();
    // Without points, the harness floor has no meaning.
    let floors = if points.is_empty() { &[] } else { floors };
    let rows = points.into_iter().chain(floors.iter().map(Row::Floor));
    let sheet = Sheet::new(rows)
        .counting(|row| row.point().is_none_or(|point| point.invalid.is_none()))
        .left("COLD START", |row| match row {
            Row::Point(cell, _) => with_mark(&cell.variant, baseline),
            Row::Floor(_) => "harness floor".to_owned(),
        })
        .right("AT ONCE", |row| match row {
            Row::Point(_, point) => point.concurrency,
            Row::Floor(floor) => floor.concurrency,
        });
    sheet
        .for_each([LISTENING, ANSWER], |sheet, time| time.columns(sheet))
        .measured("MAKESPAN", |row| {
            row.point()?.makespan_microseconds.map(units::micros)
        })
        .right("SAMPLES", |row| Some(row.point()?.samples.to_string()))
        .right("LATE", |row| {
            let point = row.point()?;
            let late = point.late.as_ref()?;
            let pods = point.samples * point.concurrency;
            Some(late_of(late.starts, pods, late.limit_seconds))
        })
        .left("INVALID", |row| row.point()?.invalid.clone())
        .table()
}

/// One of the two times of a cold start.
struct Time {
    title: &'static str,
    of_point: fn(&ColdStartPoint) -> Option<&ColdStartTime>,
    of_floor: fn(&HarnessFloor) -> Option<&FloorTime>,
}

const LISTENING: Time = Time {
    title: "LISTENING P50",
    of_point: |point| point.listening.as_ref(),
    of_floor: |floor| floor.listening.as_ref(),
};

const ANSWER: Time = Time {
    title: "ANSWER P50",
    of_point: |point| point.answer.as_ref(),
    of_floor: |floor| floor.answer.as_ref(),
};

impl Time {
    /// Its median and its 90th percentile.
    fn columns<'a>(self, sheet: Sheet<'a, Row<'a>>) -> Sheet<'a, Row<'a>> {
        let Self {
            title,
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
                let limit = point.late.as_ref().map(|late| late.limit_seconds);
                p90_of(of_point(point)?.p90_microseconds, carries(pods, 10), limit)
            })
    }
}
