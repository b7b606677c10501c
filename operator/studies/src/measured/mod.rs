//! What runs of a study's manifest found: the values of their blocks, run by run. Summaries in, one small document out,
//! which is kept in the repository so that the page can be written again without a cluster. Runs may be of different days and
//! machines: each holds its own baseline, and only values of one run are ever divided.

mod summaries;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::figure::Figure;

pub use summaries::from_summaries;

/// Name and version of the document's schema.
const SCHEMA: &str = "wasmbench.dev/studies/v2";

/// Which of a study's manifests was run.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Length {
    /// The shortened one.
    Short,
    /// The one with all of the document's numbers of connections.
    Full,
}

/// What was found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Measured {
    /// Name and version of the schema.
    pub schema: String,
    /// What each run found, by its name.
    pub runs: BTreeMap<String, Run>,
}

/// What one run found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// Which manifest it is of.
    pub length: Length,
    /// Facts of the node.
    pub node: BTreeMap<String, String>,
    /// The fewest blocks that one of its primary comparisons rests on: of a run that was stopped, fewer
    /// than it was to have. Another measure may be zero, and so without a ratio, in some blocks.
    pub blocks: u32,
    /// The reasons to doubt the numbers, one word each. A reason that points list too concerns only
    /// those points; any other concerns the whole run.
    pub doubts: BTreeSet<String>,
    /// Every value.
    pub points: Vec<Point>,
    /// Why variants have no value somewhere.
    pub without: Vec<Without>,
}

/// The values of one variant at one point.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Point {
    /// What it is.
    pub figure: Figure,
    /// Name of the workload.
    pub workload: String,
    /// Connections, or pods at once.
    pub at: u32,
    /// Name of the variant.
    pub variant: String,
    /// By block, in the unit of the metric: microseconds, requests per second, bytes, shares or counts.
    pub values: BTreeMap<u32, f64>,
    /// The reasons to doubt these values, one word each.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub doubts: BTreeSet<String>,
}

/// A variant without a value.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Without {
    /// Name of the variant.
    pub variant: String,
    /// Why.
    pub reason: String,
}

/// The checked content of a file.
pub fn parse(text: &str) -> Result<Measured, String> {
    let measured: Measured = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if measured.schema == SCHEMA {
        Ok(measured)
    } else {
        Err(format!("schema must be {SCHEMA}: measure again"))
    }
}

/// A figure of a variant under a workload at a number of connections or pods.
type Place<'a> = (Figure, &'a str, u32, &'a str);

impl Run {
    fn places(&self) -> BTreeSet<Place<'_>> {
        let points = self.points.iter();
        let places =
            points.map(|point| (point.figure, &*point.workload, point.at, &*point.variant));
        places.collect()
    }

    /// The reasons that concern the whole run: those that no point lists.
    pub fn doubts_of_all(&self) -> impl Iterator<Item = &String> {
        let of_a_point = |doubt: &&String| {
            let mut points = self.points.iter();
            points.any(|point| point.doubts.contains(*doubt))
        };
        self.doubts.iter().filter(move |doubt| !of_a_point(doubt))
    }

    /// Which of two runs of the same place counts: one of the whole manifest, then the one with more blocks.
    fn weight(&self) -> (Length, u32) {
        (self.length, self.blocks)
    }
}

impl Measured {
    /// With what was measured later. A run replaces the one of its name; runs of which another has every place and more weight
    /// are dropped.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        self.runs.extend(later.runs);
        let runs = self.runs.clone();
        let better = |run: &Run| {
            let better = runs.values().filter(|other| other.weight() > run.weight());
            let places: BTreeSet<_> = better.flat_map(Run::places).collect();
            !run.points.is_empty() && run.places().is_subset(&places)
        };
        self.runs.retain(|_, run| !better(run));
        self
    }

    /// What the run of that name found, alone.
    pub fn only(&self, name: &str) -> Option<Self> {
        let run = self.runs.get(name)?;
        Some(Self {
            schema: self.schema.clone(),
            runs: [(name.to_owned(), run.clone())].into(),
        })
    }

    /// The runs with their names, the one first whose values count before those of others.
    pub fn best_first(&self) -> Vec<(&str, &Run)> {
        let named = self.runs.iter().map(|(name, run)| (name.as_str(), run));
        let mut runs: Vec<_> = named.collect();
        runs.sort_by_key(|(_, run)| std::cmp::Reverse(run.weight()));
        runs
    }

    /// Why variants have no value somewhere, in any run.
    pub fn without(&self) -> Vec<&Without> {
        let mut all = vec![];
        for without in self.runs.values().flat_map(|run| &run.without) {
            if !all.contains(&without) {
                all.push(without);
            }
        }
        all
    }
}
