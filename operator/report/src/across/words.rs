//! A comparison of runs as people see it: aligned text for a terminal, and one line for a status.

use std::fmt::Write as _;

use maud::{Markup, html};
use wasmbench_model::units::{self, truncate};
use wasmbench_results::judge::ratios::FEWEST_BLOCKS;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::{Across, CellRatio, Difference, Unjudged, Weight};
use wasmbench_results::statistics::Scale;
use wasmbench_results::summary::RunName;
use wasmbench_results::vocabulary::measure::{Measure, Measured as _};

use crate::across::legend::legend;
use crate::markup::printable;
use crate::sheet::Sheet;
use crate::table::{Table, ascii};

/// Longest line, in characters.
const MAX_LINE_CHARS: usize = 400;
/// The most differences that one line names.
const MAX_NAMED: usize = 3;

/// A comparison of runs in words.
pub trait InWords {
    /// The whole comparison, for a terminal and for `versus-run.txt`.
    fn text(&self) -> String;

    /// The whole comparison, as part of an HTML page.
    fn html(&self) -> Markup;

    /// The result in one line.
    fn line(&self) -> String;

    /// The lost points: `no valid number any more: embedded on hello (warm, throughput-c10)`;
    /// `None` without any.
    fn lost_words(&self) -> Option<String>;
}

impl InWords for Across {
    fn text(&self) -> String {
        let mut text = compared(self).join("\n") + "\n";
        if !self.ratios.is_empty() {
            let table = table(self).plain();
            let _ = write!(text, "\n{table}\n{}\n", notes(self).join("\n"));
        }
        text
    }

    fn html(&self) -> Markup {
        printable(&html! {
            (paragraphs(&compared(self)))
            @if !self.ratios.is_empty() {
                (table(self).cards(Some(&self.line())))
                (paragraphs(&notes(self)))
            }
        })
    }

    fn line(&self) -> String {
        let obstacles: Vec<&Difference> = self.obstacles().collect();
        if self.ratios.is_empty() && !obstacles.is_empty() && !self.forced {
            let named: Vec<String> = obstacles
                .iter()
                .take(MAX_NAMED)
                .map(|difference| line_of(difference))
                .collect();
            let more = match obstacles.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" (+{more} more)"),
            };
            return truncate(
                &format!("differs in {}{more}", named.join("; ")),
                MAX_LINE_CHARS,
            );
        }
        let lost = self
            .lost_words()
            .map_or_else(String::new, |lost| format!("; {lost}"));
        if self.ratios.is_empty() {
            let nothing = "nothing to compare: no number is valid in both runs";
            return truncate(&format!("{nothing}{lost}"), MAX_LINE_CHARS);
        }
        let first = self
            .ratios
            .iter()
            .filter(|ratio| ratio.verdict.is_some_and(Verdict::is_difference))
            .max_by(|one, other| {
                let far = one.times_what_matters();
                far.total_cmp(&other.times_what_matters())
            });
        let most = first.map_or_else(String::new, |ratio| {
            format!(
                "; most: {} {} on {} at {}: {}",
                ratio.variant,
                ratio.metric.noun(),
                ratio.workload,
                ratio.point,
                shown(ratio)
            )
        });
        let counts = too_few_blocks(self)
            .unwrap_or_else(|| counts(self.judged(), self.worse(), self.better()));
        // Losses come first, because a line that is too long is cut at its end.
        truncate(&ascii(&(counts + &lost + &most)), MAX_LINE_CHARS)
    }

    fn lost_words(&self) -> Option<String> {
        let mut groups: Vec<(String, Vec<&str>)> = vec![];
        for lost in &self.lost {
            let place = format!("{} on {}", lost.variant, lost.workload);
            match groups.iter_mut().find(|(known, _)| *known == place) {
                Some((_, points)) => points.push(&lost.point),
                None => groups.push((place, vec![&lost.point])),
            }
        }
        let shown: Vec<String> = groups
            .iter()
            .take(MAX_NAMED)
            .map(|(place, points)| format!("{place} ({})", points.join(", ")))
            .collect();
        let more = match groups.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!("no valid number any more: {}{more}", shown.join(", "));
        (!shown.is_empty()).then(|| ascii(&message))
    }
}

/// A difference in one line: `image of native: sha256:1 -> sha256:2`.
fn line_of(difference: &Difference) -> String {
    let Difference {
        what,
        before,
        after,
        ..
    } = difference;
    ascii(&format!("{what}: {before} -> {after}"))
}

/// Lines on what is compared, and how it differs.
fn compared(found: &Across) -> Vec<String> {
    let before: Vec<String> = found.before.iter().map(full_name).collect();
    let mut lines = vec![ascii(&format!(
        "{} as a multiple of {}",
        full_name(&found.after),
        before.join(", ")
    ))];
    for difference in &found.differences {
        let kind = match difference.weight {
            Weight::Forbids if found.ratios.is_empty() => "Not comparable",
            Weight::Forbids | Weight::Warns => "Warning",
            Weight::Compared => "Compared",
        };
        lines.push(format!("{kind}: {}", line_of(difference)));
    }
    if found.ratios.is_empty() && found.obstacles().next().is_none() {
        lines.push(found.line());
    }
    lines
}

/// Lines on how to read the table, and what is missing from it.
fn notes(found: &Across) -> Vec<String> {
    let mut lines = legend(found);
    if found.only_in_one > 0 {
        let noun = if found.only_in_one == 1 {
            "number"
        } else {
            "numbers"
        };
        lines.push(format!(
            "Not compared: {} {noun} valid in only one of the runs.",
            found.only_in_one
        ));
    }
    lines.extend(found.lost_words().map(|lost| {
        let after = ascii(&found.after.name);
        format!("Lost, {lost}. See the failures in the report of {after}.")
    }));
    lines
}

fn table(found: &Across) -> Table {
    Sheet::new(&found.ratios)
        .left("WORKLOAD", |ratio| ratio.workload.clone())
        .left("VARIANT", |ratio| ratio.variant.clone())
        .left("POINT", |ratio| ratio.point.clone())
        .left("METRIC", |ratio| ratio.metric.noun())
        .right("BEFORE", |ratio| {
            ratio.metric.measure().unit.shown(ratio.before)
        })
        .right("AFTER", |ratio| {
            ratio.metric.measure().unit.shown(ratio.after)
        })
        .left("OF BASELINE", |ratio| {
            let versus = ratio.versus_baseline?;
            let [before, after] =
                [versus.before, versus.after].map(|number| of_baseline(ratio, number));
            Some(format!("{before} -> {after}"))
        })
        .left("CHANGE", |ratio| shown(ratio))
        .right("TRIALS", |ratio| {
            format!("{}, {}", ratio.trials_before, ratio.trials_after)
        })
        .table()
}

fn paragraphs(lines: &[String]) -> Markup {
    html! { @for line in lines { p { (line) } "\n" } }
}

fn full_name(run: &RunName) -> String {
    format!("{}/{}", run.namespace, run.name)
}

/// A number versus the baseline, as it is judged: `1.92x`, or `+120 ms`.
fn of_baseline(ratio: &CellRatio, number: f64) -> String {
    let Measure { unit, judged, .. } = ratio.metric.measure();
    match judged.scale() {
        Scale::Ratio => units::ratio(number),
        Scale::Difference => unit.shown_difference(number),
    }
}

/// What runs show that were too short to differ: `6 of 6 undecided: too few blocks`.
fn too_few_blocks(found: &Across) -> Option<String> {
    let judged = || {
        let ratios = found.ratios.iter();
        ratios.filter(|ratio| ratio.verdict.is_some())
    };
    let is_open = |ratio: &CellRatio| {
        let blocks = ratio.trials_before.min(ratio.trials_after);
        !ratio.verdict.is_some_and(Verdict::is_decided) && blocks < FEWEST_BLOCKS
    };
    let all = judged().count();
    (all > 0 && judged().all(is_open)).then(|| format!("{all} of {all} undecided: too few blocks"))
}

/// How many of `all` judged numbers differ, as a sentence.
fn counts(all: usize, worse: usize, better: usize) -> String {
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    match (all, worse, better) {
        (0, ..) => "no number is judged: see why below the table".to_owned(),
        (1, 0, 0) => "the only judged number is neither worse nor better".to_owned(),
        (1, 0, _) => "the only judged number is better".to_owned(),
        (1, ..) => "the only judged number is worse".to_owned(),
        (_, 0, 0) => format!("none of {all} numbers is worse or better"),
        (_, 0, _) => format!(
            "none of {all} numbers is worse, {better} {} better",
            are(better)
        ),
        (_, _, 0) => format!(
            "{worse} of {all} numbers {} worse, none is better",
            are(worse)
        ),
        _ => format!(
            "{worse} of {all} numbers {} worse, {better} {} better",
            are(worse),
            are(better)
        ),
    }
}

fn shown(ratio: &CellRatio) -> String {
    let word = match ratio.unjudged {
        Some(Unjudged::BeyondKnee) => "beyond the knee",
        Some(Unjudged::BaselineChanged) => "baseline changed",
        Some(Unjudged::NotFollowed) => "not followed",
        Some(Unjudged::Untrusted) => "untrusted",
        Some(Unjudged::TooFewRuns) | None => "not judged",
    };
    let message = ratio.verdict.map(|found| found.text(ratio.metric));
    let message = message.unwrap_or_else(|| word.to_owned());
    format!("{}, {message}", ratio.change_text())
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn zero_one_and_many_results_are_counted_in_text() {
        for (all, worse, better, message) in [
            (0, 0, 0, "no number is judged: see why below the table"),
            (
                1,
                0,
                0,
                "the only judged number is neither worse nor better",
            ),
            (1, 0, 1, "the only judged number is better"),
            (1, 1, 0, "the only judged number is worse"),
            (36, 0, 0, "none of 36 numbers is worse or better"),
            (36, 0, 1, "none of 36 numbers is worse, 1 is better"),
            (36, 1, 0, "1 of 36 numbers is worse, none is better"),
            (36, 6, 0, "6 of 36 numbers are worse, none is better"),
            (36, 1, 2, "1 of 36 numbers is worse, 2 are better"),
            (36, 36, 0, "36 of 36 numbers are worse, none is better"),
        ] {
            assert_eq!(counts(all, worse, better), message);
        }
    }
}
