//! A run of cold starts whose steps are known.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRun;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_model::wire::cold_start::{
    COLD_START_SCHEMA, Clock, ColdPod, ColdSample, ColdStartDocument, ColdStep, Moment,
};
use wasmbench_model::wire::document::{Answer, Environment};
use wasmbench_model::wire::record::{
    Cell, Outcome, Point, RECORD_SCHEMA, Record, SubjectFacts, TrialId,
};
use wasmbench_results::summary::collect::RunInput;

const RUN: &str = r"
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: thaw, namespace: team-a, uid: 6f0c0e6e-0000-4000-8000-000000000001}
spec:
  blocks: 5
  seed: 7
  noiseFloor: false
  variants: [{name: tortoise, preset: native}, {name: hare, preset: wasmtime-embedded}]
  workloads: [{name: greet, expect: {sameAcrossVariants: true}}]
  sweeps: {coldStart: {samples: 3, concurrency: [1, 4]}}
";

const STEPS: [(ColdStep, i64, Clock); 8] = [
    (ColdStep::CreateSent, 0, Clock::Probe),
    (ColdStep::CreateAccepted, 5, Clock::Probe),
    (ColdStep::Scheduled, 9, Clock::WatchArrival),
    (ColdStep::SandboxReady, 180, Clock::WatchArrival),
    (ColdStep::Listening, 300, Clock::LogStamp),
    (ColdStep::ReadyPublished, 320, Clock::WatchArrival),
    (ColdStep::FirstCorrectAnswer, 321, Clock::Probe),
    (ColdStep::DeletionFinished, 2000, Clock::WatchArrival),
];

pub fn run() -> BenchmarkRun {
    serde_yaml::from_str(RUN).unwrap()
}

pub fn input() -> RunInput {
    RunInput::new(&run(), 7)
}

/// A pod whose steps take `factor` times as long as in the table, and from listening on `extra`
/// milliseconds more.
pub fn pod(factor: f64, extra: f64) -> ColdPod {
    let moment = |&(step, milliseconds, clock): &(ColdStep, i64, Clock)| {
        let late = if step >= ColdStep::Listening {
            extra
        } else {
            0.0
        };
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
        let nanoseconds = ((milliseconds as f64 * factor + late) * 1e6) as i64;
        let uncertainty_nanoseconds = None;
        let moment = Moment {
            nanoseconds,
            clock,
            uncertainty_nanoseconds,
        };
        (step, moment)
    };
    ColdPod {
        pod: "p".into(),
        image_id: Some("sha256:1".into()),
        template: None,
        class: Some(ColdStartClass::ImageCached),
        pull: None,
        steps: STEPS.iter().map(moment).collect(),
        attempts: 12,
        api_stamps: BTreeMap::new(),
        late: None,
    }
}

/// A sample of pods that only listen, in half the time of the table.
pub fn floor(discarded: bool, concurrency: u32) -> ColdSample {
    let late = if discarded { 500.0 } else { 0.0 };
    ColdSample {
        discarded,
        start_unix_nanoseconds: 1_767_607_218_000_000_000,
        clock_shift_nanoseconds: 100,
        pods: (0..concurrency).map(|_| pod(0.5, late)).collect(),
        ..ColdSample::default()
    }
}

pub fn document(trial: &TrialId) -> ColdStartDocument {
    let Point::ColdStart { concurrency } = trial.cell.point else {
        panic!("not a cold start")
    };
    let factor = if trial.cell.variant == "hare" {
        1.5
    } else {
        1.0
    };
    let factor = factor * (1.0 + f64::from(trial.block) / 100.0);
    let sample = |number: u32| ColdSample {
        discarded: number == 0,
        start_unix_nanoseconds: 1_767_607_218_000_000_000,
        clock_shift_nanoseconds: 100,
        pods: (0..concurrency)
            .map(|index| {
                let first = if number == 0 { 500.0 } else { 0.0 };
                pod(factor, f64::from(index * 20 + number) + first)
            })
            .collect(),
        ..ColdSample::default()
    };
    ColdStartDocument {
        schema: COLD_START_SCHEMA.into(),
        probe_version: "0.1.0".into(),
        samples: (0..=3).map(sample).collect(),
        floor: if trial.cell.variant == "tortoise" {
            vec![floor(true, concurrency), floor(false, concurrency)]
        } else {
            vec![]
        },
        answer: Some(Answer {
            status: 200,
            body_bytes: 5,
            body_sha256: "aa".repeat(32),
            json_sha256: None,
            excerpt: "hello".into(),
        }),
        environment: Environment {
            facts: BTreeMap::from([("kernel".into(), "6.1".into())]),
            ..Environment::default()
        },
        ..ColdStartDocument::default()
    }
}

pub fn record(trial: TrialId, position: u32) -> Record {
    Record {
        schema: RECORD_SCHEMA.into(),
        run_uid: "6f0c0e6e-0000-4000-8000-000000000001".into(),
        position,
        outcome: Outcome::Measured,
        operator_version: "0.1.0".into(),
        recorded_at: jiff::Timestamp::from_second(1_767_607_230 + 30 * i64::from(position))
            .unwrap(),
        subject: Some(SubjectFacts {
            pod: "p".into(),
            node: "bench-1".into(),
            image: format!("wasmbench/{}:0.1.0", trial.cell.variant),
            ..SubjectFacts::default()
        }),
        evidence: Some(document(&trial).into()),
        trial,
    }
}

pub fn records() -> Vec<Record> {
    let mut records = vec![];
    for block in 1..=5 {
        for variant in ["tortoise", "hare"] {
            for concurrency in [1, 4] {
                let cell = Cell {
                    variant: variant.into(),
                    workload: "greet".into(),
                    point: Point::ColdStart { concurrency },
                };
                let position = u32::try_from(records.len()).unwrap();
                records.push(record(TrialId { cell, block }, position));
            }
        }
    }
    records
}

/// The documents of the trials of `hare` with one pod at once, for modification.
pub fn hares(records: &mut [Record]) -> impl Iterator<Item = &mut ColdStartDocument> {
    let of_hare = |record: &&mut Record| {
        record.trial.cell.variant == "hare"
            && record.trial.cell.point == Point::ColdStart { concurrency: 1 }
    };
    let hares = records.iter_mut().filter(of_hare);
    hares.map(|record| record.cold_start_mut().unwrap())
}
