//! The files of a report, made from only the run and its records.

use std::collections::BTreeMap;

use wasmbench_model::wire::record::Record;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};

use crate::{csv, html, json, markdown};

/// Key of the summary in numbers.
pub const SUMMARY_JSON: &str = "summary.json";
/// Key of the table for spreadsheets.
pub const SUMMARY_CSV: &str = "summary.csv";
/// Key of the table of ratios for spreadsheets.
pub const COMPARISONS_CSV: &str = "comparisons.csv";
/// Key of the report for people.
pub const REPORT_MD: &str = "report.md";
/// Key of the report as plots.
pub const REPORT_HTML: &str = "report.html";
/// Key of the description of where and with what the run was measured.
pub const ENVIRONMENT_JSON: &str = "environment.json";

/// The largest size of all files together: a `ConfigMap` may hold 1,048,576 bytes including the
/// names of its keys.
pub const MAX_REPORT_BYTES: usize = 960_000;
/// The largest size of the plots. They get half of what the numbers leave: `report.md` gets the
/// other half for its table of all trials.
const MAX_HTML_BYTES: usize = 400_000;

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
#[error("could not write the summary as JSON")]
pub struct Error(#[from] serde_json::Error);

/// The files of the report, by name. The same run and records, in any order, give the same bytes.
pub fn report_files(run: &RunInput, records: &[Record]) -> Result<BTreeMap<String, String>, Error> {
    report_files_of(&summarize(run, records))
}

/// The files of the report, by name, from a summary. Together they stay below [`MAX_REPORT_BYTES`]:
/// if space runs short, `report.html` draws less and `report.md` omits rows from its table of all
/// trials. Both have a note then.
pub fn report_files_of(summary: &Summary) -> Result<BTreeMap<String, String>, Error> {
    let mut files = BTreeMap::from([
        (SUMMARY_JSON.to_owned(), json::pretty(summary)?),
        (SUMMARY_CSV.to_owned(), csv::summary_csv(summary)),
        (COMPARISONS_CSV.to_owned(), csv::comparisons_csv(summary)),
        (
            ENVIRONMENT_JSON.to_owned(),
            json::pretty(&summary.environment)?,
        ),
    ]);
    let used: usize = files.values().map(String::len).sum();
    let room = MAX_REPORT_BYTES.saturating_sub(used);
    let plots = html::report_html(summary, MAX_HTML_BYTES.min(room / 2));
    let report = markdown::report_md(summary, room.saturating_sub(plots.len()));
    files.insert(REPORT_HTML.to_owned(), plots);
    files.insert(REPORT_MD.to_owned(), report);
    Ok(files)
}
