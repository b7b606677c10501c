//! Cold starts in words: the verdict of a run that has nothing else, the sweep, and lines
//! for a terminal.

use wasmbench_api::cold_start::ColdStart;
use wasmbench_api::run::{Network, TWIN};
use wasmbench_core::units::{self, cut};

use crate::coldstart::{ColdStartCell, ColdTime};
use crate::statistics::Spread;
use crate::summary::Summary;

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
