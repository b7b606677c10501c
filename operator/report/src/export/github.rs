//! A short Markdown text for a job summary or a comment on a pull request: the decision, whether to
//! trust it, the primary comparisons and what changed since an earlier run. External text is
//! escaped and mentions nobody.

use std::fmt::Write as _;

use wasmbench_model::quote::shorten;
use wasmbench_results::judge::expectations::{Decision, Fulfilment, overall};
use wasmbench_results::judge::lead;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::CellRatio;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::failures::skipped_points;
use wasmbench_results::summary::trust;
use wasmbench_results::vocabulary::doubt::Doubt;
use wasmbench_results::vocabulary::measure::Measured as _;

use crate::across::Versus;
use crate::left_out::{LeftOut, left_out};
use crate::overview::instead;
use crate::sheet::Sheet;
use crate::table::{escape, lines};

/// The most rows of a table and lines of a list: a comment may have 65,536 characters.
const MOST_ROWS: usize = 20;
/// Longest message, in characters. Remedies are as long as they are.
const MAX_MESSAGE_CHARS: usize = 300;

/// The whole text. `versus` is the comparison with the run that the spec names, if it names one.
pub fn github(summary: &Summary, versus: Option<&Versus>) -> String {
    let sections = [
        head(summary),
        doubts(summary),
        expectations(summary),
        compared(summary),
        not_measured(summary),
        versus.map(since).unwrap_or_default(),
        more(summary),
    ]
    .into_iter()
    .filter(|section| !section.is_empty());
    quiet(&sections.collect::<Vec<String>>().join("\n"))
}

/// Escaped text that mentions nobody and refers to no issue.
fn quiet(markdown: &str) -> String {
    let without_mentions = markdown.replace('@', "@<!-- -->");
    without_mentions.replace("\\#", "#<!-- -->")
}

fn head(summary: &Summary) -> String {
    let run = &summary.run;
    let tally = trust::tally_text(summary).map_or_else(String::new, |tally| format!(" {tally}"));
    let trust = match summary.trustworthy {
        None => "no numbers to judge.",
        Some(true) => "yes.",
        Some(false) => "**no**.",
    };
    let instead = instead(summary).map(|instead| format!("\n{}\n", escape(&instead)));
    format!(
        "### {}/{}: {}\n\nTrustworthy: {trust}{tally}\n\n**{}**\n{}",
        escape(&run.namespace),
        escape(&run.name),
        decision(summary),
        escape(&summary.verdict),
        instead.unwrap_or_default(),
    )
}

/// The outcome of the run in a few words. Numbers that cannot be trusted decide nothing.
fn decision(summary: &Summary) -> &'static str {
    match (summary.trustworthy, overall(&summary.expectations)) {
        (None, _) => "nothing was measured",
        (Some(false), Some(Fulfilment::NotMet)) => "NOT MET, and not trustworthy",
        (Some(false), Some(Fulfilment::Undecided | Fulfilment::Met) | None) => "not trustworthy",
        (Some(true), Some(Fulfilment::NotMet)) => "NOT MET",
        (Some(true), Some(Fulfilment::Undecided)) => "undecided",
        (Some(true), Some(Fulfilment::Met)) => "all expectations are met",
        (Some(true), None) => "trustworthy",
    }
}

fn doubts(summary: &Summary) -> String {
    let doubts = summary.doubts.iter().filter(|doubt| doubt.breaks_trust);
    list(doubts.map(|doubt: &Doubt| {
        let reason: &str = doubt.reason.into();
        let short = Doubt {
            message: shortened(&doubt.message),
            ..doubt.clone()
        };
        format!("**{reason}**: {}", escape(&short.text()))
    }))
}

fn expectations(summary: &Summary) -> String {
    list(summary.expectations.iter().map(|decision: &Decision| {
        let (name, message) = (escape(&decision.name), escaped_short(&decision.message));
        format!("**{}**: {name}: {message}", decision.outcome.text())
    }))
}

fn escaped_short(message: &str) -> String {
    escape(&shortened(message))
}

fn shortened(message: &str) -> String {
    shorten(message, MAX_MESSAGE_CHARS)
}

/// As many lines as a list may have, and the number of further ones.
fn list(items: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = items.collect();
    let (shown, rest) = all.split_at(all.len().min(MOST_ROWS));
    lines("- ", shown) + &and_more("\n", rest.len())
}

fn and_more(before: &str, more: usize) -> String {
    if more == 0 {
        return String::new();
    }
    format!("{before}{more} more are in the report.\n")
}

/// What the run was to decide, and the outcome.
fn compared(summary: &Summary) -> String {
    let primary = lead::leading(summary.comparisons.iter().filter(|one| one.primary));
    let (shown, rest) = primary.split_at(primary.len().min(MOST_ROWS));
    let table = Sheet::new(shown)
        .left("Variant", |one| one.variant.clone())
        .left("Workload", |one| one.workload.clone())
        .left("Measure", |one| one.what())
        .right(format!("Versus {}", summary.baseline), |one| {
            one.judged_text()
        })
        .left("Verdict", |one| {
            format!("{}{}", one.verdict_text(), one.mark())
        })
        .table();
    let mut text = String::new();
    if !table.is_empty() {
        text = table.markdown() + &and_more("\n", rest.len());
    }
    let left_out = list(left_out(summary).iter().map(|one: &LeftOut<'_>| {
        let (variant, workload) = (escape(one.variant), escape(one.workload));
        format!(
            "Not compared: {variant} on {workload}: {}",
            escaped_short(&one.reason)
        )
    }));
    if !text.is_empty() && !left_out.is_empty() {
        text.push('\n');
    }
    text + &left_out
}

/// Every reason why a variant has no measurement, the baseline's first: it explains why the others are not
/// compared.
fn not_measured(summary: &Summary) -> String {
    let mut all = skipped_points(summary);
    all.sort_by_key(|one| one.variant != summary.baseline);
    list(all.iter().map(|one| {
        let under = match one.workloads.as_slice() {
            [] => String::new(),
            some => format!(" on {}", escape(&some.join(", "))),
        };
        let (variant, reason) = (escape(&one.variant), escape(&one.reason));
        format!(
            "Not measured: {variant}{under} ({reason}): {}",
            escaped_short(&one.message)
        )
    }))
}

/// What changed since the earlier run: the result in one line, and what got worse or better.
fn since(versus: &Versus) -> String {
    let status = versus.status();
    let name = escape(&status.name);
    let kind = if status.compared {
        "Since"
    } else {
        "Not compared with"
    };
    let mut text = format!("{kind} {name}: {}.\n", escape(&status.message));
    let is_change = |ratio: &&CellRatio| ratio.verdict.is_some_and(Verdict::is_difference);
    let mut changed: Vec<&CellRatio> = versus.ratios().iter().filter(is_change).collect();
    changed.sort_by_key(|ratio| {
        ratio
            .verdict
            .is_none_or(|found| !found.is_worse(ratio.metric))
    });
    let (shown, rest) = changed.split_at(changed.len().min(MOST_ROWS));
    if !shown.is_empty() {
        let _ = write!(text, "\n{}{}", changes(shown), and_more("\n", rest.len()));
    }
    text
}

fn changes(changed: &[&CellRatio]) -> String {
    Sheet::new(changed)
        .left("Variant", |ratio| ratio.variant.clone())
        .left("Workload", |ratio| ratio.workload.clone())
        .left("Measure", |ratio| ratio.metric.noun())
        .left("Point", |ratio| ratio.point.clone())
        .right("Change", |ratio| ratio.change_text())
        .left("Verdict", |ratio| {
            ratio.verdict.map(|found| found.text(ratio.metric))
        })
        .table()
        .markdown()
}

fn more(summary: &Summary) -> String {
    let run = &summary.run;
    format!(
        "Everything else: <code>kubectl wasmbench report {} -n {}</code>\n",
        escape(&run.name),
        escape(&run.namespace)
    )
}
