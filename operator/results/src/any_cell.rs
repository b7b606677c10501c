//! What the cells of all sweeps have in common: what was measured where, how the trials ended, what
//! speaks against the cell, and one number per block and measure. Code that compares, counts or
//! lists cells is thus written once for all of them.

use std::collections::BTreeMap;

use wasmbench_core::wire::record::{Cell, Point};

use crate::counts::TrialCounts;
use crate::doubt::Reason;
use crate::measure::Metric;

/// One variant under one workload at one point of any sweep.
pub trait AnyCell {
    /// Name of the variant.
    fn variant(&self) -> &str;

    /// Name of the workload.
    fn workload(&self) -> &str;

    /// The point of the sweep.
    fn point(&self) -> Point;

    /// Variant, workload and point together.
    fn cell(&self) -> Cell {
        Cell {
            variant: self.variant().to_owned(),
            workload: self.workload().to_owned(),
            point: self.point(),
        }
    }

    /// How its trials ended.
    fn counts(&self) -> TrialCounts;

    /// Why the cell is invalid: it is shown, but excluded from comparisons and verdicts.
    fn invalid_because(&self) -> &[Reason];

    /// The measures of the cell, each with one number per valid block. Measures that rest on too
    /// few requests, or that depend on the cluster and not on the variant, are left out.
    fn series(&self) -> Vec<(Metric, BTreeMap<u32, f64>)>;

    /// Whether the node was noisy in more of the measurements than a comparison tolerates; `false`
    /// where noise does not move what is compared.
    fn is_noisy(&self) -> bool {
        false
    }

    /// Whether it is unknown if the node was noisy, although it could have been determined.
    fn is_noise_unknown(&self) -> bool {
        false
    }

    /// Whether the measured rate still changed within the windows, by more than a comparison with
    /// this minimum effect tolerates.
    fn is_unsteady(&self, _minimum_effect: f64) -> bool {
        false
    }

    /// Whether some trials are valid while others failed or were skipped: the missing ones may be
    /// the slow ones.
    fn is_partly_measured(&self) -> bool {
        let counts = self.counts();
        counts.valid > 0 && counts.failed + counts.skipped > 0
    }

    /// Why comparisons with this cell are not to be trusted. `minimum_effect` is the smallest
    /// effect that matters.
    fn untrusted_because(&self, minimum_effect: f64) -> Vec<Reason> {
        let against = [
            (Reason::TrialsFailed, self.is_partly_measured()),
            (Reason::NodeNoisy, self.is_noisy()),
            (Reason::NoiseUnknown, self.is_noise_unknown()),
            (Reason::NotSteady, self.is_unsteady(minimum_effect)),
        ];
        let against = against.into_iter().filter(|(_, is_so)| *is_so);
        against.map(|(reason, _)| reason).collect()
    }

    /// Whether the cell takes part in comparisons: it has a valid trial and nothing makes it
    /// invalid.
    fn is_ranked(&self) -> bool {
        self.counts().valid > 0 && self.invalid_because().is_empty()
    }

    /// Whether there is a measurement, valid or not.
    fn is_measured(&self) -> bool {
        self.counts().valid + self.counts().invalid > 0
    }

    /// The place of the cell, for people: `embedded on hello at 50 connections`.
    fn place(&self) -> String {
        place(self.variant(), self.workload(), self.point())
    }

    /// The place in a list over all sweeps: `cold starts of embedded on hello`.
    fn place_among_sweeps(&self) -> String {
        format!("{}{}", of_sweep(self.point()), self.place())
    }
}

/// The cells of one variant under one workload that take part in comparisons.
pub fn ranked<'a, C: AnyCell>(
    cells: &'a [C],
    variant: &'a str,
    workload: &'a str,
) -> impl DoubleEndedIterator<Item = &'a C> {
    let is_of = move |cell: &&C| cell.variant() == variant && cell.workload() == workload;
    cells.iter().filter(is_of).filter(|cell| cell.is_ranked())
}

/// Where something was measured, for people: `embedded on hello, 4 pods at once`.
pub fn place(variant: &str, workload: &str, point: Point) -> String {
    let at = match point {
        Point::WarmLatency => " (warm latency)".to_owned(),
        Point::Throughput { connections } => format!(" at {connections} connections"),
        Point::OpenLoop { percent_of_peak } => format!(" at {percent_of_peak} % of its peak"),
        Point::ColdStart { concurrency: 1 } | Point::Density => String::new(),
        Point::ColdStart { concurrency } => format!(", {concurrency} pods at once"),
    };
    format!("{variant} on {workload}{at}")
}

/// The prefix of a place in a list over all sweeps; empty for loads, whose place shows the sweep.
pub const fn of_sweep(point: Point) -> &'static str {
    match point {
        Point::ColdStart { .. } => "cold starts of ",
        Point::Density => "density of ",
        Point::WarmLatency | Point::Throughput { .. } | Point::OpenLoop { .. } => "",
    }
}
