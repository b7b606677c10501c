//! Cold starts for a terminal.

use wasmbench_api::status::{ColdStartTime, FloorTime, HarnessFloor, SummaryRow};
use wasmbench_core::units::{self, NOTHING, judged_ratio, marked};
use wasmbench_results::coldstart::ColdTime;
use wasmbench_results::trial::carries;

use crate::table::{Align, Table};
use crate::tables::with_mark;
use crate::terminal::words as status_words;

/// The 90th percentile, marked when there are too few pods for it.
pub(super) fn tilde(time: &ColdTime) -> String {
    marked(units::micros(time.p90_microseconds), time.p90_carried)
}

/// Cold starts of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str, floors: &[HarnessFloor]) -> String {
    let title = format!("VERSUS {baseline}");
    let mut table = Table::new(&[
        ("COLD START", Align::Left),
        ("AT ONCE", Align::Right),
        ("LISTENING P50", Align::Right),
        ("P90", Align::Right),
        (&title, Align::Right),
        ("ANSWER P50", Align::Right),
        ("P90", Align::Right),
        (&title, Align::Right),
        ("MAKESPAN", Align::Right),
        ("SAMPLES", Align::Right),
        ("INVALID", Align::Left),
    ]);
    for row in rows {
        for point in &row.cold_start {
            let mut cells = vec![
                with_mark(&row.variant, baseline),
                point.concurrency.to_string(),
            ];
            // A pod without evidence of a step is still counted: only the report shows it.
            let pods = u64::from(point.samples) * u64::from(point.concurrency);
            let p90_carried = carries(pods, 10);
            cells.extend(shown(point.listening.as_ref(), p90_carried));
            cells.extend(shown(point.answer.as_ref(), p90_carried));
            cells.push(
                point
                    .makespan_microseconds
                    .map_or_else(|| NOTHING.to_owned(), units::micros),
            );
            cells.push(point.samples.to_string());
            cells.push(point.invalid.clone().unwrap_or_else(|| NOTHING.to_owned()));
            table.row(&cells);
        }
    }
    if table.is_empty() {
        return String::new();
    }
    for floor in floors {
        let time = |time: Option<&FloorTime>| {
            let p50 = time.map(|time| units::micros(time.p50_microseconds));
            p50.unwrap_or_else(|| NOTHING.to_owned())
        };
        let nothing = || NOTHING.to_owned();
        table.row(&[
            "harness floor".to_owned(),
            floor.concurrency.to_string(),
            time(floor.listening.as_ref()),
            nothing(),
            nothing(),
            time(floor.answer.as_ref()),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
        ]);
    }
    table.drop_columns_of(NOTHING);
    table.plain()
}

fn shown(time: Option<&ColdStartTime>, p90_carried: bool) -> [String; 3] {
    let Some(time) = time else {
        return [(); 3].map(|()| NOTHING.to_owned());
    };
    let ratio = time.versus_baseline.as_ref().map(|found| {
        let interval = (found.blocks > 1).then_some((found.low, found.high));
        judged_ratio(found.ratio, interval, &status_words(&found.verdict))
    });
    [
        units::micros(time.p50_microseconds),
        marked(units::micros(time.p90_microseconds), p90_carried),
        ratio.unwrap_or_else(|| NOTHING.to_owned()),
    ]
}
