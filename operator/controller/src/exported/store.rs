//! The series that are shown, by uid. Encodes them on each scrape; reads and decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;

use super::family::{Family, Sample};
use super::last_runs::LastRuns;

/// The series that are shown. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct Exported(Arc<Mutex<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    /// Runs that opt in, by uid.
    runs: BTreeMap<String, Vec<Sample>>,
    /// Schedules, by uid.
    schedules: BTreeMap<String, ShownSchedule>,
}

#[derive(Debug, Default)]
struct ShownSchedule {
    last: Option<LastRuns>,
    own: Vec<Sample>,
    /// The latest finished run, with its uid.
    latest: Option<(String, Vec<Sample>)>,
}

impl Exported {
    fn shown(&self) -> MutexGuard<'_, Shown> {
        // Each change is a single call on a map, so a panic under the lock leaves it consistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the run is shown.
    pub fn has_run(&self, uid: &str) -> bool {
        self.shown().runs.contains_key(uid)
    }

    /// Shows a run that opts in.
    pub fn show_run(&self, uid: &str, samples: Vec<Sample>) {
        self.shown().runs.insert(uid.to_owned(), samples);
    }

    /// Stops showing the run.
    pub fn forget_run(&self, uid: &str) {
        self.shown().runs.remove(uid);
    }

    /// What is known about the last runs of a schedule.
    pub fn last_runs(&self, schedule_uid: &str) -> Option<LastRuns> {
        self.shown().schedules.get(schedule_uid)?.last
    }

    /// Shows a schedule, and keeps what is known of its last runs.
    pub fn show_schedule(&self, uid: &str, last: Option<LastRuns>, own: Vec<Sample>) {
        let mut shown = self.shown();
        let schedule = shown.schedules.entry(uid.to_owned()).or_default();
        schedule.last = last;
        schedule.own = own;
    }

    /// Whether this run is shown as the schedule's latest.
    pub fn has_latest(&self, schedule_uid: &str, run_uid: &str) -> bool {
        let shown = self.shown();
        let schedule = shown.schedules.get(schedule_uid);
        let latest = schedule.and_then(|schedule| schedule.latest.as_ref());
        latest.is_some_and(|(uid, _)| uid == run_uid)
    }

    /// Shows a run, or none, as the latest of a schedule that is shown.
    pub fn show_latest(&self, schedule_uid: &str, latest: Option<(String, Vec<Sample>)>) {
        if let Some(schedule) = self.shown().schedules.get_mut(schedule_uid) {
            schedule.latest = latest;
        }
    }

    /// Forgets everything except these uids. `None` means that they are not known yet, and forgets
    /// nothing.
    pub fn keep_only(&self, runs: Option<&BTreeSet<String>>, schedules: Option<&BTreeSet<String>>) {
        let mut shown = self.shown();
        if let Some(known) = schedules {
            shown.schedules.retain(|uid, _| known.contains(uid));
        }
        if let Some(known) = runs {
            shown.runs.retain(|uid, _| known.contains(uid));
            for schedule in shown.schedules.values_mut() {
                let latest = schedule.latest.take();
                schedule.latest = latest.filter(|(uid, _)| known.contains(uid));
            }
        }
    }
}

impl Shown {
    fn samples(&self) -> impl Iterator<Item = &Sample> {
        let schedules = self.schedules.values().flat_map(ShownSchedule::samples);
        schedules.chain(self.runs.values().flatten())
    }
}

impl ShownSchedule {
    fn samples(&self) -> impl Iterator<Item = &Sample> {
        let latest = self.latest.iter().flat_map(|(_, samples)| samples);
        self.own.iter().chain(latest)
    }
}

impl Collector for Exported {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let shown = self.shown();
        for family in Family::ALL {
            let (name, help) = (family.name(), family.help());
            let mut all = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for sample in shown.samples().filter(|sample| sample.family == family) {
                all.encode_family(&sample.labels)?
                    .encode_gauge(&sample.value)?;
            }
        }
        Ok(())
    }
}
