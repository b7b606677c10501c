//! The moments of one pod's start. Observations in, a timeline out ([`observed`]: those of the API). Pure.

mod observed;

use std::net::IpAddr;

use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_model::wire::cold_start::{Clock, ColdPod, ColdStep, ImagePull, LateStart, Moment};
use wasmbench_model::wire::failure::Failure;

use crate::action::Initialised;

/// One pod's timeline while it is assembled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The zero of the sample, on the wall clock.
    start: i64,
    address: Option<IpAddr>,
    /// When the last refused attempt began, on the wall clock.
    refused: Option<i64>,
    /// Whether it is a function in a shared pod, which has no `Ready` condition of its own.
    is_function: bool,
    /// Whether somebody else makes the pod: it has started once all its containers have.
    is_foreign: bool,
    pod: ColdPod,
}

impl Timeline {
    /// An empty timeline in a sample that began at `start`.
    pub fn new(name: String, start: i64) -> Self {
        let pod = ColdPod {
            pod: name,
            ..ColdPod::default()
        };
        Self {
            start,
            address: None,
            refused: None,
            is_function: false,
            is_foreign: false,
            pod,
        }
    }

    /// An empty timeline of a function in a shared pod.
    pub fn of_function(name: String, start: i64) -> Self {
        Self {
            is_function: true,
            ..Self::new(name, start)
        }
    }

    /// An empty timeline of a pod that somebody else makes.
    pub fn of_foreign(name: String, start: i64) -> Self {
        Self {
            is_foreign: true,
            ..Self::new(name, start)
        }
    }

    /// Notes the pod that hosts a function, whose start begins at `at`.
    pub fn hosted_by(&mut self, host: &Self, at: i64) {
        self.address = host.address;
        self.pod.image_id.clone_from(&host.pod.image_id);
        self.did(ColdStep::CreateSent, at);
    }

    /// Notes when a function's code was sent, and when it was ready.
    pub fn initialised(&mut self, initialised: Initialised) {
        self.did(ColdStep::InitSent, initialised.sent);
        self.did(ColdStep::Listening, initialised.answered);
    }

    /// Name of the pod.
    pub fn name(&self) -> &str {
        &self.pod.pod
    }

    /// Notes the pod that somebody else has made for this timeline.
    pub fn rename(&mut self, name: String) {
        self.pod.pod = name;
    }

    /// Notes that a step was reached; the first note of a step counts.
    pub fn reach(&mut self, step: ColdStep, at: i64, clock: Clock, uncertainty: Option<u64>) {
        let moment = Moment {
            nanoseconds: at.saturating_sub(self.start),
            clock,
            uncertainty_nanoseconds: uncertainty,
        };
        self.pod.steps.entry(step).or_insert(moment);
    }

    /// Notes what the probe did itself.
    pub fn did(&mut self, step: ColdStep, at: i64) {
        self.reach(step, at, Clock::Probe, Some(0));
    }

    /// Notes that the API server confirmed the pod at `at`, some time after the request was `sent`.
    pub fn accepted(&mut self, sent: i64, at: i64) {
        self.did(ColdStep::CreateSent, sent);
        let since = u64::try_from(at.saturating_sub(sent)).ok();
        self.reach(ColdStep::CreateAccepted, at, Clock::Probe, since);
    }

    /// Notes the first correct answer.
    pub fn answered(&mut self, at: i64, gap: Option<u64>, attempts: u32) {
        self.reach(ColdStep::FirstCorrectAnswer, at, Clock::Probe, gap);
        self.pod.attempts = attempts;
    }

    /// Notes that the pod is not waited for any more, and what was observed last. The first note
    /// counts: whoever polled the pod has the best account.
    pub fn gave_up(&mut self, at: i64, failure: Failure) {
        let created = self.at(ColdStep::CreateSent).unwrap_or_default();
        let waited = at.saturating_sub(self.start).saturating_sub(created);
        self.pod.late.get_or_insert(LateStart {
            waited_nanoseconds: u64::try_from(waited).unwrap_or_default(),
            failure,
        });
    }

    /// Why the pod was given up, if it was.
    pub fn late(&self) -> Option<&Failure> {
        Some(&self.pod.late.as_ref()?.failure)
    }

    /// Notes when a refused attempt to connect began: nothing listened then.
    pub fn refused(&mut self, at: i64) {
        self.refused = Some(at);
    }

    /// Notes the timestamp of the line that reports that the service listens. The service listened
    /// when it answered, and did not when it refused a connection: a timestamp that contradicts
    /// this is about something else. Only a named line may be late, because containerd stamps a
    /// line when it reads it, which a busy node delays; the answer is then the earlier evidence.
    pub fn listens(&mut self, at: i64, named: bool) {
        let answered = self
            .pod
            .steps
            .get(&ColdStep::FirstCorrectAnswer)
            .map_or(i64::MAX, |answer| {
                self.start.saturating_add(answer.nanoseconds)
            });
        let is_late = at > answered;
        if is_late && !named || self.refused.is_some_and(|refused| refused > at) {
            return;
        }
        let (at, clock) = if is_late {
            (answered, Clock::Probe)
        } else {
            (at, Clock::LogStamp)
        };
        let refused = self.refused;
        let uncertainty =
            refused.and_then(|refused| u64::try_from(at.saturating_sub(refused)).ok());
        self.reach(ColdStep::Listening, at, clock, uncertainty);
    }

    /// Whether all steps that a start waits for are there.
    pub fn is_up(&self) -> bool {
        self.has_answered()
            && (self.is_function || self.pod.steps.contains_key(&ColdStep::ReadyPublished))
    }

    /// Whether the pod has answered correctly.
    pub fn has_answered(&self) -> bool {
        self.pod.steps.contains_key(&ColdStep::FirstCorrectAnswer)
    }

    /// The pod's address, once the API has reported it.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// When a step was reached, in nanoseconds since the zero of the timeline.
    pub fn at(&self, step: ColdStep) -> Option<i64> {
        Some(self.pod.steps.get(&step)?.nanoseconds)
    }

    /// The image as it was resolved.
    pub fn image_id(&self) -> Option<&str> {
        self.pod.image_id.as_deref()
    }

    /// Whether the pod's creation was requested and its end not seen.
    pub fn may_exist(&self) -> bool {
        let steps = &self.pod.steps;
        steps.contains_key(&ColdStep::CreateSent)
            && !steps.contains_key(&ColdStep::DeletionFinished)
    }

    /// Notes what the node already had when the pod was created.
    pub fn found(&mut self, class: ColdStartClass) {
        self.pod.class = Some(class);
    }

    /// Notes a pull: what the kubelet reported, when containerd had the image, and when it recorded
    /// the container that was made from it.
    ///
    /// The kubelet reports how long it waited for the runtime. That wait ended after the image was
    /// complete and before the container was recorded, which bounds its beginning, too.
    pub fn pulled(&mut self, pull: Option<ImagePull>, image: Option<i64>, container: Option<i64>) {
        self.pod.pull = pull;
        let Some(image) = image else {
            return;
        };
        self.reach(ColdStep::ImagePulled, image, Clock::ContainerdEvent, None);
        let known = container.filter(|known| *known >= image);
        let (Some(pull), Some(known)) = (pull, known) else {
            return;
        };
        let nanoseconds = |milliseconds: u64| {
            let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
            milliseconds.saturating_mul(1_000_000)
        };
        // The kubelet truncates to whole milliseconds.
        let longest = nanoseconds(pull.milliseconds.saturating_add(1));
        let latest = known.saturating_sub(nanoseconds(pull.milliseconds));
        let (earliest, latest) = (image.saturating_sub(longest), latest.min(image));
        let uncertainty = u64::try_from(latest.saturating_sub(earliest)).ok();
        let (step, clock) = (ColdStep::ImagePullStarted, Clock::KubeletDuration);
        self.reach(step, latest, clock, uncertainty);
    }

    /// The timeline as it is now.
    pub const fn pod(&self) -> &ColdPod {
        &self.pod
    }

    /// The timeline as it is stored.
    pub fn finish(self) -> ColdPod {
        self.pod
    }
}

#[cfg(test)]
mod tests;
