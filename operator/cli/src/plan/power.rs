//! What a run can find, as a table with one row per scatter of trials.

use wasmbench_api::run::MOST_BLOCKS;
use wasmbench_core::plan::expected_trial_seconds;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::units;
use wasmbench_report::table::{Align, Table};
use wasmbench_results::statistics::ratio::blocks_to_find;
use wasmbench_results::summary::power::{self, scatter_text};
use wasmbench_results::vocabulary::primary::planned;

use super::earlier::{Earlier, OnNodes, by_fingerprint};

/// Scatters of equal trials without an earlier run: those of a quiet machine, a usual one, and a
/// small virtual one.
const SCATTERS: [f64; 3] = [0.03, 0.05, 0.08];
/// Differences for which the plan shows the blocks and time needed to find them.
const EFFECTS: [f64; 3] = [0.10, 0.05, 0.03];

/// What the run can find, and what finding more would take; empty if nothing is compared.
pub fn power(valid: &ValidatedRun, earlier: &[Earlier]) -> String {
    let among = planned(&valid.spec);
    if among == 0 {
        return String::new();
    }
    let known = by_fingerprint(earlier, &valid.spec);
    let from = if known.is_empty() {
        "No earlier run shows how far trials scatter on your node: by 3 % on a quiet machine, 8 % on a small virtual one."
    } else {
        "Trials scatter as in the earlier runs on nodes with the same fingerprint (median of status.power.scatter)."
    };
    let mut table = table(valid);
    for (scatter, shown) in scatters(&known) {
        table.row(&row(valid, among, scatter, shown));
    }
    format!(
        "\nThe smallest difference found in 80 of 100 runs, and what it takes to find others, and to call equals equivalent \
         (primary comparisons: {among})\n{}{from}\nDifferences below minimumEffect ({}) are called equivalent: to find those, \
         lower it.\n",
        table.plain(),
        valid.spec.minimum_effect,
    )
}

/// The scatters to reckon with, each in words: those of earlier runs, or usual ones.
pub fn scatters(known: &[OnNodes]) -> Vec<(f64, String)> {
    if known.is_empty() {
        return SCATTERS.map(|one| (one, scatter_text(one))).to_vec();
    }
    known.iter().map(|one| (one.scatter, one.text())).collect()
}

/// The table without rows.
fn table(valid: &ValidatedRun) -> Table {
    let found = format!("Found with {} blocks", valid.spec.fewest_blocks());
    let takes = EFFECTS.map(|effect| format!("{} takes", units::percent(effect)));
    let mut columns = vec![
        ("Trials scatter by", Align::Right),
        (found.as_str(), Align::Right),
    ];
    columns.extend(takes.iter().map(|title| (title.as_str(), Align::Right)));
    columns.push(("Equals take", Align::Right));
    Table::new(&columns)
}

/// What the run finds `among` its primary comparisons if trials scatter by `scatter`, as `shown`.
fn row(valid: &ValidatedRun, among: usize, scatter: f64, shown: String) -> Vec<String> {
    let own = valid.spec.fewest_blocks();
    let trials = valid.planned(own).iter();
    let seconds: u64 = trials
        .filter(|trial| !trial.is_scout())
        .map(|trial| expected_trial_seconds(valid, trial))
        .sum();
    let takes = |blocks: Option<u32>| {
        let Some(blocks) = blocks else {
            return format!("more than {MOST_BLOCKS} blocks");
        };
        let time = units::duration(seconds * u64::from(blocks) / u64::from(own.max(1)));
        format!("{blocks} blocks, {time}")
    };
    let expected = power::expected(&valid.spec, scatter);
    let found = expected.and_then(|one| one.smallest).map(units::excess);
    let noise = power::of_ratios(&valid.spec, scatter);
    let finds = |effect: f64| blocks_to_find(effect.ln_1p(), noise, among, MOST_BLOCKS);
    let mut row = vec![shown, found.unwrap_or_else(|| "-".into())];
    row.extend(EFFECTS.map(|effect| takes(finds(effect))));
    row.push(takes(expected.and_then(|one| one.equals)));
    row
}
