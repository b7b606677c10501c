//! `report.md`: the report for someone who was not there. Takes a summary and produces Markdown.
//! Tables align as plain text too, and all external text is escaped.

mod node;
mod pods;
mod scouts;

use wasmbench_results::doubt::Doubt;
use wasmbench_results::expectations::Decision;
use wasmbench_results::summary::Summary;
use wasmbench_results::{trust, words};

use crate::comparisons::{PAIRED, PRIMARY};
use crate::sentences::{facts, repetition, sentences};
use crate::sheet::Sheet;
use crate::table::{ascii, escape, lines};
use crate::{coldstart, comparisons, density, open_loop, tables};

/// Longest note on omitted trials, in bytes.
const MAX_NOTE_BYTES: usize = 200;

/// The whole report in at most `room` bytes, as far as omitting rows from the table of all trials
/// can achieve that.
pub fn report_md(summary: &Summary, room: usize) -> String {
    let before = [
        head(summary),
        expectations(summary),
        doubts(summary),
        compared(summary),
        ratios(summary),
        loads(summary),
        coldstart::section(summary),
        open_loop::section(summary),
        density::section(summary),
        pods::inside(summary),
        pods::outside(summary),
        not_applicable(summary),
        not_measured(summary),
        scouts::section(summary),
        node::section(summary),
    ];
    let after = [HOW_TO_READ.to_owned(), reproduce(summary)];
    let used: usize = before
        .iter()
        .chain(&after)
        .map(|section| section.len() + 1)
        .sum();
    let trials = trials(summary, room.saturating_sub(used));
    let sections = before.into_iter().chain([trials]).chain(after);
    sections
        .filter(|section| !section.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn head(summary: &Summary) -> String {
    let run = &summary.run;
    let trust = match summary.trustworthy {
        None => "no numbers to judge",
        Some(true) => "yes",
        Some(false) => "**no**, see Doubts",
    };
    let said = sentences(summary);
    let said = lines("- ", said.iter().map(|one| escape(one)));
    // A list ends with an empty line.
    let said = if said.is_empty() { said } else { said + "\n" };
    format!(
        "# {}/{}\n\n**{}**\n\n{}Trustworthy: {trust}. {}{}\n{}",
        escape(&run.namespace),
        escape(&run.name),
        escape(&summary.verdict),
        said,
        trust::tally_words(summary).map_or_else(String::new, |tally| format!("{tally} ")),
        words::trials(summary.trials),
        lines("\n", facts(summary).iter().map(|one| escape(one))),
    )
}

fn expectations(summary: &Summary) -> String {
    let line = |decision: &Decision| {
        let (name, message) = (escape(&decision.name), escape(&decision.message));
        format!("- **{}**: {name}: {message}\n", decision.outcome.words())
    };
    let lines: String = summary.expectations.iter().map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("## Expectations\n\nDecided from the ends of the intervals.\n\n{lines}")
}

fn doubts(summary: &Summary) -> String {
    let list = |breaks_trust: bool| {
        let doubts = summary
            .doubts
            .iter()
            .filter(|doubt| doubt.breaks_trust == breaks_trust);
        doubts.map(doubt).collect::<String>()
    };
    let (doubts, notes) = (list(true), list(false));
    let doubts = match (doubts.is_empty(), summary.trustworthy) {
        (true, None) => "There are no numbers to judge.\n".to_owned(),
        (true, Some(_)) => format!("{}.\n", trust::headline(summary)),
        (false, _) => doubts,
    };
    let notes = if notes.is_empty() {
        notes
    } else {
        format!("\nNotes, which limit single numbers only:\n\n{notes}")
    };
    format!("## Doubts\n\n{doubts}{notes}")
}

fn doubt(doubt: &Doubt) -> String {
    let reason: &str = doubt.reason.into();
    format!("- **{reason}**: {}\n", escape(&doubt.words()))
}

fn compared(summary: &Summary) -> String {
    let workloads = Sheet::of(&summary.compared.workloads)
        .left("Workload", |workload| workload.name.clone())
        .left("Request", |workload| workload.what.clone())
        .table();
    format!(
        "## What was compared\n\n{}\n{}\n{}- {}\n{}",
        tables::variants(summary).markdown(),
        workloads.markdown(),
        lines(
            "- ",
            summary.compared.sweeps.iter().map(|sweep| escape(sweep))
        ),
        repetition(summary),
        lines("- ", summary.compared.twin.iter()),
    )
}

fn ratios(summary: &Summary) -> String {
    let baseline = escape(&summary.baseline);
    let of_workload = |workload: &str| {
        let ratios = comparisons::report(summary, workload);
        let primary = tables::primary(summary, workload);
        let primary = primary.map_or_else(String::new, |found| format!("\n{found}\n"));
        let floor = tables::noise_floor(summary, workload).markdown_below(&format!(
            "Noise floor, {baseline} against its twin, which is the same measured a second time"
        ));
        let ratios = if ratios.is_empty() {
            String::new()
        } else {
            format!("\n{}", ratios.markdown())
        };
        let text = ratios + &primary + &floor;
        if text.is_empty() {
            return text;
        }
        format!("\n### {}\n{text}", escape(workload))
    };
    let workloads = summary.compared.workloads.iter();
    let text: String = workloads.map(|one| of_workload(&one.name)).collect();
    if text.is_empty() {
        return text;
    }
    format!(
        "## Ratios to {baseline}\n\nWith the 95 % interval over blocks, and what follows from it; \\{PRIMARY} marks what \
         the run was to decide. {PAIRED}\n{text}"
    )
}

fn loads(summary: &Summary) -> String {
    let of_workload = |workload: &str| {
        let points = tables::points(summary, workload);
        (!points.is_empty()).then(|| format!("\n### {}\n\n{}", escape(workload), points.markdown()))
    };
    let workloads = summary.compared.workloads.iter();
    let text: String = workloads.filter_map(|one| of_workload(&one.name)).collect();
    if text.is_empty() {
        return text;
    }
    format!(
        "## Loads\n\nEach number is the median over valid trials, with its interval; p99.9 is that of all their requests \
         together. The smallest and the largest trial are in summary.csv.\n{text}"
    )
}

fn not_applicable(summary: &Summary) -> String {
    let table = tables::not_applicable(summary);
    if table.is_empty() {
        return String::new();
    }
    format!(
        "## Not applicable\n\nLeft out by definition: not tried, not a failure.\n\n{}",
        table.markdown()
    )
}

fn not_measured(summary: &Summary) -> String {
    if summary.failures.is_empty() {
        return String::new();
    }
    let rest = tables::failures_not_listed(summary);
    let rest = rest.map_or_else(String::new, |rest| format!("\n{rest}\n"));
    format!(
        "## Trials without a measurement\n\n{}{rest}",
        tables::failures(summary).markdown()
    )
}

fn trials(summary: &Summary, room: usize) -> String {
    const TITLE: &str = "## Every trial\n\n";
    let all = tables::trials(summary, usize::MAX);
    if all.is_empty() {
        return String::new();
    }
    let text = all.markdown();
    if TITLE.len() + text.len() <= room {
        return format!("{TITLE}{text}");
    }
    // All lines of a table have the same length, and the header takes two of them.
    let line = text.find('\n').map_or(text.len(), |end| end + 1);
    let lines = room.saturating_sub(TITLE.len() + MAX_NOTE_BYTES) / line;
    let rows = lines.saturating_sub(2).min(all.len());
    let table = if rows == 0 {
        String::new()
    } else {
        tables::trials(summary, rows).markdown()
    };
    format!(
        "{TITLE}{table}\n{} of {} trials are left out here: summary.json has the numbers of all, and \
         the records have everything that was measured.\n",
        all.len() - rows,
        all.len(),
    )
}

const HOW_TO_READ: &str = include_str!("how_to_read.md");

fn reproduce(summary: &Summary) -> String {
    let Some(spec) = &summary.spec else {
        return "## How to reproduce\n\nThe spec is too large for this report: take it from the \
                BenchmarkRun, and set spec.seed to the seed above.\n"
            .to_owned();
    };
    let mut spec = spec.clone();
    spec.seed = Some(summary.seed);
    // A spec that serialises as JSON does so as YAML too; otherwise an empty block would show it.
    let yaml = serde_yaml::to_string(&spec).unwrap_or_default();
    let indented = lines("  ", yaml.lines());
    let fence = fence_for(&indented);
    let mut containers = spec
        .variants
        .iter()
        .filter_map(|one| one.container.as_ref());
    let values = if containers.any(|container| !container.env.is_empty()) {
        ". Values of environment variables are digests here: take them from the BenchmarkRun"
    } else {
        ""
    };
    format!(
        "## How to reproduce\n\nOn a node with the same fingerprint, with the same images{values}:\n\n\
         {fence}yaml\napiVersion: wasmbench.dev/v1alpha1\nkind: BenchmarkRun\nmetadata:\n  name: \
         {}-again\nspec:\n{indented}{fence}\n",
        ascii(&summary.run.name),
    )
}

/// A fence that nothing in `text` can close.
fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
