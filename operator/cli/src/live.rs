//! The progress of a run, as text. Pure: run and time in, text out.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions::{FINISHED, PASSED, SUCCEEDED, TRUSTWORTHY, doubts_so_far};
use wasmbench_api::status::Progress;
use wasmbench_model::units;
use wasmbench_report::table::ascii;

/// The width of the progress bar in characters.
const BAR: u32 = 30;
/// A time of day that is farther away needs its day.
const SAME_DAY: SignedDuration = SignedDuration::from_hours(12);
/// Exit code when a run's numbers are not trustworthy.
pub const NOT_TRUSTWORTHY: u8 = 3;
/// Exit code of a run whose numbers are trustworthy but do not show that its expectations are met:
/// an undecided gate must not open.
const NOT_PASSED: u8 = 4;

/// What the run is doing or how it ended, as one word.
pub fn state(run: &BenchmarkRun) -> &str {
    condition(run, SUCCEEDED).map_or("Pending", |(_, reason)| reason)
}

fn condition<'a>(run: &'a BenchmarkRun, type_: &str) -> Option<(&'a str, &'a str)> {
    let conditions = &run.status.as_ref()?.conditions;
    let found = conditions
        .iter()
        .find(|condition| condition.type_ == type_)?;
    Some((&found.status, &found.reason))
}

/// Whether a condition holds; `None` if that is not known.
pub fn condition_is(run: &BenchmarkRun, type_: &str) -> Option<bool> {
    match condition(run, type_)?.0 {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// Exit code for a run that has ended; `None` until then.
pub fn exit_code(run: &BenchmarkRun) -> Option<u8> {
    let is = |type_| condition_is(run, type_);
    if is(FINISHED) != Some(true) {
        return None;
    }
    if is(SUCCEEDED) != Some(true) {
        return Some(1);
    }
    if is(TRUSTWORTHY) == Some(false) {
        return Some(NOT_TRUSTWORTHY);
    }
    let has_gate = condition(run, PASSED).is_some();
    Some(if has_gate && is(PASSED) != Some(true) {
        NOT_PASSED
    } else {
        0
    })
}

/// A few lines to redraw in place on a terminal: state, progress bar with an estimate, current
/// step.
pub fn frame(run: &BenchmarkRun, now: Timestamp) -> String {
    let namespace = run.namespace().unwrap_or_default();
    let node = run
        .status
        .as_ref()
        .and_then(|status| status.node.as_ref())
        .map(|node| format!(" on {}", ascii(&node.name)))
        .unwrap_or_default();
    let state = ascii(state(run));
    let mut text = format!("{namespace}/{}: {state}{node}\n", run.name_any());
    let Some(progress) = run
        .status
        .as_ref()
        .and_then(|status| status.progress.as_ref())
    else {
        return text + "waiting for the operator to see the run\n";
    };
    let (done, all) = (progress.completed_trials, progress.total_trials.max(1));
    let filled = (BAR * done.min(all) / all) as usize;
    let bar = "#".repeat(filled) + &".".repeat(BAR as usize - filled);
    let left = progress
        .estimated_completion_time
        .as_ref()
        .map(|time| {
            let seconds = time.0.duration_since(now).as_secs().max(0);
            format!(", about {} left", units::duration(seconds.unsigned_abs()))
        })
        .unwrap_or_default();
    let (total, message) = (progress.total_trials, ascii(&progress.message));
    let _ = write!(text, "[{bar}] {done} of {total} trials{left}\n{message}\n");
    if let Some(delay) = &progress.delay {
        let _ = writeln!(text, "{}", ascii(delay));
    }
    if let Some(doubts) = doubts(run) {
        let _ = writeln!(text, "in doubt so far, {}", lines(doubts));
    }
    text
}

/// What speaks against the numbers of a run that goes on.
fn doubts(run: &BenchmarkRun) -> Option<&str> {
    doubts_so_far(&run.status.as_ref()?.conditions)
}

/// Text of several lines for a terminal.
fn lines(text: &str) -> String {
    text.lines().map(ascii).collect::<Vec<_>>().join("\n")
}

/// The reasons alone, for the end of a line of a log.
fn reasons_so_far(run: &BenchmarkRun) -> String {
    let lines = doubts(run).unwrap_or_default().lines().skip(1);
    let reasons = lines.filter_map(|line| Some(ascii(line.split_once(": ")?.0)));
    let reasons: Vec<String> = reasons.collect();
    if reasons.is_empty() {
        return String::new();
    }
    format!("; in doubt so far: {}", reasons.join(", "))
}

/// A time of day where the user is, with the day if it is far from `now`.
pub fn clock(time: Timestamp, now: Timestamp) -> String {
    let is_near = time.duration_since(now).abs() < SAME_DAY;
    let format = if is_near { "%H:%M" } else { "%-d %b %H:%M" };
    let there = time.to_zoned(TimeZone::system());
    there.strftime(format).to_string()
}

/// When an unfinished run will probably be measured.
pub fn times(progress: &Progress, now: Timestamp) -> Option<String> {
    let [begins, ends] = [
        &progress.estimated_start_time,
        &progress.estimated_completion_time,
    ]
    .map(|time| time.as_ref().map(|time| clock(time.0, now)));
    match (begins, ends) {
        (Some(begins), Some(ends)) => Some(format!("begins about {begins}, ends about {ends}")),
        (Some(begins), None) => Some(format!("begins about {begins}")),
        (None, Some(ends)) => Some(format!("ends about {ends}")),
        (None, None) => None,
    }
}

/// The age of a run in seconds; `None` if it has not been created.
pub fn age_seconds(run: &BenchmarkRun, now: Timestamp) -> Option<u64> {
    let created = run.creation_timestamp()?;
    let seconds = now.duration_since(created.0).as_secs().max(0);
    Some(seconds.unsigned_abs())
}

/// One line for a log, with the operator's estimate, which changes once per trial rather than every
/// second.
pub fn line(run: &BenchmarkRun) -> String {
    let state = ascii(state(run));
    match run
        .status
        .as_ref()
        .and_then(|status| status.progress.as_ref())
    {
        None => format!("{state}: waiting for the operator to see the run\n"),
        Some(progress) if state == "Measuring" => {
            format!(
                "{state}: {}{}\n",
                ascii(&progress.text),
                reasons_so_far(run)
            )
        }
        Some(progress) => format!(
            "{state}: {}: {}\n",
            ascii(&progress.text),
            ascii(&progress.message)
        ),
    }
}

/// Changes when a log is worth another line: with every change but those of a measurement, which
/// gets one line for each tenth of its trials and for each new reason not to trust its numbers.
pub fn milestone(run: &BenchmarkRun) -> String {
    let progress = run
        .status
        .as_ref()
        .and_then(|status| status.progress.as_ref());
    match (state(run), progress) {
        (state @ "Measuring", Some(progress)) => {
            let tenth = 10 * progress.completed_trials / progress.total_trials.max(1);
            format!("{state} {tenth}{}", reasons_so_far(run))
        }
        _ => line(run),
    }
}
