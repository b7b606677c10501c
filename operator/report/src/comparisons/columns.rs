//! The columns of the table of ratios.

use wasmbench_model::units;
use wasmbench_results::judge::lead;

use super::row::Row;
use crate::sheet::Sheet;
use crate::table::Table;

/// The mark of a measure that the run was to decide.
pub const PRIMARY: &str = "*";

/// More blocks would make a column wider than a page; `summary.json` has all.
const MOST_BLOCKS: usize = 10;

/// The ratio of each block, unless there are too many for a column.
pub fn each_block(ratios: &[f64]) -> Option<String> {
    let each: Vec<String> = ratios
        .iter()
        .map(|ratio| units::ratio_number(*ratio))
        .collect();
    (1..=MOST_BLOCKS)
        .contains(&each.len())
        .then(|| each.join(" "))
}

/// The table of `rows`, with each title as `title` writes it: the measures in the order of what leads
/// in them, and so the rows of a measure.
pub fn table(mut rows: Vec<Row<'_>>, baseline: &str, title: fn(&str) -> String) -> Table {
    let leads = lead::of_groups(rows.iter().map(|row| ((row.metric, row.point), row.lead)));
    rows.sort_by_key(|row| {
        let of_measure = leads.get(&(row.metric, row.point)).copied();
        (of_measure, row.metric, row.point, row.lead)
    });
    let decides = |row: &Row<'_>| if row.is_primary { PRIMARY } else { "" };
    Sheet::new(rows)
        .left(title("Versus ") + baseline, move |row| {
            row.measure.clone() + decides(row)
        })
        .left(title("Variant"), |row| row.variant)
        .right(title("Ratio"), |row| {
            let bound = row
                .bound
                .map_or_else(String::new, |bound| format!("{} ", bound.text()));
            bound + &units::ratio(row.ratio)
        })
        .right(title("Interval"), |row| {
            row.interval.map(units::ratio_interval)
        })
        .right(title("Difference"), |row| row.difference.clone())
        .left(title("Verdict"), |row| row.verdict.clone())
        .right(title("Noise floor"), |row| {
            row.noise_floor.map(units::excess)
        })
        .right(title("Blocks"), |row| {
            (row.blocks > 0).then_some(row.blocks)
        })
        .right(title("Each block"), |row| each_block(row.each_block))
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_lists_the_blocks_while_they_fit() {
        assert_eq!(each_block(&[]), None);
        assert_eq!(each_block(&[1.5, 0.98]).as_deref(), Some("1.50 0.98"));
        assert!(each_block(&[1.0; MOST_BLOCKS]).is_some());
        assert_eq!(each_block(&[1.0; MOST_BLOCKS + 1]), None);
    }
}
