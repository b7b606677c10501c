//! Whether the run had the node to itself while pods started. A start itself uses the node's CPUs,
//! kubelet and containerd included. A sample is therefore compared with what starts of its point
//! usually take: a system that is always busy is not noise, but a neighbour that comes and goes is.

use wasmbench_model::noise::{self, Noise};
use wasmbench_model::wire::cold_start::{ColdSample, ColdStartDocument, NodeSpan};

use crate::statistics::median;

/// Available CPU time, over all CPUs, below which a tick of the kernel's counters (10 ms) would be
/// more than half of the smallest limit.
const COARSE_NANOSECONDS: f64 = 400_000_000.0;

/// The CPU use of the node while the pods of one sample came up, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeUse {
    /// CPU time that the node had available.
    available: f64,
    /// CPU time that was used, by any process.
    busy: f64,
    /// CPU time that the hypervisor withheld.
    stolen: f64,
    cpus: u32,
}

impl NodeUse {
    /// The use during a sample on a node with `cpus` CPUs; `None` if the counters are too coarse
    /// for it.
    pub fn from_span(span: &NodeSpan, cpus: u32) -> Option<Self> {
        let available = span.duration_nanoseconds as f64 * f64::from(cpus);
        (available >= COARSE_NANOSECONDS).then_some(Self {
            available,
            busy: span.cpu.busy_nanoseconds as f64,
            stolen: span.cpu.steal_nanoseconds as f64,
            cpus,
        })
    }

    fn is_noisy(&self, usually_busy: f64) -> bool {
        let noise = Noise {
            others: Some((self.busy - usually_busy) / self.available),
            stolen: Some(self.stolen / self.available),
            memory_waits: None,
            cpus: Some(self.cpus),
        };
        noise.is_over_limit()
    }
}

/// The use of the node in the samples of a trial that count, where it was read.
pub fn uses(document: &ColdStartDocument) -> Vec<NodeUse> {
    let cpus = document.environment.facts.get("cpus");
    let Some(cpus) = cpus.and_then(|list| noise::cpus(list)) else {
        return vec![];
    };
    let counted = document.samples.iter().filter(|sample| sample.counts());
    let node_use = |sample: &ColdSample| NodeUse::from_span(sample.node.as_ref()?, cpus);
    counted.filter_map(node_use).collect()
}

/// How many samples of a point were noisy, and how many were judged.
pub fn noisy(samples: &[NodeUse]) -> (u32, u32) {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let usually_busy = median(samples.iter().map(|sample| sample.busy)).unwrap_or_default();
    let noisy = samples.iter().filter(|one| one.is_noisy(usually_busy));
    (count(noisy.count()), count(samples.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmbench_model::wire::document::NodeCpu;

    const MILLISECOND: u64 = 1_000_000;

    /// A sample on two CPUs, in milliseconds.
    fn sample([duration, busy, stolen]: [u64; 3]) -> Option<NodeUse> {
        let span = NodeSpan {
            duration_nanoseconds: duration * MILLISECOND,
            cpu: NodeCpu {
                busy_nanoseconds: busy * MILLISECOND,
                steal_nanoseconds: stolen * MILLISECOND,
                ..NodeCpu::default()
            },
        };
        NodeUse::from_span(&span, 2)
    }

    fn found(samples: &[[u64; 3]]) -> (u32, u32) {
        let samples: Vec<NodeUse> = samples.iter().copied().filter_map(sample).collect();
        noisy(&samples)
    }

    #[test]
    fn starts_that_all_burn_cpu_are_not_noise_but_one_that_burns_more_is() {
        assert_eq!(found(&[[500, 900, 0]; 5]), (0, 5));
        let usual = [500, 500, 0];
        let limit = [500, 650, 0];
        assert_eq!(found(&[usual, usual, usual, limit]), (0, 4));
        assert_eq!(found(&[usual, usual, usual, [500, 660, 0]]), (1, 4));
    }

    #[test]
    fn a_neighbour_on_a_full_node_shows_in_the_time_that_a_start_takes() {
        let undisturbed = [500, 1000, 0];
        assert_eq!(
            found(&[undisturbed, undisturbed, undisturbed, [1000, 2000, 0]]),
            (1, 4)
        );
    }

    #[test]
    fn stolen_time_is_noise_by_itself_even_if_it_is_usual() {
        assert_eq!(found(&[[500, 500, 50]; 5]), (0, 5), "5 % is the limit");
        assert_eq!(found(&[[500, 500, 60]; 5]), (5, 5));
    }

    #[test]
    fn a_sample_too_short_for_the_kernels_ticks_is_not_judged() {
        assert_eq!(found(&[[199, 10, 90], [200, 10, 90]]), (1, 1));
        assert_eq!(found(&[]), (0, 0));
    }
}
