//! The table of a study for a terminal, and the cells that it shares with the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use wasmbench_model::units::ratio_number;
use wasmbench_report::table::{Align, Table, ascii, lines};

use crate::Ours;
use crate::compared::{Row, Value, rows};
use crate::coverage;
use crate::figure::Figure;
use crate::measured::{Length, Measured, Run};
use crate::published::Study;

/// Where there is no number.
pub const NOTHING: &str = "-";

/// The table of a study with its notes.
pub fn text(study: &Study, ours: Ours<'_>) -> String {
    let measured = ours.measured;
    let mut text = lines(
        "",
        [
            format!("{}: {}", study.name, study.title),
            format!("  there: {}", study.setting),
        ],
    );
    text.push_str(&lines("  here:  ", here(study, measured)));
    let _ = writeln!(text, "  measured: {}\n", ascii(&coverage::runs(ours)));
    text.push_str(&table(&rows(study, measured)).plain());
    for without in measured.iter().flat_map(|measured| measured.without()) {
        let _ = writeln!(text, "{}: {}", without.variant, ascii(&without.reason));
    }
    let models = coverage::models(study, ours);
    let models = models
        .iter()
        .map(|line| format!("more than one model of CPU: {}", ascii(line)));
    text.push_str(&lines("", models));
    let coverage = coverage::tables(study, ours);
    text.push_str(&lines("", coverage.iter().map(|line| ascii(line))));
    text
}

/// Where and how it was measured: a line for all runs with the same text.
pub fn here(study: &Study, measured: Option<&Measured>) -> Vec<String> {
    let mut same: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, run) in measured.into_iter().flat_map(|measured| &measured.runs) {
        let place = format!("{}; fortio; {}", machine(run), extent(study, run));
        same.entry(place).or_default().push(name);
    }
    if same.is_empty() {
        return vec!["not measured yet".into()];
    }
    let lines = same.iter();
    lines
        .map(|(place, runs)| format!("{place} ({})", runs.join(", ")))
        .collect()
}

fn machine(run: &Run) -> String {
    let fact = |name: &str| run.node.get(name).map_or("?", String::as_str);
    let (cpus, model, kernel) = (fact("cpus"), fact("cpuModel"), fact("kernel"));
    format!("CPUs {cpus} of {model}, Linux {kernel}")
}

/// How much a run measured, and the doubts about what is shown of it.
fn extent(study: &Study, run: &Run) -> String {
    let manifest = match run.length {
        Length::Full => "",
        Length::Short => "the shortened manifest, ",
    };
    let of_all: BTreeSet<&str> = run.doubts_of_all().map(String::as_str).collect();
    let of_some = run
        .points
        .iter()
        .filter(|point| study.shows(point.figure, &point.workload))
        .flat_map(|point| &point.doubts)
        .map(String::as_str)
        .filter(|doubt| !of_all.contains(doubt))
        .collect();
    let named = |what: &str, doubts: &BTreeSet<&str>| {
        let names: Vec<&str> = doubts.iter().copied().collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(", {what}: {}", names.join(", "))
        }
    };
    let doubts =
        named("not trustworthy", &of_all) + &named("some ratios not trustworthy", &of_some);
    format!("{manifest}{} blocks{doubts}", run.blocks)
}

/// The rows as an aligned table.
pub fn table(rows: &[Row<'_>]) -> Table {
    let mut table = Table::new(&[
        ("FIGURE", Align::Left),
        ("WORKLOAD", Align::Left),
        ("AT", Align::Right),
        ("VARIANT", Align::Left),
        ("IN THE DOCUMENT", Align::Left),
        ("PUBLISHED", Align::Right),
        ("HERE (95 %)", Align::Right),
        ("PER CORE", Align::Right),
        ("HERE/PUBL.", Align::Right),
        ("WHY", Align::Left),
    ]);
    for row in rows {
        table.row(&cells(row));
    }
    table
}

fn cells(row: &Row<'_>) -> [String; 10] {
    let why: Vec<String> = row.why.iter().map(ToString::to_string).collect();
    [
        row.figure.noun().to_owned(),
        row.workload(),
        place(row),
        row.here.unwrap_or(NOTHING).to_owned(),
        row.there.unwrap_or(NOTHING).to_owned(),
        value(&row.published),
        value(&row.measured),
        value(&row.per_core),
        row.factor().map_or_else(String::new, ratio_number),
        why.join(", "),
    ]
}

/// At how many connections or instances a row is.
pub fn place(row: &Row<'_>) -> String {
    let everywhere = match row.figure {
        Figure::MemoryPerInstance => "each",
        Figure::Ready
        | Figure::WarmP50
        | Figure::Throughput
        | Figure::CpuPerRequest
        | Figure::Memory
        | Figure::CpuUse
        | Figure::ContextSwitchesPerCpuSecond
        | Figure::PageFaultsPerRequest
        | Figure::SystemCpuPerRequest
        | Figure::InstanceTimePerRequest => "mean",
    };
    row.at
        .map_or_else(|| everywhere.into(), |at| row.figure.at(at))
}

/// A number of a row as text.
pub fn value(value: &Value) -> String {
    match value {
        Value::Base(shown) => shown.clone(),
        Value::None => NOTHING.into(),
        Value::Range(low, high) => format!("{}-{}x", ratio_number(*low), ratio_number(*high)),
        Value::Ratio(found) => {
            let interval = found.interval.map_or_else(String::new, |(low, high)| {
                format!(" ({}-{})", ratio_number(low), ratio_number(high))
            });
            let mark = if found.is_doubted { "*" } else { "" };
            format!("{}x{interval}{mark}", ratio_number(found.ratio))
        }
    }
}
