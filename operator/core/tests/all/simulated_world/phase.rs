//! What a plan says about its trial must be so: whoever follows a run reads its records only while
//! no probe is at work.

use wasmbench_api::status::TrialPhase;
use wasmbench_core::observed::{Observed, ObservedProbe, PodState};
use wasmbench_core::plan::{Plan, Stage, Step};

pub fn check(plan: &Plan, observed: &Observed) {
    let Stage::Measuring { trial, phase, .. } = &plan.stage else {
        return;
    };
    let probes = || observed.probes.iter().filter(|probe| probe.trial == *trial);
    let records = |step: &Step| {
        matches!(
            step,
            Step::CollectRecord { .. } | Step::RecordFailure { .. } | Step::RecordSkipped(_)
        )
    };
    let runs = |probe: &ObservedProbe| {
        let pod = probe.pod.as_ref().filter(|_| !probe.deleting);
        pod.is_some_and(|pod| pod.state == PodState::Running)
    };
    let is_so = match phase {
        TrialPhase::Recording => plan.steps.iter().any(records),
        TrialPhase::Measuring => plan.starts_probe() || probes().next().is_some(),
        // A probe may outlast its echo server, which is what the trial then waits for.
        TrialPhase::Preparing => {
            !plan.starts_probe()
                && (!probes().any(runs)
                    || observed.upstreams.iter().any(|pod| pod.deleting.is_some()))
        }
    };
    assert!(is_so, "{plan:?}");
}
