//! The turns of all waiting runs, as [`crate::queue`] last published them: a run's reconcile only reads its
//! own. What is published stays until it is wrong enough for people to notice, because each change is
//! a write, and somebody is being measured.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use jiff::Timestamp;
use tokio::sync::Notify;
use wasmbench_core::observed::{Candidate, ObservedLease, Outlook, Turn};
use wasmbench_core::queue::Turns;

/// The turns of all waiting runs.
#[derive(Default)]
pub struct PublishedTurns {
    changed: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the uid of the run.
    of: HashMap<String, Turn>,
    gone: Vec<ObservedLease>,
    /// Uids of all runs that the queue has seen, whether or not they wait.
    known: HashSet<String>,
    /// Uids of runs that look for what they have in the cluster, or have looked and wait for nothing but
    /// their turn.
    looking: HashSet<String>,
    settled: HashSet<String>,
    /// Uids of runs that are to be woken although their turn is the same.
    stirred: HashSet<String>,
    all_stirred: bool,
}

/// What follows from new turns.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Uids of the runs whose turn is another one now.
    pub woken: Vec<String>,
    /// Whether places or times are to be published once it is not quiet any more.
    pub is_withheld: bool,
}

impl PublishedTurns {
    /// Notes that something has changed on which turns depend.
    pub fn have_changed(&self) {
        self.changed.notify_one();
    }

    /// Returns when something has changed since the last time. Many changes count as one.
    pub async fn change(&self) {
        self.changed.notified().await;
    }

    /// The turn of the run with this uid.
    pub fn turn(&self, run_uid: &str) -> Option<Turn> {
        self.state().of.get(run_uid).cloned()
    }

    /// Whether no node takes the run with this uid now, as its turn has it.
    pub fn lacks_node(&self, run_uid: &str) -> bool {
        let turn = self.turn(run_uid);
        turn.is_some_and(|turn| match turn.outlook {
            Outlook::Unavailable(_) | Outlook::Unmatched(_) | Outlook::Later(None) => true,
            Outlook::Free(_) | Outlook::Later(Some(_)) => false,
        })
    }

    /// Forgets the turn of the run with this uid, which demands other nodes now. The next one is published in
    /// any case.
    pub fn forget(&self, run_uid: &str) {
        self.state().of.remove(run_uid);
    }

    /// Claims of nobody on nodes that are gone.
    pub fn gone(&self) -> Vec<ObservedLease> {
        self.state().gone.clone()
    }

    /// Whether the queue has seen the run with this uid.
    pub fn know(&self, run_uid: &str) -> bool {
        self.state().known.contains(run_uid)
    }

    /// Notes that the run with this uid is about to look for what it has in the cluster.
    pub fn look(&self, run_uid: &str) {
        self.state().looking.insert(run_uid.to_owned());
    }

    /// Notes that the run with this uid has found nothing. What has appeared since it looked counts.
    pub fn settle(&self, run_uid: &str) {
        let mut state = self.state();
        if state.looking.remove(run_uid) {
            state.settled.insert(run_uid.to_owned());
        }
    }

    /// Notes that the run with this uid has something in the cluster, or may have.
    pub fn unsettle(&self, run_uid: &str) {
        let mut state = self.state();
        state.looking.remove(run_uid);
        state.settled.remove(run_uid);
    }

    /// Whether the run with this uid had nothing in the cluster when it last looked, and nothing has
    /// appeared since.
    pub fn is_settled(&self, run_uid: &str) -> bool {
        self.state().settled.contains(run_uid)
    }

    /// Notes that the run with this uid has something where another one would measure. It is woken to look for
    /// that, unless it looks anyway because it may take a node.
    pub fn stir(&self, run_uid: &str) {
        let mut state = self.state();
        let turn = state.of.get(run_uid);
        if turn.is_some_and(|turn| matches!(turn.outlook, Outlook::Free(_))) {
            return;
        }
        state.looking.remove(run_uid);
        state.settled.remove(run_uid);
        state.stirred.insert(run_uid.to_owned());
        drop(state);
        self.have_changed();
    }

    /// Notes that all runs were listed again. While a list arrives its runs are reconciled as they were before,
    /// so that all are woken once more.
    pub fn stir_all(&self) {
        self.state().all_stirred = true;
        self.have_changed();
    }

    /// Notes that somebody else was faster than the run with this uid, to which this claim on this node was
    /// free. The next turn is published once the queue has heard of that.
    pub fn retract(&self, run_uid: &str, node: &str, claim: Option<&ObservedLease>) {
        let mut state = self.state();
        let is_it = |one: &Candidate| one.node == node && one.lease.as_ref() == claim;
        let is_old = |turn: &Turn| match &turn.outlook {
            Outlook::Free(free) => free.iter().any(is_it),
            Outlook::Later(_) | Outlook::Unavailable(_) | Outlook::Unmatched(_) => false,
        };
        if state.of.get(run_uid).is_some_and(is_old) {
            state.of.remove(run_uid);
        }
    }

    /// Publishes the turns of those of the `known` runs that wait. While it `is_quiet`, runs that go on
    /// waiting keep their places.
    pub fn publish(
        &self,
        new: Turns,
        known: HashSet<String>,
        is_quiet: bool,
        now: Timestamp,
    ) -> News {
        let mut state = self.state();
        let mut news = News::default();
        let waits = |turn: &Turn| matches!(turn.outlook, Outlook::Later(_));
        state.of.retain(|uid, _| new.of.contains_key(uid));
        state.looking.retain(|uid| known.contains(uid));
        state.settled.retain(|uid| known.contains(uid));
        for (uid, turn) in new.of {
            let shown = state.of.get(&uid);
            if shown.is_some_and(|shown| shown.stands_for(&turn, now)) {
                continue;
            }
            if is_quiet && waits(&turn) && shown.is_some_and(waits) {
                news.is_withheld = true;
                continue;
            }
            state.of.insert(uid.clone(), turn);
            news.woken.push(uid);
        }
        news.woken.extend(std::mem::take(&mut state.stirred));
        if std::mem::take(&mut state.all_stirred) {
            news.woken = known.iter().cloned().collect();
        }
        state.gone = new.gone;
        state.known = known;
        news
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before anything can panic.
        crate::lock(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use wasmbench_core::observed::{ObservedNode, ObservedRun, Standing};
    use wasmbench_core::queue::{Cluster, turns};

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    /// So many runs of ten minutes, which wait for one node. The first holds it, unless it is free.
    fn cluster(runs: u32, is_free: bool) -> Cluster {
        let run = |number: u32| ObservedRun {
            uid: number.to_string(),
            name: format!("team-a/run-{number:04}"),
            created: NOW + jiff::SignedDuration::from_secs(number.into()),
            standing: Standing::Active,
            demands: wasmbench_core::observed::Demands::default(),
            seconds: 600,
        };
        let lease = ObservedLease {
            node: "bench-1".into(),
            holder: (!is_free).then(|| "0".to_owned()),
            resource_version: None,
            scaled: None,
        };
        Cluster {
            runs: (0..runs).map(run).collect(),
            nodes: vec![ObservedNode {
                name: "bench-1".into(),
                ready: true,
                ..ObservedNode::default()
            }],
            leases: vec![lease],
            ..Cluster::default()
        }
    }

    fn publish(published: &PublishedTurns, cluster: &Cluster, is_quiet: bool) -> News {
        let known = cluster.runs.iter().map(|run| run.uid.clone()).collect();
        let mut news = published.publish(turns(cluster, NOW), known, is_quiet, NOW);
        news.woken.sort();
        news
    }

    #[test]
    fn a_release_wakes_the_next_run_and_few_others() {
        let (published, mut cluster) = (PublishedTurns::default(), cluster(1000, false));
        assert_eq!(publish(&published, &cluster, false).woken.len(), 999);
        assert_eq!(publish(&published, &cluster, false), News::default());
        cluster.runs.remove(0);
        cluster.leases[0].holder = None;
        let news = publish(&published, &cluster, false);
        assert!(news.woken.contains(&"1".to_owned()), "{:?}", news.woken);
        let woken = news.woken.len();
        assert!(woken < 50, "{woken} of 999 runs write their places");
    }

    #[test]
    fn in_a_window_places_wait_and_free_nodes_do_not() {
        let (published, mut cluster) = (PublishedTurns::default(), cluster(5, false));
        publish(&published, &cluster, false);
        cluster.runs.remove(2);
        let news = publish(&published, &cluster, true);
        assert_eq!((news.woken.len(), news.is_withheld), (0, true));
        let news = publish(&published, &cluster, false);
        assert_eq!((news.woken.len(), news.is_withheld), (2, false));
        cluster.runs.remove(0);
        cluster.leases[0].holder = None;
        assert_eq!(publish(&published, &cluster, true).woken, ["1"]);
    }

    #[test]
    fn a_run_that_takes_its_node_has_no_turn_any_more() {
        let (published, mut cluster) = (PublishedTurns::default(), cluster(1, true));
        publish(&published, &cluster, false);
        assert!(matches!(
            published.turn("0").unwrap().outlook,
            Outlook::Free(_)
        ));
        cluster.leases[0].holder = Some("0".into());
        assert_eq!(publish(&published, &cluster, false), News::default());
        assert_eq!(published.turn("0"), None);
        assert!(published.know("0"));
    }

    #[test]
    fn a_run_that_is_gone_is_forgotten() {
        let (published, mut cluster) = (PublishedTurns::default(), cluster(2, true));
        publish(&published, &cluster, false);
        published.look("1");
        published.settle("1");
        assert!(published.is_settled("1"));
        cluster.runs.pop();
        publish(&published, &cluster, false);
        assert!(!published.is_settled("1") && !published.know("1"));
    }

    #[test]
    fn a_run_that_is_in_the_way_of_another_one_is_woken_once_although_its_turn_is_the_same() {
        let (published, cluster) = (PublishedTurns::default(), cluster(3, true));
        publish(&published, &cluster, false);
        published.look("2");
        published.settle("2");
        published.stir("2");
        assert!(!published.is_settled("2"));
        assert_eq!(publish(&published, &cluster, true).woken, ["2"]);
        assert_eq!(publish(&published, &cluster, true), News::default());
        published.stir("0");
        let news = publish(&published, &cluster, true);
        assert_eq!(
            news,
            News::default(),
            "it may take a node, and looks anyway"
        );
    }

    #[test]
    fn all_runs_are_woken_once_after_they_were_listed_again() {
        let (published, cluster) = (PublishedTurns::default(), cluster(3, true));
        publish(&published, &cluster, false);
        published.stir_all();
        assert_eq!(publish(&published, &cluster, true).woken, ["0", "1", "2"]);
        assert_eq!(publish(&published, &cluster, true), News::default());
    }

    #[test]
    fn a_run_that_did_not_get_its_node_waits_until_the_queue_knows_why() {
        let (published, mut cluster) = (PublishedTurns::default(), cluster(1, true));
        let claim = cluster.leases[0].clone();
        publish(&published, &cluster, false);
        published.retract("0", "bench-1", None);
        assert!(published.turn("0").is_some(), "it was another claim");
        published.retract("0", "bench-1", Some(&claim));
        assert_eq!(published.turn("0"), None);
        cluster.leases[0].resource_version = Some("2".into());
        assert_eq!(publish(&published, &cluster, false).woken, ["0"]);
    }

    #[test]
    fn a_change_while_a_run_looks_is_not_overlooked() {
        let published = PublishedTurns::default();
        published.look("1");
        published.unsettle("1");
        published.settle("1");
        assert!(!published.is_settled("1"));
        published.look("1");
        published.settle("1");
        assert!(published.is_settled("1"));
        published.unsettle("1");
        assert!(!published.is_settled("1"));
    }
}
