//! The series that are shown, by uid, up to a bound over all runs. Encodes them on each scrape; reads
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use strum::IntoEnumIterator as _;

use super::family::{Family, Sample};
use super::last_runs::LastRuns;

/// The most series of all runs together: 50 runs with the most that one may have. They take 10 MB of memory, and a scrape
/// twice as much.
pub const MOST_SERIES_OF_ALL: usize = 10_000;

/// The series that are shown. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct Exported(Arc<Mutex<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    /// Runs that opt in, by uid.
    runs: BTreeMap<String, Vec<Sample>>,
    /// Schedules, by uid.
    schedules: BTreeMap<String, ShownSchedule>,
    /// Uids of runs for which there was no room.
    left_out: BTreeSet<String>,
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
        crate::lock(&self.0)
    }

    /// Whether the run is shown.
    pub fn has_run(&self, uid: &str) -> bool {
        self.shown().runs.contains_key(uid)
    }

    /// Shows a run that opts in. Returns whether there is room for it.
    pub fn show_run(&self, uid: &str, samples: Vec<Sample>) -> bool {
        let mut shown = self.shown();
        shown.runs.remove(uid);
        let fits = shown.makes_room(uid, &samples);
        if fits {
            shown.runs.insert(uid.to_owned(), samples);
        }
        fits
    }

    /// Stops showing the run.
    pub fn forget_run(&self, uid: &str) {
        let mut shown = self.shown();
        shown.runs.remove(uid);
        shown.left_out.remove(uid);
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

    /// Shows a run, or none, as the latest of a schedule that is shown. Returns whether there is
    /// room for it.
    pub fn show_latest(&self, schedule_uid: &str, latest: Option<(String, Vec<Sample>)>) -> bool {
        let mut shown = self.shown();
        if let Some(schedule) = shown.schedules.get_mut(schedule_uid) {
            schedule.latest = None;
        }
        let Some((uid, samples)) = latest else {
            return true;
        };
        let fits = shown.makes_room(&uid, &samples);
        if let Some(schedule) = shown.schedules.get_mut(schedule_uid).filter(|_| fits) {
            schedule.latest = Some((uid, samples));
        }
        fits
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
            shown.left_out.retain(|uid| known.contains(uid));
            for schedule in shown.schedules.values_mut() {
                let latest = schedule.latest.take();
                schedule.latest = latest.filter(|(uid, _)| known.contains(uid));
            }
        }
    }
}

impl Shown {
    /// Whether these samples of a run fit in with the others; notes it if they do not.
    fn makes_room(&mut self, uid: &str, samples: &[Sample]) -> bool {
        let latest = self
            .schedules
            .values()
            .filter_map(|one| one.latest.as_ref());
        let of_runs = self.runs.values().map(Vec::len);
        let shown: usize = of_runs
            .chain(latest.map(|(_, samples)| samples.len()))
            .sum();
        let fits = shown + samples.len() <= MOST_SERIES_OF_ALL;
        if fits {
            self.left_out.remove(uid);
        } else {
            self.left_out.insert(uid.to_owned());
        }
        fits
    }

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
        for family in Family::iter() {
            let (name, help) = (family.name(), family.help());
            let mut all = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for sample in shown.samples().filter(|sample| sample.family == family) {
                all.encode_family(&sample.labels)?
                    .encode_gauge(&sample.value)?;
            }
        }
        let help = "Runs that are not shown, because the series of all runs are too many.";
        let left_out = i64::try_from(shown.left_out.len()).unwrap_or(i64::MAX);
        encoder
            .encode_descriptor("runs_left_out", help, None, MetricType::Gauge)?
            .encode_gauge(&left_out)
    }
}
