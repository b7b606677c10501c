//! How far to trust the numbers: what follows from the reasons for doubt. The rules that raise
//! doubts are in [`crate::doubts`].

use std::collections::BTreeSet;

use wasmbench_model::units::truncate;

use crate::judge::comparison::Comparison;
use crate::summary::Summary;
use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::{Doubt, Reach, Reason};
use crate::vocabulary::primary;

/// Longest message of a condition, in characters. The API server accepts 32,768 bytes; the margin
/// is for multi-byte characters.
const MAX_CONDITION_CHARS: usize = 8000;

/// Whether a doubt speaks against everything that was measured.
pub fn is_doubted(summary: &Summary) -> bool {
    of_run(summary).next().is_some()
}

/// The reasons that speak against everything that was measured.
pub fn of_run(summary: &Summary) -> impl Iterator<Item = Reason> {
    let doubts = summary.doubts.iter().filter(|doubt| doubt.breaks_trust);
    let reasons = doubts.map(|doubt| doubt.reason);
    reasons.filter(|reason| reason.reach() == Reach::Run)
}

/// Whether the numbers can be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// There are no numbers to judge.
    NoNumbers,
    /// Nothing speaks against the numbers; the message holds the notes.
    Yes(String),
    /// The numbers cannot be believed, for these reasons.
    No {
        /// The only reason, or `SeveralDoubts`.
        reason: &'static str,
        /// Every reason with its remedy, at most 8000 characters.
        message: String,
    },
}

/// The condition `Trustworthy` of a summary: how many comparisons were decided, one
/// line per reason, then the notes.
pub fn trust(summary: &Summary) -> Trust {
    let lines = |breaks_trust: bool, kind: &'static str| {
        let doubts = summary
            .doubts
            .iter()
            .filter(move |doubt| doubt.breaks_trust == breaks_trust);
        doubts.map(move |doubt| format!("{kind}{}", line(doubt)))
    };
    let message = |first: Option<String>| {
        let all = first
            .into_iter()
            .chain(lines(true, ""))
            .chain(lines(false, "Note, "));
        truncate(&all.collect::<Vec<_>>().join("\n"), MAX_CONDITION_CHARS)
    };
    match summary.trustworthy {
        None => Trust::NoNumbers,
        Some(true) => {
            let lines: Vec<String> = [Some(format!("{}.", headline(summary))), tally_text(summary)]
                .into_iter()
                .flatten()
                .collect();
            Trust::Yes(message(Some(lines.join(" "))))
        }
        Some(false) => {
            let mut reasons = summary.doubts.iter().filter(|doubt| doubt.breaks_trust);
            let first = reasons
                .next()
                .map_or("SeveralDoubts", |doubt| doubt.reason.into());
            let reason = if reasons.next().is_some() {
                "SeveralDoubts"
            } else {
                first
            };
            Trust::No {
                reason,
                message: message(tally_text(summary)),
            }
        }
    }
}

/// A doubt with its reason and remedy.
fn line(doubt: &Doubt) -> String {
    let reason: &str = doubt.reason.into();
    format!("{reason}: {}", doubt.text())
}

/// What breaks trust of a run that goes on, and what takes points out of its primary comparisons, one
/// line per reason; `None` if nothing does so far.
pub fn so_far(summary: &Summary) -> Option<String> {
    let mut left_out = left_out(summary);
    let news = |doubt: &Doubt| {
        let line = line(doubt);
        if doubt.breaks_trust {
            return (!doubt.reason.is_of_the_end()).then_some(line);
        }
        // The first doubt with a reason is the worst: p50 comes before p90.
        left_out
            .remove(&doubt.reason)
            .then(|| format!("Left out, {line}"))
    };
    let lines: Vec<String> = summary.doubts.iter().filter_map(news).collect();
    (!lines.is_empty()).then(|| truncate(&lines.join("\n"), MAX_CONDITION_CHARS))
}

/// Why points are out of comparisons, if that leaves primary ones without numbers.
fn left_out(summary: &Summary) -> BTreeSet<Reason> {
    if tally(summary).left_out == 0 {
        return BTreeSet::new();
    }
    let cells = summary.all_cells();
    let reasons = cells.flat_map(|cell| cell.invalid_because);
    let reasons = reasons.filter(|reason| reason.reach() == Reach::LeftOut);
    reasons.copied().collect()
}

/// How many problems break trust and how many notes limit single numbers: `No blocking problem; 2
/// notes`.
pub fn headline(summary: &Summary) -> String {
    let all = summary.doubts.len();
    let blocking = summary
        .doubts
        .iter()
        .filter(|doubt| doubt.breaks_trust)
        .count();
    let counted = |number: usize, what: &str| match number {
        0 => format!("No {what}"),
        1 => format!("1 {what}"),
        more => format!("{more} {what}s"),
    };
    let problems = counted(blocking, "blocking problem");
    if all == blocking {
        return problems;
    }
    format!("{problems}; {}", counted(all - blocking, "note"))
}

/// The outcomes of the primary comparisons. Each counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub planned: usize,
    /// Decided, and nothing speaks against the comparison.
    pub decided: usize,
    /// The data do not decide.
    pub undecided: usize,
    /// Not to be trusted, regardless of the verdict.
    pub untrusted: usize,
    /// Not compared.
    pub left_out: usize,
}

impl Tally {
    /// The comparisons that were not decided, if there are any: `1 undecided, 4 left out`.
    pub fn others(&self) -> Option<String> {
        let parts: Vec<String> = [
            (self.undecided, "undecided"),
            (self.untrusted, "untrusted"),
            (self.left_out, "left out"),
        ]
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Counts the outcomes of the primary comparisons.
pub fn tally(summary: &Summary) -> Tally {
    let is_doubted = is_doubted(summary);
    let mut tally = Tally::default();
    for one in summary.comparisons.iter().filter(|one| one.primary) {
        match (one.untrusted.is_empty(), one.verdict.is_decided()) {
            (false, _) => tally.untrusted += 1,
            (true, _) if is_doubted => tally.untrusted += 1,
            (true, true) => tally.decided += 1,
            (true, false) => tally.undecided += 1,
        }
    }
    let compared = tally.decided + tally.undecided + tally.untrusted;
    tally.planned = summary.spec.as_ref().map_or(compared, primary::planned);
    tally.left_out = tally.planned.saturating_sub(compared);
    tally
}

/// The same in a sentence; `None` if there are no primary comparisons.
pub fn tally_text(summary: &Summary) -> Option<String> {
    let tally = tally(summary);
    let (planned, decided) = (tally.planned, tally.decided);
    let others = tally
        .others()
        .map_or_else(String::new, |others| format!(", {others}"));
    (planned > 0).then(|| format!("Of {planned} primary comparisons {decided} decided{others}."))
}

/// What a run found that was too short to decide anything: `6 of 6 undecided: too few blocks`.
pub fn too_few_blocks(summary: &Summary) -> Option<String> {
    let primary = || summary.comparisons.iter().filter(|one| one.primary);
    let is_open = |one: &Comparison| {
        !one.verdict.is_decided() && one.untrusted.contains(&Reason::TooFewBlocks)
    };
    let undecided = primary().filter(|one| is_open(one)).count();
    let planned = tally(summary).planned;
    (undecided > 0 && undecided == primary().count())
        .then(|| format!("{undecided} of {planned} undecided: too few blocks"))
}

/// Keeps doubts that concern the whole run or its primary comparisons, and turns the others into
/// notes: points that are left out of comparisons do not speak against the comparisons that remain.
/// Without primary comparisons all doubts stay as they are.
pub fn weigh(doubts: &mut [Doubt], compared: &[Comparison]) {
    let primary: Vec<&Comparison> = compared.iter().filter(|one| one.primary).collect();
    if primary.is_empty() {
        return;
    }
    let doubted = |reason| primary.iter().any(|one| one.untrusted.contains(&reason));
    for doubt in doubts.iter_mut().filter(|doubt| doubt.breaks_trust) {
        doubt.breaks_trust = match doubt.reason.reach() {
            Reach::Run => true,
            Reach::Comparisons => doubted(doubt.reason),
            Reach::LeftOut => false,
        };
    }
}

/// Whether nothing speaks against the numbers; `None` if there are none.
pub fn trustworthy(trials: TrialCounts, doubts: &[Doubt]) -> Option<bool> {
    let any = trials.valid + trials.invalid > 0;
    any.then(|| !doubts.iter().any(|doubt| doubt.breaks_trust))
}
