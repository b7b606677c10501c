//! Cold starts in words: the verdict of a run that has nothing else, the sweep, and lines
//! for a terminal.

use wasmbench_api::cold_start::ColdStart;
use wasmbench_api::run::{Network, TWIN};
use wasmbench_api::status::{ColdStartTime, FloorTime, HarnessFloor, SummaryRow};

use super::super::statistics::Spread;
use super::super::status_table::words as status_words;
use super::super::summary::Summary;
use super::super::table::{Align, Table};
use super::super::tables::{NOTHING, judged_ratio, marked, with_mark};
use super::super::trial::carries;
use super::super::units;
use super::super::units::cut;
use super::{ColdStartCell, ColdTime};

/// Longest verdict, in characters: that of the status field is 512 bytes.
const MAX_VERDICT_CHARS: usize = 200;

/// The sweep in one sentence.
pub fn sweep(sweep: &ColdStart, network: Network) -> String {
    let points: Vec<String> = sweep.concurrency.iter().map(u32::to_string).collect();
    let class: &str = sweep.class.into();
    format!(
        "cold start ({class}): {} samples per trial after one discarded sample, {} pod(s) at once{}",
        sweep.samples,
        points.join(", "),
        if network == Network::Host {
            ", on the node's network"
        } else {
            ""
        }
    )
}

/// The result in one line; `None` without a valid cold start.
pub fn verdict(summary: &Summary) -> Option<String> {
    let compared: Vec<String> = summary
        .cold_starts
        .iter()
        .filter(|cell| cell.variant != TWIN)
        .filter_map(|cell| against(summary, cell))
        .collect();
    let statements = if compared.is_empty() {
        let ranked = summary.cold_starts.iter().filter(|cell| cell.is_ranked());
        ranked.filter_map(absolute).collect()
    } else {
        compared
    };
    (!statements.is_empty()).then(|| cut(&statements.join("; "), MAX_VERDICT_CHARS))
}

fn against(summary: &Summary, cell: &ColdStartCell) -> Option<String> {
    let (time, what) = headline(cell)?;
    let found = time.versus_baseline.as_ref()?;
    let Spread { median, low, high } = found.ratio;
    let interval = if found.per_block.len() < 2 {
        "1 block".to_owned()
    } else {
        let (low, high) = (units::ratio_number(low), units::ratio_number(high));
        format!("{low}-{high}")
    };
    let verdict = found
        .verdict
        .map(|verdict| format!(", {}", verdict.words()));
    Some(format!(
        "{}: {} {}'s create to {what}{} ({interval}){}",
        cell.variant,
        units::ratio(median),
        summary.baseline,
        at(cell),
        verdict.unwrap_or_default(),
    ))
}

fn absolute(cell: &ColdStartCell) -> Option<String> {
    let (time, what) = headline(cell)?;
    let median = units::micros(time.p50_microseconds.median);
    Some(format!(
        "{} takes {median} from create to {what}{}",
        cell.variant,
        at(cell)
    ))
}

/// The exact time where there is one, else the one that every pod has.
fn headline(cell: &ColdStartCell) -> Option<(&ColdTime, &'static str)> {
    let listening = cell
        .create_to_listening
        .as_ref()
        .map(|time| (time, "listening"));
    let answer = || cell.create_to_answer.as_ref().map(|time| (time, "answer"));
    listening.or_else(answer)
}

fn at(cell: &ColdStartCell) -> String {
    let pods = match cell.concurrency {
        1 => String::new(),
        more => format!(", {more} pods at once"),
    };
    format!(" on {}{pods}", cell.workload)
}

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
            // A pod without evidence of a step is in the count all the same: only the report knows of it.
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
