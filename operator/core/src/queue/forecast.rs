//! When each node is free, as far as it is known how long runs take. Runs with the same demands share a
//! heap of the nodes that take their pods, so that a long queue costs R log R. Pure.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::CHOICE;
use crate::fit::{meets, obstacles, takes, unmatched};
use crate::observed::{Demands, ObservedNode, ObservedRun};

/// When a run starts. Nodes are places in the list of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// It may take one of these nodes now, best the first.
    Now(Vec<usize>),
    /// A node is left for it in so many seconds.
    In {
        /// The node.
        node: usize,
        /// So many seconds from now.
        seconds: u64,
    },
    /// It would be next on one of the nodes that meet its demands, which take no pods now.
    Unavailable(String),
    /// Such nodes take no pods now, and other runs come first.
    Unknown,
    /// No node meets its demands.
    Unmatched(String),
}

/// The nodes, each with what has been planned on it so far.
pub struct Forecast<'a> {
    nodes: Vec<&'a ObservedNode>,
    /// In how many seconds each is free; 0 is now.
    free_in: Vec<u64>,
    groups: Vec<Group>,
    by_demands: HashMap<&'a Demands, usize>,
}

/// Runs with the same demands.
struct Group {
    /// The nodes that meet them, whether or not they take pods now, one bit each.
    matching: Vec<u64>,
    /// Those for which its runs compete: the ones that take pods now, or else all of them.
    contested: Vec<u64>,
    /// How many nodes these are.
    count: usize,
    /// Those that take pods, in the order in which they are named.
    ready: Vec<usize>,
    /// Those that take pods, by when they are free. A time may be too early: the node was planned for a
    /// run of another group in the meantime.
    by_time: BinaryHeap<Reverse<(u64, usize)>>,
    /// Why no run of the group can start, if none can.
    reason: Option<String>,
    /// How many runs of the group were placed so far.
    placed: u32,
}

impl<'a> Forecast<'a> {
    /// A forecast for `nodes`, each of which is free in so many seconds.
    pub fn new(nodes: Vec<&'a ObservedNode>, free_in: Vec<u64>) -> Self {
        Self {
            nodes,
            free_in,
            groups: vec![],
            by_demands: HashMap::new(),
        }
    }

    /// Plans the next run of the queue: its place among the runs that could use the same nodes, and its
    /// start.
    pub fn place(&mut self, run: &'a ObservedRun) -> (u32, Start) {
        let group = self.group_of(&run.demands);
        let place = 1 + self.before(group);
        self.groups[group].placed += 1;
        (place, self.start(group, place, run.seconds.max(1)))
    }

    fn start(&mut self, group: usize, place: u32, seconds: u64) -> Start {
        let Some(node) = self.first_free(group) else {
            let count = self.groups[group].count;
            let reason = self.groups[group].reason.clone().unwrap_or_default();
            // While none of them takes pods, so many runs are next.
            let is_next = usize::try_from(place).is_ok_and(|place| place <= count);
            return match (count, is_next) {
                (0, _) => Start::Unmatched(reason),
                (_, true) => Start::Unavailable(reason),
                (_, false) => Start::Unknown,
            };
        };
        let begins = self.free_in[node];
        let start = match begins {
            0 => Start::Now(self.choice(group, node)),
            seconds => Start::In { node, seconds },
        };
        let ends = begins.saturating_add(seconds);
        self.free_in[node] = ends;
        self.groups[group].by_time.push(Reverse((ends, node)));
        start
    }

    /// The nodes that are free for the next run of the group, this one first.
    fn choice(&self, group: usize, first: usize) -> Vec<usize> {
        let is_free = |node: &usize| *node != first && self.free_in[*node] == 0;
        let others = self.groups[group].ready.iter().copied().filter(is_free);
        [first].into_iter().chain(others).take(CHOICE).collect()
    }

    /// Takes the node of the group that is free first off its heap.
    fn first_free(&mut self, group: usize) -> Option<usize> {
        let by_time = &mut self.groups[group].by_time;
        loop {
            let Reverse((known, node)) = by_time.pop()?;
            if known == self.free_in[node] {
                return Some(node);
            }
            by_time.push(Reverse((self.free_in[node], node)));
        }
    }

    /// How many runs were placed that could use a node of this group.
    fn before(&self, group: usize) -> u32 {
        let own = &self.groups[group].matching;
        let others = self.groups.iter();
        let others = others.filter(|other| share(own, &other.matching));
        others.map(|other| other.placed).sum()
    }

    /// The groups so far whose runs compete for a node with those of this group, itself included unless
    /// there is no node.
    pub fn rivals(&self, group: usize) -> impl Iterator<Item = usize> {
        let own = &self.groups[group].contested;
        let others = self.groups.iter().enumerate();
        others
            .filter(move |(_, other)| share(own, &other.contested))
            .map(|(place, _)| place)
    }

    /// For how many of the nodes with these names the runs of each group compete.
    pub fn contested(&self, is_named: impl Fn(&str) -> bool) -> Vec<usize> {
        let nodes = self.nodes.iter().enumerate();
        let named = nodes.filter(|(_, node)| is_named(&node.name));
        let named: Vec<usize> = named.map(|(at, _)| at).collect();
        let among = |group: &Group| {
            let at = named.iter();
            at.filter(|at| has_bit(&group.contested, **at)).count()
        };
        self.groups.iter().map(among).collect()
    }

    /// The group of the runs with these demands.
    pub fn group_of(&mut self, demands: &'a Demands) -> usize {
        if let Some(known) = self.by_demands.get(demands) {
            return *known;
        }
        let group = self.new_group(demands);
        self.groups.push(group);
        let place = self.groups.len() - 1;
        self.by_demands.insert(demands, place);
        place
    }

    fn new_group(&self, demands: &Demands) -> Group {
        let all = self.nodes.iter().copied().enumerate();
        let matching: Vec<(usize, &ObservedNode)> =
            all.filter(|(_, node)| meets(demands, node)).collect();
        let bits = self.bits(matching.iter().map(|(at, _)| *at));
        let ready = matching.iter().filter(|(_, node)| takes(demands, node));
        let ready: Vec<usize> = ready.map(|(at, _)| *at).collect();
        let found: Vec<&ObservedNode> = matching.iter().map(|(_, node)| *node).collect();
        let reason = match (found.is_empty(), ready.is_empty()) {
            (true, _) => Some(unmatched(demands, &self.nodes)),
            (false, true) => Some(obstacles(demands, &found)),
            (false, false) => None,
        };
        let contested = if ready.is_empty() {
            bits.clone()
        } else {
            self.bits(ready.iter().copied())
        };
        let by_time = ready.iter().map(|at| Reverse((self.free_in[*at], *at)));
        Group {
            matching: bits,
            contested,
            count: found.len(),
            by_time: by_time.collect(),
            ready,
            reason,
            placed: 0,
        }
    }

    fn bits(&self, nodes: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut bits = vec![0; self.nodes.len().div_ceil(64)];
        for at in nodes {
            bits[at / 64] |= 1_u64 << (at % 64);
        }
        bits
    }
}

fn has_bit(bits: &[u64], at: usize) -> bool {
    bits[at / 64] & (1_u64 << (at % 64)) != 0
}

fn share(own: &[u64], other: &[u64]) -> bool {
    let mut both = own.iter().zip(other);
    both.any(|(own, other)| own & other != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{LabelDemand, Standing};

    fn node(name: &str, class: &str) -> ObservedNode {
        ObservedNode {
            name: name.into(),
            labels: [("class".to_owned(), class.to_owned())].into(),
            ready: true,
            ..ObservedNode::default()
        }
    }

    /// A run for nodes of one of these classes, which takes so many seconds.
    fn run(classes: &[&str], seconds: u64) -> ObservedRun {
        let label = LabelDemand {
            key: "class".into(),
            values: classes.iter().map(|class| (*class).to_owned()).collect(),
            by: "somebody".into(),
        };
        ObservedRun {
            uid: String::new(),
            name: "team-a/run".into(),
            created: jiff::Timestamp::UNIX_EPOCH,
            standing: Standing::Active,
            demands: Demands {
                labels: vec![label],
                ..Demands::default()
            },
            seconds,
        }
    }

    fn placed(nodes: &[ObservedNode], free_in: &[u64], runs: &[ObservedRun]) -> Vec<(u32, Start)> {
        let mut forecast = Forecast::new(nodes.iter().collect(), free_in.to_vec());
        runs.iter().map(|run| forecast.place(run)).collect()
    }

    #[test]
    fn each_run_takes_the_node_that_is_free_first() {
        let nodes = [node("a", "fast"), node("b", "fast")];
        let runs = [10, 50, 5, 5].map(|seconds| run(&["fast"], seconds));
        let at = |node, seconds| Start::In { node, seconds };
        let expected = [at(1, 20), at(0, 30), at(1, 30), at(1, 35)];
        let found = placed(&nodes, &[30, 20], &runs);
        let found: Vec<Start> = found.into_iter().map(|(_, start)| start).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_free_node_is_for_one_run_and_the_others_choose_from_the_rest() {
        let nodes = [node("a", "fast"), node("b", "fast")];
        let runs = [run(&["fast"], 10), run(&["fast"], 10), run(&["fast"], 10)];
        let expected = [
            (1, Start::Now(vec![0, 1])),
            (2, Start::Now(vec![1])),
            (
                3,
                Start::In {
                    node: 0,
                    seconds: 10,
                },
            ),
        ];
        assert_eq!(placed(&nodes, &[0, 0], &runs), expected);
    }

    #[test]
    fn runs_that_share_no_node_are_not_counted_in_a_place() {
        let nodes = [node("a", "fast"), node("b", "slow")];
        let (fast, slow) = (run(&["fast"], 10), run(&["slow"], 10));
        let any = run(&["fast", "slow"], 10);
        let found = placed(&nodes, &[5, 5], &[fast.clone(), slow.clone(), any, slow]);
        let places: Vec<u32> = found.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [1, 1, 3, 3]);
        let Start::In { seconds, .. } = found[3].1 else {
            panic!("{found:?}");
        };
        assert_eq!(seconds, 15, "the run for any node took the other one");
    }

    #[test]
    fn the_next_runs_learn_what_is_wrong_with_their_node() {
        let mut cordoned = node("a", "fast");
        cordoned.cordoned = true;
        let runs = [run(&["fast"], 10), run(&["fast"], 10), run(&["slow"], 10)];
        let found = placed(&[cordoned], &[0], &runs);
        assert!(matches!(&found[0].1, Start::Unavailable(why) if why.contains("cordoned")));
        assert_eq!(found[1].1, Start::Unknown);
        assert!(matches!(&found[2].1, Start::Unmatched(why) if why.contains("class=slow")));
    }
}
