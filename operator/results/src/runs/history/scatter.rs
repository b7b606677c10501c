//! How far runs of a schedule scatter if nothing changed.

use crate::runs::history::document::History;
use crate::runs::history::line::{Number, Series, Setting};
use crate::statistics::{BetweenRuns, OfRun, Scale};

/// How far runs of a schedule scatter about what they measure; fields are `None` with too few
/// comparable runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The scatter of the ratios or differences to the baseline.
    pub versus_baseline: Option<BetweenRuns>,
    /// The scatter of the measure itself.
    pub value: Option<BetweenRuns>,
}

impl History {
    /// The scatter among the trusted numbers of a series that were measured in `stratum`. Leaves
    /// out the runs named in `without`: two runs that are compared do not show how far others
    /// scatter. Lasting changes do not count as scatter.
    pub fn scatter(&self, series: &Series, stratum: &str, without: &[&str]) -> Scatter {
        let known = self.series.iter().position(|known| known == series);
        let between_runs = |number: fn(&Number, Scale) -> Option<OfRun>| {
            BetweenRuns::from_groups(&self.groups(known?, stratum, without, number))
        };
        Scatter {
            versus_baseline: between_runs(Number::versus_on),
            value: between_runs(Number::value_on),
        }
    }

    /// The numbers in groups that are separated by changes.
    fn groups(
        &self,
        series: usize,
        stratum: &str,
        without: &[&str],
        on_scale: fn(&Number, Scale) -> Option<OfRun>,
    ) -> Vec<Vec<OfRun>> {
        let scale = self.series[series].scale();
        let mut groups = vec![vec![]];
        for line in &self.runs {
            let mut changes = self.changes.iter().filter(|change| change.series == series);
            if changes.any(|change| change.run == line.name) {
                groups.push(vec![]);
            }
            let setting = self.settings.get(line.setting).map(Setting::stratum);
            // Folded runs are means and scatter less than single runs.
            let is_comparable = line.runs == 1
                && !without.contains(&line.name.as_str())
                && setting.is_some_and(|known| known == stratum);
            let number = line
                .number(series)
                .filter(|_| is_comparable)
                .filter(|number| number.trusted);
            let single = number.and_then(|number| on_scale(number, scale));
            groups
                .last_mut()
                .into_iter()
                .for_each(|group| group.extend(single));
        }
        groups
    }
}
