//! What the cells of all sweeps have in common: who was measured where, how the trials ended, what
//! speaks against it, and one number per block and measure. Whatever compares, counts or lists
//! cells does so once, for all of them.

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

    /// Why it is invalid: shown, and no part of comparisons and verdicts.
    fn invalid_because(&self) -> &[Reason];

    /// The measures of the cell, each with the number of every valid block. What too few requests
    /// carry, or what is the cluster's and not the variant's, is not among them.
    fn series(&self) -> Vec<(Metric, BTreeMap<u32, f64>)>;

    /// Whether the node was noisy in more of what was measured than a comparison bears.
    fn is_noisy(&self) -> bool;

    /// Whether nobody knows if the node was noisy, although it could be known.
    fn is_noise_unknown(&self) -> bool {
        false
    }

    /// Whether what was measured still moved within the windows, by more than a comparison with
    /// this smallest effect bears.
    fn is_unsteady(&self, _minimum_effect: f64) -> bool {
        false
    }

    /// Whether some of its trials gave no measurement and others did: those that are missing may be
    /// the slow ones.
    fn is_partly_measured(&self) -> bool {
        let counts = self.counts();
        counts.valid > 0 && counts.failed + counts.skipped > 0
    }

    /// Why comparisons with it are not to be trusted; the effect is the smallest that matters.
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

    /// Whether it takes part in comparisons: it has a valid trial and no reason against it.
    fn is_ranked(&self) -> bool {
        self.counts().valid > 0 && self.invalid_because().is_empty()
    }

    /// Whether there is a measurement, valid or not.
    fn is_measured(&self) -> bool {
        self.counts().valid + self.counts().invalid > 0
    }

    /// Where it is, for people: `embedded on hello at 50 connections`.
    fn place(&self) -> String {
        place(self.variant(), self.workload(), self.point())
    }

    /// The same where it may be of any sweep: `cold starts of embedded on hello`.
    fn place_among_sweeps(&self) -> String {
        format!("{}{}", of_sweep(self.point()), self.place())
    }
}

/// Those of the cells that take part in comparisons, of one variant under one workload.
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

/// What stands before a place that may be of any sweep; nothing for a load, whose place tells.
pub const fn of_sweep(point: Point) -> &'static str {
    match point {
        Point::ColdStart { .. } => "cold starts of ",
        Point::Density => "density of ",
        Point::WarmLatency | Point::Throughput { .. } | Point::OpenLoop { .. } => "",
    }
}
