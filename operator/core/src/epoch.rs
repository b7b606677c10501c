//! Which operator a probe is of. A process may pause at any moment, and go on when another one leads: no
//! check of its own can rule out that a probe that it launches comes too late. So each probe carries the
//! epoch of the operator that launched it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use wasmbench_api::labels;

/// The API server gives creation times in whole seconds, rounded down, and its clock is known to the
/// second.
const CLOCK: SignedDuration = SignedDuration::from_secs(1);

/// The time during which one process leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    number: i32,
    /// A probe that was created before is certainly of an operator that still led then.
    since: Timestamp,
}

impl Epoch {
    /// The epoch that began when this Lease was taken; `None` if nobody holds it.
    pub fn from_lease(lease: &Lease) -> Option<Self> {
        let spec = lease.spec.as_ref()?;
        let taken = spec.acquire_time.as_ref()?.0;
        Some(Self {
            number: spec.lease_transitions?,
            since: taken.checked_sub(CLOCK).unwrap_or(Timestamp::MIN),
        })
    }

    /// The `job` of a probe that is launched in this epoch.
    pub fn launch(self, mut job: Job) -> Job {
        let template = job.spec.as_mut().map(|spec| &mut spec.template);
        let pod = template.map(|template| template.metadata.get_or_insert_default());
        for meta in [Some(&mut job.metadata), pod].into_iter().flatten() {
            let labels = meta.labels.get_or_insert_default();
            labels.insert(labels::EPOCH.to_owned(), self.number.to_string());
        }
        job
    }

    /// Whether a probe with these labels was launched by an earlier operator, after this epoch had
    /// begun.
    pub fn is_late(self, labels: &BTreeMap<String, String>, created: Timestamp) -> bool {
        let number: Option<i32> = labels.get(labels::EPOCH).and_then(|text| text.parse().ok());
        let since = self.since.as_second();
        number.is_none_or(|number| number < self.number) && created.as_second() >= since
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

    /// The epochs of two operators, of which the second takes over after so many seconds.
    fn epochs(seconds: i64) -> [Epoch; 2] {
        let counts = Duration::from_secs(20);
        let first = taken(None, "ops", "a", counts, after(0));
        let second = taken(Some(first.clone()), "ops", "b", counts, after(seconds));
        [first, second].map(|lease| Epoch::from_lease(&lease).unwrap())
    }

    fn labels_of(epoch: Epoch) -> BTreeMap<String, String> {
        epoch.launch(Job::default()).metadata.labels.unwrap()
    }

    #[test]
    fn a_probe_is_late_only_if_an_earlier_operator_launched_it_after_the_takeover() {
        let [first, second] = epochs(100);
        let (old, new) = (labels_of(first), labels_of(second));
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
        let [first, second] = epochs(100);
        assert!(second.is_late(&labels_of(first), after(99)));
    }

    #[test]
    fn a_job_and_its_pod_carry_the_epoch() {
        let [first, _] = epochs(100);
        let mut job = Job::default();
        job.spec.get_or_insert_default().template.metadata = Some(ObjectMeta::default());
        let job = first.launch(job);
        let pod = job.spec.unwrap().template.metadata.unwrap();
        assert_eq!(job.metadata.labels, pod.labels);
        assert_eq!(pod.labels.unwrap()[labels::EPOCH], "1");
    }
}
