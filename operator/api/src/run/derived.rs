//! What follows from a spec, whichever of its fields were left out.

use crate::run::{BenchmarkRunSpec, FEWEST_PRECISE_BLOCKS, Metric, Network, RunScatter};

impl BenchmarkRunSpec {
    /// Returns the minimum number of blocks of the run.
    pub fn fewest_blocks(&self) -> u32 {
        match self.precision {
            None => self.blocks,
            Some(_) => self.blocks.max(FEWEST_PRECISE_BLOCKS),
        }
    }

    /// Returns the name of the variant that the others are compared with: the first one, unless the
    /// spec names another.
    pub fn baseline_name(&self) -> &str {
        let first = self.variants.first().map(|variant| variant.name.as_str());
        self.baseline.as_deref().or(first).unwrap_or_default()
    }

    /// Returns whether the spec names a measure: one that is compared only if named then is.
    pub fn names(&self, metric: Metric) -> bool {
        let expected = self.expectations.iter().map(|one| one.metric);
        let listed = self
            .additional_measures
            .iter()
            .chain(&self.primary_measures);
        listed.copied().chain(expected).any(|named| named == metric)
    }

    /// Returns how far runs of this spec are said to scatter.
    pub fn run_scatter(&self) -> RunScatter {
        // validate rejects anything that is not a scatter.
        let stated = self.run_scatter.as_deref().and_then(RunScatter::parse);
        stated.unwrap_or_default()
    }

    /// Returns the network of the subjects.
    pub fn network(&self) -> Network {
        let placement = self.placement.as_ref();
        placement.map_or_else(Network::default, |placement| placement.network)
    }

    /// Returns the CPU limit of every subject, if the run sets one.
    pub fn cpu_limit(&self) -> Option<&str> {
        let limits = self.resources.as_ref()?.limits.as_ref()?;
        limits.cpu.as_deref()
    }

    /// Returns the maximum number of blocks of the run: that of `precision`, if it has one.
    pub fn most_blocks(&self) -> u32 {
        let precise = self.precision.as_ref();
        precise.map_or(self.blocks, |precision| {
            precision.max_blocks.max(self.fewest_blocks())
        })
    }
}
