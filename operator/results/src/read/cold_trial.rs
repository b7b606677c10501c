//! The numbers of one trial: a document in, times of its pods out.

use std::collections::BTreeMap;

use wasmbench_model::wire::cold_start::{
    Clock, ColdPod, ColdSample, ColdStartDocument, ColdStep, CompileCache,
};

use crate::read::node_use::{self, NodeUse};
use crate::statistics::{median, median_with_larger};

/// The steps that are compared. A pod that was given up before one of them counts as one that takes
/// longer than all others.
const COMPARED: [ColdStep; 2] = [ColdStep::Listening, ColdStep::FirstCorrectAnswer];

/// What a summary needs from one record of cold starts. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColdTrial {
    /// Pods of the samples that count.
    pub pods: u32,
    /// The number of samples that count.
    pub samples: u32,
    /// Samples that found the node in another state than the class requires.
    pub wrong_class_samples: u32,
    /// Samples that count but lack evidence of what every pod found on the node.
    pub unverified_samples: u32,
    /// Samples that count, by whether the runtime had kept a compiled form of their image.
    pub compiled_before: BTreeMap<CompileCache, u32>,
    /// How much earlier each first correct answer may have been possible, where this is known.
    pub answer_uncertainties: Vec<f64>,
    /// The largest drift of the wall clock from the monotonic clock in a sample that counts.
    pub clock_shift: f64,
    /// The use of the node while the pods of each sample that counts came up, where it was read.
    pub node: Vec<NodeUse>,
    /// Pods that answered correctly at the first attempt.
    pub first_attempt_answers: u32,
    /// Times from creation to each step, one for every pod with evidence of it.
    pub steps: BTreeMap<ColdStep, Vec<f64>>,
    /// Pods that were given up before they reached a step that is compared.
    pub given_up: BTreeMap<ColdStep, u32>,
    /// Samples that count in which a pod was late.
    pub late_samples: u32,
    /// What was seen of the first late pod.
    pub late_because: Option<String>,
    /// Where the evidence comes from.
    pub clocks: BTreeMap<ColdStep, Clock>,
    /// Time from the first creation to the last first answer of each sample without late pods.
    pub makespans: Vec<f64>,
    /// Times from creation to each step of the discarded pods.
    pub discarded: BTreeMap<ColdStep, Vec<f64>>,
    /// Times from creation to each step of the pods that did nothing but listen.
    pub floor: BTreeMap<ColdStep, Vec<f64>>,
    /// The number of pods that did nothing but listen.
    pub floor_pods: u32,
}

impl ColdTrial {
    /// Whether there are samples, including those of the wrong class.
    pub const fn is_measured(&self) -> bool {
        self.pods > 0 || self.wrong_class_samples > 0
    }

    /// Whether the trial has fewer samples than requested because others were of the wrong class.
    pub const fn lost_its_class(&self, requested: u32) -> bool {
        self.samples < requested && self.wrong_class_samples > 0
    }

    /// Median of the pods, from creation to `step`; `None` if pods that were given up before it
    /// leave it unknown.
    pub fn median(&self, step: ColdStep) -> Option<f64> {
        let reached = self.steps.get(&step)?.iter().copied();
        median_with_larger(reached, self.given_up_before(step))
    }

    /// Pods that were given up before they reached `step`, if it is compared.
    pub fn given_up_before(&self, step: ColdStep) -> usize {
        self.given_up.get(&step).map_or(0, |pods| *pods as usize)
    }

    /// Median of the time until all pods of a sample have answered; `None` if samples with late
    /// pods leave it unknown.
    pub fn makespan(&self) -> Option<f64> {
        let known = self.makespans.iter().copied();
        median_with_larger(known, self.late_samples as usize)
    }

    /// The same for the pods that did nothing but listen.
    pub fn floor_median(&self, step: ColdStep) -> Option<f64> {
        median(self.floor.get(&step)?.iter().copied())
    }

    /// The same for the discarded pods.
    pub fn discarded_median(&self, step: ColdStep) -> Option<f64> {
        median(self.discarded.get(&step)?.iter().copied())
    }
}

/// The numbers of a document.
pub fn from_document(document: &ColdStartDocument) -> ColdTrial {
    let mut trial = of_samples(&document.samples);
    trial.node = node_use::uses(document);
    for sample in &document.samples {
        // A sample of the wrong class shows nothing else.
        let shown = sample.pods.iter().filter(|_| !sample.wrong_class);
        for pod in shown {
            let steps = if sample.discarded {
                &mut trial.discarded
            } else {
                trial.pods += 1;
                trial.first_attempt_answers += u32::from(pod.attempts == 1);
                for step in given_up_before(pod) {
                    *trial.given_up.entry(step).or_default() += 1;
                }
                &mut trial.steps
            };
            for (step, moment) in &pod.steps {
                if let Some(time) = pod.since_create(*step) {
                    steps.entry(*step).or_default().push(time as f64 / 1e3);
                    trial.clocks.entry(*step).or_insert(moment.clock);
                }
            }
        }
        if sample.counts() {
            if let Some(found) = sample.compiled_before {
                *trial.compiled_before.entry(found).or_default() += 1;
            }
            trial.makespans.extend(makespan(sample));
        }
    }
    for pod in counted(&document.floor) {
        trial.floor_pods += 1;
        for step in pod.steps.keys() {
            if let Some(time) = pod.since_create(*step) {
                let times = trial.floor.entry(*step).or_default();
                times.push(time as f64 / 1e3);
            }
        }
    }
    trial
}

/// What is known about the samples, apart from the times of their pods.
fn of_samples(samples: &[ColdSample]) -> ColdTrial {
    let count = |is: fn(&ColdSample) -> bool| {
        let found = samples.iter().filter(|sample| is(sample)).count();
        u32::try_from(found).unwrap_or(u32::MAX)
    };
    let uncertainty = |pod: &ColdPod| {
        let answer = pod.steps.get(&ColdStep::FirstCorrectAnswer)?;
        Some(answer.uncertainty_nanoseconds? as f64 / 1e3)
    };
    let shifts = samples
        .iter()
        .filter(|sample| sample.counts())
        .map(|sample| sample.clock_shift_nanoseconds.unsigned_abs());
    let mut late = counted(samples).filter_map(|pod| pod.late.as_ref());
    ColdTrial {
        late_samples: count(|sample| sample.counts() && sample.late().next().is_some()),
        late_because: late.next().map(|late| late.failure.message.clone()),
        samples: count(ColdSample::counts),
        wrong_class_samples: count(|sample| sample.wrong_class),
        unverified_samples: count(|sample| sample.counts() && !sample.is_verified()),
        answer_uncertainties: counted(samples).filter_map(uncertainty).collect(),
        clock_shift: shifts.max().unwrap_or_default() as f64 / 1e3,
        ..ColdTrial::default()
    }
}

/// The compared steps that a late pod had not reached.
fn given_up_before(pod: &ColdPod) -> impl Iterator<Item = ColdStep> {
    let is_late = pod.late.is_some();
    let steps = COMPARED.into_iter().filter(move |_| is_late);
    steps.filter(|step| !pod.steps.contains_key(step))
}

/// The pods of the samples that count.
fn counted(samples: &[ColdSample]) -> impl Iterator<Item = &ColdPod> {
    let counted = samples.iter().filter(|sample| sample.counts());
    counted.flat_map(|sample| &sample.pods)
}

/// From the first creation to the last first answer; `None` unless every pod answered.
fn makespan(sample: &ColdSample) -> Option<f64> {
    let at = |pod: &ColdPod, step| pod.steps.get(&step).map(|moment| moment.nanoseconds);
    let pods = sample.pods.iter();
    let created: Option<Vec<i64>> = pods.map(|pod| at(pod, ColdStep::CreateSent)).collect();
    let pods = sample.pods.iter();
    let answered: Option<Vec<i64>> = pods
        .map(|pod| at(pod, ColdStep::FirstCorrectAnswer))
        .collect();
    let (first, last) = (created?.into_iter().min()?, answered?.into_iter().max()?);
    Some(last.saturating_sub(first) as f64 / 1e3)
}
