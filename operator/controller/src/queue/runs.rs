//! Runs, as far as turns depend on them.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use kube::runtime::watcher::Event;
use wasmbench_api::BenchmarkRun;
use wasmbench_core::admit::{admit, expected_seconds};
use wasmbench_core::demands::{RuntimeClassLabels, TemplateLabels, demands, with_templates};
use wasmbench_core::lifetime::recorded_node;
use wasmbench_core::observed::{Demands, ObservedRun, Standing};

use crate::context::{Context, GuardedRun, meta_of};

/// After so many runs that are new, other tasks have a turn: to check a run takes a moment.
const NEW_AT_ONCE: usize = 20;

/// What does not change about runs.
#[derive(Default)]
pub struct Runs {
    classes: RuntimeClassLabels,
    by_uid: HashMap<String, Known>,
}

struct Known {
    generation: Option<i64>,
    /// The node that its records come from.
    node: Option<String>,
    /// Which nodes the objects demand that it scales.
    templates: Option<TemplateLabels>,
    /// `None` for a run that is about to be refused: it waits for nothing.
    admitted: Option<Admitted>,
}

#[derive(Clone)]
struct Admitted {
    demands: Demands,
    /// How long all of it takes.
    seconds: u64,
}

impl Runs {
    /// All runs that may wait for a node or hold one. These uids hold one.
    pub async fn list(
        &mut self,
        context: &Context,
        classes: RuntimeClassLabels,
        holders: &HashSet<&str>,
    ) -> Vec<ObservedRun> {
        if self.classes != classes {
            self.by_uid.clear();
            self.classes = classes;
        }
        let (mut found, mut checked) = (vec![], 0);
        let mut there = HashSet::new();
        for run in context.known_runs() {
            let Ok(run) = &run.0 else { continue };
            let Some(uid) = run.metadata.uid.clone() else {
                continue;
            };
            if !may_measure(context, run, &uid) {
                continue;
            }
            let scales = run.spec.variants.iter().any(|one| one.scale.is_some());
            let templates = context.templates(&uid).filter(|_| scales);
            let is_holder = holders.contains(uid.as_str());
            if scales && templates.is_none() && !is_holder {
                // Its reconcile reads them, and says so.
                continue;
            }
            if !self.is_known(run, &uid, templates.as_ref()) {
                self.check(context, run, &uid, templates);
                checked += 1;
                if checked % NEW_AT_ONCE == 0 {
                    tokio::task::yield_now().await;
                }
            }
            found.extend(self.observed(context, run, &uid, is_holder));
            there.insert(uid);
        }
        self.by_uid.retain(|uid, _| there.contains(uid));
        found
    }

    fn is_known(&self, run: &BenchmarkRun, uid: &str, templates: Option<&TemplateLabels>) -> bool {
        let known = self.by_uid.get(uid);
        known.is_some_and(|known| {
            known.generation == run.metadata.generation
                && known.node == recorded_node(run)
                && known.templates.as_ref() == templates
        })
    }

    fn check(
        &mut self,
        context: &Context,
        run: &BenchmarkRun,
        uid: &str,
        templates: Option<TemplateLabels>,
    ) {
        let node = recorded_node(run);
        let config = &context.config;
        let without = TemplateLabels::default();
        let admitted = admit(run, config).ok().map(|valid| {
            let demands = demands(&run.spec, config, &self.classes, node.clone());
            Admitted {
                demands: with_templates(demands, templates.as_ref().unwrap_or(&without)),
                seconds: expected_seconds(&valid),
            }
        });
        let known = Known {
            generation: run.metadata.generation,
            node,
            templates,
            admitted,
        };
        self.by_uid.insert(uid.to_owned(), known);
    }

    fn observed(
        &self,
        context: &Context,
        run: &BenchmarkRun,
        uid: &str,
        is_holder: bool,
    ) -> Option<ObservedRun> {
        let Admitted { demands, seconds } = self.by_uid.get(uid)?.admitted.clone()?;
        let meta = &run.metadata;
        let is_stopped = run.spec.suspend || context.backoff.is_lasting(uid);
        Some(ObservedRun {
            uid: uid.to_owned(),
            name: format!("{}/{}", meta.namespace.as_deref()?, meta.name.as_deref()?),
            created: meta.creation_timestamp.as_ref()?.0,
            standing: if is_stopped {
                Standing::Suspended
            } else {
                Standing::Active
            },
            demands,
            seconds: if is_holder {
                seconds_left(run, seconds, context.clock.now())
            } else {
                of_missing_trials(run, seconds)
            },
        })
    }
}

/// Whether the run is neither finished nor being deleted, and has not released its node.
fn may_measure(context: &Context, run: &BenchmarkRun, uid: &str) -> bool {
    let is_over = run.is_finished() || run.metadata.deletion_timestamp.is_some();
    !is_over && !context.has_left_queue(uid)
}

/// For how many more seconds a run will probably hold its node, if all of it takes `whole`.
fn seconds_left(run: &BenchmarkRun, whole: u64, now: Timestamp) -> u64 {
    let status = run.status.as_ref();
    let progress = status.and_then(|status| status.progress.as_ref());
    let end = progress.and_then(|progress| progress.estimated_completion_time.as_ref());
    // While it waits for its first trial, this is still the end that the queue expected.
    let end = end.filter(|_| progress.is_some_and(|progress| progress.trial.is_some()));
    let left = end.map(|end| end.0.duration_since(now).as_secs());
    left.map_or_else(
        || of_missing_trials(run, whole),
        |left| u64::try_from(left).unwrap_or_default(),
    )
}

/// How many seconds the trials without a record take, if all take `whole`.
fn of_missing_trials(run: &BenchmarkRun, whole: u64) -> u64 {
    let status = run.status.as_ref();
    let progress = status.and_then(|status| status.progress.as_ref());
    let (completed, total) = progress.map_or((0, 0), |progress| {
        (progress.completed_trials, progress.total_trials)
    });
    let missing = u64::from(total.saturating_sub(completed));
    let share = whole.saturating_mul(missing).checked_div(total.into());
    share.unwrap_or(whole)
}

/// What an event of a run may change about turns.
#[derive(PartialEq, Eq)]
struct Relevant {
    generation: Option<i64>,
    is_over: bool,
    node: Option<String>,
}

/// Notes for each event of a run whether turns may have changed: most are the operator's own writes.
pub fn changes() -> impl FnMut(&Context, &Event<GuardedRun>) + Send + 'static {
    let mut known: HashMap<String, Relevant> = HashMap::new();
    let mut is_listed = false;
    move |context: &Context, event: &Event<GuardedRun>| {
        let has_changed = match event {
            Event::Apply(run) => {
                let uid = meta_of(run).uid.clone().unwrap_or_default();
                let relevant = relevant(run);
                let earlier = known.get(&uid);
                let is_new = earlier != Some(&relevant);
                known.insert(uid, relevant);
                is_new
            }
            Event::Delete(run) => {
                known.remove(meta_of(run).uid.as_deref().unwrap_or_default());
                true
            }
            Event::InitDone => {
                known.clear();
                if std::mem::replace(&mut is_listed, true) {
                    context.turns.stir_all();
                }
                true
            }
            Event::Init | Event::InitApply(_) => false,
        };
        if has_changed {
            context.turns.have_changed();
        }
    }
}

fn relevant(run: &GuardedRun) -> Relevant {
    let meta = meta_of(run);
    let decoded = run.0.as_ref().ok();
    Relevant {
        generation: meta.generation,
        is_over: meta.deletion_timestamp.is_some() || decoded.is_none_or(BenchmarkRun::is_finished),
        node: decoded.and_then(recorded_node),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn run(progress: &Value) -> BenchmarkRun {
        serde_json::from_value(json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": { "name": "a", "namespace": "team-a", "uid": "1", "generation": 1 },
            "spec": { "variants": [], "workloads": [], "sweeps": {} },
            "status": { "node": { "name": "bench-1" }, "progress": progress },
        }))
        .unwrap()
    }

    fn progress(completed: u32, trial: Option<&str>) -> Value {
        json!({
            "completedTrials": completed, "totalTrials": 10, "text": "", "message": "",
            "trial": trial, "estimatedCompletionTime": "1970-01-01T00:05:00Z",
        })
    }

    #[test]
    fn a_run_that_was_interrupted_takes_the_rest_of_its_time() {
        assert_eq!(of_missing_trials(&run(&progress(0, None)), 600), 600);
        assert_eq!(of_missing_trials(&run(&progress(9, None)), 600), 60);
        let new = BenchmarkRun {
            status: None,
            ..run(&progress(0, None))
        };
        assert_eq!(of_missing_trials(&new, 600), 600);
    }

    #[test]
    fn a_run_that_measures_holds_its_node_until_its_estimated_end() {
        let now = Timestamp::UNIX_EPOCH;
        let measuring = run(&progress(5, Some("a/b/warm/b1")));
        assert_eq!(seconds_left(&measuring, 600, now), 300);
        let late = now + jiff::SignedDuration::from_mins(9);
        assert_eq!(seconds_left(&measuring, 600, late), 0);
        assert_eq!(seconds_left(&run(&progress(5, None)), 600, now), 300);
    }

    #[test]
    fn only_what_turns_depend_on_is_a_change() {
        let guarded = |run: BenchmarkRun| kube::core::DeserializeGuard(Ok(run));
        let first = run(&progress(0, None));
        let trial = run(&progress(0, Some("a/b/warm/b1")));
        assert!(relevant(&guarded(first.clone())) == relevant(&guarded(trial)));
        let recorded = run(&progress(1, None));
        assert!(relevant(&guarded(first.clone())) != relevant(&guarded(recorded)));
        let mut suspended = first.clone();
        suspended.metadata.generation = Some(2);
        assert!(relevant(&guarded(first)) != relevant(&guarded(suspended)));
    }
}
