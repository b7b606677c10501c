//! Which operator a probe is of. A process may pause at any moment, and go on when another one leads: no
//! check of its own can rule out that a probe that it launches comes too late. So each probe carries the
//! epoch of the operator that launched it.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use wasmbench_api::labels;

use crate::build::leader;

/// The API server gives creation times in whole seconds, rounded down, and its clock is known to the
/// second.
const CLOCK: SignedDuration = SignedDuration::from_secs(1);

/// The time during which one process leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    number: i32,
    /// When this epoch and the last ones before it began.
    begins: BTreeMap<i32, Timestamp>,
}

impl Epoch {
    /// The epoch that began when this Lease was taken; `None` if nobody holds it.
    pub fn from_lease(lease: &Lease) -> Option<Self> {
        let spec = lease.spec.as_ref()?;
        let (number, taken) = (spec.lease_transitions?, spec.acquire_time.as_ref()?.0);
        let mut begins = leader::begins(lease);
        begins.insert(number, taken);
        Some(Self { number, begins })
    }

    /// The `job` of a probe that is launched in this epoch.
    pub fn launch(&self, mut job: Job) -> Job {
        let template = job.spec.as_mut().map(|spec| &mut spec.template);
        let pod = template.map(|template| template.metadata.get_or_insert_default());
        for meta in [Some(&mut job.metadata), pod].into_iter().flatten() {
            let labels = meta.labels.get_or_insert_default();
            labels.insert(labels::EPOCH.to_owned(), self.number.to_string());
        }
        job
    }

    /// Whether a probe with these labels was launched by an earlier operator, after the next one had taken
    /// over from it: as far back as that is known.
    pub fn is_late(&self, labels: &BTreeMap<String, String>, created: Timestamp) -> bool {
        let number: Option<i32> = labels.get(labels::EPOCH).and_then(|text| text.parse().ok());
        let later = (Excluded(number.unwrap_or(i32::MIN)), Unbounded);
        let ended = self.begins.range(later).next().map(|(_, begin)| *begin);
        ended.is_some_and(|ended| {
            // A probe that was created before is certainly of an operator that still led then.
            let since = ended.checked_sub(CLOCK).unwrap_or(Timestamp::MIN);
            created.as_second() >= since.as_second()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    use super::*;
    use crate::build::leader::taken;

    fn after(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// The epochs of three operators, of which the others take over after so many seconds.
    fn epochs(second: i64, third: i64) -> [Epoch; 3] {
        let counts = Duration::from_secs(20);
        let first = taken(None, "ops", "a", counts, after(0));
        let second = taken(Some(first.clone()), "ops", "b", counts, after(second));
        let third = taken(Some(second.clone()), "ops", "c", counts, after(third));
        [first, second, third].map(|lease| Epoch::from_lease(&lease).unwrap())
    }

    fn labels_of(epoch: &Epoch) -> BTreeMap<String, String> {
        epoch.launch(Job::default()).metadata.labels.unwrap()
    }

    #[test]
    fn a_probe_is_late_only_if_an_earlier_operator_launched_it_after_the_takeover() {
        let [first, second, _] = epochs(100, 200);
        let (old, new) = (labels_of(&first), labels_of(&second));
        assert!(!second.is_late(&old, after(98)), "it goes on");
        assert!(second.is_late(&old, after(101)));
        assert!(!second.is_late(&new, after(101)));
        assert!(!first.is_late(&old, after(50)));
        // As long as the paused operator knows no better, nothing of its successor is late.
        assert!(!first.is_late(&new, after(101)));
        assert!(
            second.is_late(&BTreeMap::new(), after(101)),
            "of no operator"
        );
    }

    #[test]
    fn a_probe_created_in_the_second_of_the_takeover_is_late() {
        let [first, second, _] = epochs(100, 200);
        assert!(second.is_late(&labels_of(&first), after(99)));
    }

    #[test]
    fn a_late_probe_stays_late_when_yet_another_operator_takes_over() {
        let [first, second, third] = epochs(100, 105);
        let (oldest, old) = (labels_of(&first), labels_of(&second));
        assert!(!third.is_late(&oldest, after(98)), "it goes on");
        assert!(third.is_late(&oldest, after(101)));
        assert!(!third.is_late(&old, after(101)), "it goes on");
        assert!(third.is_late(&old, after(105)));
    }

    #[test]
    fn a_job_and_its_pod_carry_the_epoch() {
        let [first, ..] = epochs(100, 200);
        let mut job = Job::default();
        job.spec.get_or_insert_default().template.metadata = Some(ObjectMeta::default());
        let job = first.launch(job);
        let pod = job.spec.unwrap().template.metadata.unwrap();
        assert_eq!(job.metadata.labels, pod.labels);
        assert_eq!(pod.labels.unwrap()[labels::EPOCH], "1");
    }
}
