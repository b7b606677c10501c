//! How far runs scatter, according to the history of their schedule.

use crate::runs::across::numbers::Sample;
use crate::runs::across::{Schedule, Side};
use crate::runs::history::line::Series;
use crate::runs::history::{Scatter, stratum_of};

/// Adds to each sample of the later of the two runs `compared` how far other runs of its schedule
/// scatter. Changes nothing if the history does not show it for any sample.
pub fn learn(later: &mut [Sample], schedule: Schedule<'_>, compared: &[Side<'_>; 2]) {
    let [_, after] = compared;
    let stratum = stratum_of(after.summary, after.spec);
    let names = compared.map(|run| run.summary.run.name.as_str());
    let of_sample = |sample: &Sample| {
        let series = Series {
            variant: sample.cell.variant.clone(),
            workload: sample.cell.workload.clone(),
            metric: sample.metric,
            point: sample.cell.point,
        };
        schedule.history.scatter(&series, &stratum, &names)
    };
    let known: Vec<Scatter> = later.iter().map(of_sample).collect();
    let is_known = |scatter: &Scatter| scatter.versus_baseline.or(scatter.value).is_some();
    if known.iter().any(is_known) {
        for (sample, scatter) in later.iter_mut().zip(known) {
            sample.scatter = Some(scatter);
        }
    }
}
