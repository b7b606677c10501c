//! A row of the table.

use wasmbench_model::wire::record::Point;
use wasmbench_results::judge::lead::Lead;
use wasmbench_results::statistics::OneSided;
use wasmbench_results::vocabulary::measure::Metric;

/// A ratio to the baseline, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The metric.
    pub metric: Metric,
    /// The point of the sweep; `None` where a status does not have it.
    pub point: Option<Point>,
    /// Both in words.
    pub measure: String,
    /// Whether the run was to decide it.
    pub is_primary: bool,
    /// Its place among the others.
    pub lead: Lead,
    /// Name of the variant.
    pub variant: &'a str,
    /// The ratio, or with a `bound` the known end of its interval.
    pub ratio: f64,
    /// Which end of the interval is known, where only one is.
    pub bound: Option<OneSided>,
    /// The ends of its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The difference with its interval, for a metric that is judged by it.
    pub difference: Option<String>,
    /// The verdict in words.
    pub verdict: String,
    /// The factor above 1 by which the baseline's twin may differ from it.
    pub noise_floor: Option<f64>,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The ratio of each block; empty where they are not known.
    pub each_block: &'a [f64],
}
