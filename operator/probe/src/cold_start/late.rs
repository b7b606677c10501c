//! Whether late pods leave a trial anything to measure. Samples in, a reason to give up out. Pure.

use wasmbench_model::wire::cold_start::{ColdSample, ColdStartRequest};
use wasmbench_model::wire::failure::Failure;

/// Samples, the discarded one included, after which a trial without any pod in time is given up: a
/// service that never answers must not cost a timeout for every sample.
const FIRST: usize = 2;

/// Returns an error when so many pods were late that the trial has no median, or never will have.
pub fn give_up(samples: &[ColdSample], request: &ColdStartRequest) -> Result<(), Failure> {
    let counted = samples.iter().filter(|sample| !sample.discarded);
    let late = counted.clone().flat_map(ColdSample::late).count();
    let requested = request.samples as usize * request.concurrency as usize;
    let in_time = samples
        .iter()
        .any(|sample| sample.pods.iter().any(|pod| pod.late.is_none()));
    let is_over = 2 * late >= requested || (samples.len() >= FIRST && !in_time);
    let last = samples.iter().flat_map(ColdSample::late).last();
    match last {
        Some(last) if is_over => {
            let pods: usize = samples.iter().map(|sample| sample.pods.len()).sum();
            let all = samples.iter().flat_map(ColdSample::late).count();
            let (limit, cause) = (request.timeout_seconds, &last.failure.message);
            let message =
                format!("{all} of {pods} starts took longer than {limit} s; the last one: {cause}");
            Err(Failure::new(last.failure.reason.clone(), message))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wasmbench_model::wire::cold_start::{ColdPod, LateStart};

    use wasmbench_model::wire::failure::FailureReason;

    use super::*;

    fn request(samples: u32, concurrency: u32) -> ColdStartRequest {
        serde_json::from_value(json!({
            "pod": { "apiVersion": "v1", "kind": "Pod", "metadata": {} }, "selector": "", "path": "/",
            "samples": samples, "concurrency": concurrency, "timeoutSeconds": 30, "port": 1, "expect": {},
        }))
        .unwrap()
    }

    fn pod(is_late: bool) -> ColdPod {
        let failure = Failure {
            reason: FailureReason::NeverListened,
            message: "nothing was heard".into(),
        };
        let late = LateStart {
            waited_nanoseconds: 30_000_000_000,
            failure,
        };
        ColdPod {
            late: is_late.then_some(late),
            ..ColdPod::default()
        }
    }

    /// Samples, in each of which this many pods, the first ones, are late; the first sample is the
    /// discarded one.
    fn samples(late: &[u32], concurrency: u32) -> Vec<ColdSample> {
        let sample = |(number, late): (usize, &u32)| ColdSample {
            discarded: number == 0,
            pods: (0..concurrency).map(|index| pod(index < *late)).collect(),
            ..ColdSample::default()
        };
        late.iter().enumerate().map(sample).collect()
    }

    /// Whether a trial of this many samples of one pod goes on after these.
    fn goes_on(requested: u32, late: &[u32]) -> bool {
        give_up(&samples(late, 1), &request(requested, 1)).is_ok()
    }

    #[test]
    fn a_trial_goes_on_while_fewer_than_half_of_its_pods_are_late() {
        assert!(goes_on(20, &[1, 0]), "the discarded one may pull the image");
        assert!(goes_on(20, &[0, 1]));
        assert!(goes_on(6, &[0, 1, 1]));
        assert!(!goes_on(6, &[0, 1, 1, 0, 1]));
        assert!(!goes_on(1, &[0, 1]));
    }

    #[test]
    fn two_samples_without_any_answer_are_enough() {
        assert!(goes_on(20, &[1]));
        assert!(!goes_on(20, &[1, 1]));
        let some = samples(&[4, 3], 4);
        assert_eq!(give_up(&some, &request(20, 4)), Ok(()));
        let none = samples(&[4, 4], 4);
        let failure = give_up(&none, &request(20, 4)).unwrap_err();
        assert_eq!(failure.reason, FailureReason::NeverListened);
        assert!(
            failure
                .message
                .starts_with("8 of 8 starts took longer than 30 s; the last one: nothing")
        );
    }

    #[test]
    fn late_pods_are_counted_one_by_one() {
        // Eight pods: four are half.
        assert_eq!(give_up(&samples(&[0, 3], 4), &request(2, 4)), Ok(()));
        assert!(give_up(&samples(&[0, 3, 1], 4), &request(2, 4)).is_err());
    }
}
