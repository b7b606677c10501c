//! The history of a schedule, for people and for spreadsheets: `kubectl wasmbench history`.

mod plot;

use std::fmt::Write as _;

use jiff::Timestamp;
use wasmbench_model::units;
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::line::{Ends, Line, Number, Series, Setting};
use wasmbench_results::statistics::Scale;
use wasmbench_results::vocabulary::measure::{Measured as _, Unit};

pub use plot::{history_body, history_html};

use crate::sheet::Sheet;

/// A number of a line, with its series and setting.
struct Row<'a> {
    line: &'a Line,
    number: &'a Number,
    series: &'a Series,
    setting: &'a Setting,
}

impl Row<'_> {
    /// The ratio to the baseline, if that is what is judged.
    fn ratio(&self) -> Option<Ends> {
        let versus = self.number.versus_baseline;
        versus.filter(|_| self.series.scale() == Scale::Ratio)
    }

    /// The difference to the baseline, if that is what is judged.
    fn difference(&self) -> Option<Ends> {
        let versus = self.number.versus_baseline;
        versus.filter(|_| self.series.scale() == Scale::Difference)
    }
}

/// A series of a variant that was compared with the baseline: its index, the number of runs that
/// compare it, and its latest number.
struct Followed<'a> {
    place: usize,
    series: &'a Series,
    runs: u32,
    last: &'a Number,
}

/// Tables for people.
pub fn history_text(name: &str, history: &History) -> String {
    let mut text = format!("{name}: {}\n", kept(history));
    let followed = followed(history);
    if followed.is_empty() {
        text.push_str("\nNo variant was compared with a baseline yet.\n");
        return text;
    }
    let table = Sheet::new(followed)
        .left("WHAT", |row: &Followed<'_>| row.series.text())
        .right("RUNS", |row| row.runs)
        .right("VERSUS BASELINE", |row| {
            let ends = row.last.versus_baseline?;
            Some(row.series.number_text(ends.0, None))
        })
        .right("INTERVAL", |row| {
            interval(row.series, row.last.versus_baseline?)
        })
        .right("LATEST VALUE", |row| {
            let unit = row.series.metric.measure().unit;
            row.last.value.map(|ends| unit.shown(ends.0))
        })
        .left("LAST CHANGE", |row| last_change(history, row.place))
        .table();
    let _ = write!(text, "\n{}", table.plain());
    text.push_str(&changes_text(history));
    text
}

/// How many runs there are, since when, and what became of the oldest.
fn kept(history: &History) -> String {
    let ended = |line: Option<&Line>| line.map(|line| day(line.ended)).unwrap_or_default();
    let (first, last) = (history.runs.first(), history.runs.last());
    let mut text = match history.run_count() {
        0 => return "no run has ended yet".to_owned(),
        1 => format!("1 run, of {}", ended(last)),
        runs => format!("{runs} runs from {} to {}", ended(first), ended(last)),
    };
    if let Some(until) = history.folded_until {
        let _ = write!(
            text,
            "; those up to {} are folded, two into one line",
            day(until)
        );
    }
    if history.forgotten > 0 {
        let _ = write!(
            text,
            "; of {} older ones nothing is left",
            history.forgotten
        );
    }
    text
}

fn day(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

fn followed(history: &History) -> Vec<Followed<'_>> {
    let series = history.series.iter().enumerate();
    let followed = series.filter_map(|(place, series)| {
        let lines = history.runs.iter();
        let numbers = lines.filter_map(|line| Some((line.runs, line.number(place)?)));
        let compared: Vec<_> = numbers
            .filter(|(_, number)| number.versus_baseline.is_some())
            .collect();
        let (_, last) = *compared.last()?;
        Some(Followed {
            place,
            series,
            runs: compared.iter().map(|(runs, _)| runs).sum(),
            last,
        })
    });
    followed.collect()
}

fn interval(series: &Series, ends: Ends) -> Option<String> {
    let Ends(_, low, high) = ends;
    ends.has_interval().then(|| match series.scale() {
        Scale::Ratio => units::ratio_interval((low, high)),
        Scale::Difference => {
            let unit = series.metric.measure().unit;
            let [low, high] = [low, high].map(|end| unit.shown_difference(end));
            format!("{low} to {high}")
        }
    })
}

fn last_change(history: &History, place: usize) -> Option<String> {
    let mut of_series = history.changes.iter().rev();
    let found = of_series.find(|found| found.series == place)?;
    Some(format!(
        "{} since {}",
        history.series[place].number_text(found.size.0, None),
        found.run
    ))
}

/// The title above the changes.
const CHANGES: &str = "Lasting changes, the latest first";
const NO_CHANGES: &str = "Nothing has changed for good.";

/// The changes, the latest first: `worse` or `better`, and a description.
fn changes(history: &History) -> impl Iterator<Item = (&'static str, String)> {
    history.changes.iter().rev().map(|found| {
        let series = &history.series[found.series];
        let is_worse = found.is_worse(series);
        let worth = if is_worse { "worse" } else { "better" };
        (worth, found.text(series))
    })
}

fn changes_text(history: &History) -> String {
    if history.changes.is_empty() {
        return format!("\n{NO_CHANGES}\n");
    }
    let mut text = format!("\n{CHANGES}\n");
    for (worth, message) in changes(history) {
        let _ = writeln!(text, "- {worth}: {message}");
    }
    text
}

/// A CSV table with one row per run and measure.
pub fn history_csv(history: &History) -> String {
    let rows = history.runs.iter().flat_map(|line| {
        let numbers = line.numbers.iter();
        numbers.map(move |number| Row {
            line,
            number,
            series: &history.series[number.series],
            setting: &history.settings[line.setting],
        })
    });
    let begins = |row: &Row<'_>| {
        let mut changes = history.changes.iter();
        let found =
            changes.find(|found| (found.series, &found.run) == (row.number.series, &row.line.name));
        found.map(|found| found.size.0.to_string())
    };
    Sheet::new(rows)
        .left("run", |row: &Row<'_>| row.line.name.clone())
        .left("ended", |row| row.line.ended.to_string())
        .right("runs", |row| row.line.runs)
        .left("node", |row| row.setting.node.clone())
        .left("fingerprint", |row| row.setting.fingerprint.clone())
        .left("variant", |row| row.series.variant.clone())
        .left("image", |row| {
            row.setting.images.get(&row.series.variant).cloned()
        })
        .left("workload", |row| row.series.workload.clone())
        .left("point", |row| row.series.point.to_string())
        .left("measure", |row| <&str>::from(row.series.metric))
        .left("unit", |row| unit(row.series.metric.measure().unit))
        .right("blocks", |row| row.number.blocks)
        .right("ratio", |row| end(row.ratio(), |ends| ends.0))
        .right("ratio_low", |row| end(row.ratio(), |ends| ends.1))
        .right("ratio_high", |row| end(row.ratio(), |ends| ends.2))
        .right("difference", |row| end(row.difference(), |ends| ends.0))
        .right("difference_low", |row| end(row.difference(), |ends| ends.1))
        .right("difference_high", |row| {
            end(row.difference(), |ends| ends.2)
        })
        .right("value", |row| end(row.number.value, |ends| ends.0))
        .right("value_low", |row| end(row.number.value, |ends| ends.1))
        .right("value_high", |row| end(row.number.value, |ends| ends.2))
        .left("trusted", |row| row.number.trusted.to_string())
        .right("change", begins)
        .csv()
}

fn end(ends: Option<Ends>, which: impl Fn(Ends) -> f64) -> Option<String> {
    ends.map(|ends| which(ends).to_string())
}

const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "per_second",
        Unit::Microseconds => "microseconds",
        Unit::Bytes => "bytes",
        Unit::Share => "share",
        Unit::Count => "count",
    }
}
