//! The course of a duet: as that of a single trial, with two subjects. Everything that takes CPU time
//! happens to both at the same moment, each on its side of the CPUs.

use std::thread;
use std::time::{Duration, Instant};

use wasmbench_core::duet::LEAST_OVERLAP;
use wasmbench_core::wire::document::{
    Answer, Duet, LoadDocument, ProbeFailure, ProbeFailureReason,
};
use wasmbench_core::wire::request::{DuetRequest, LoadRequest};

use super::sides::{Divided, divide, not_pinned};
use super::together::{self, Failed};
use super::{Amounts, Bench, PATIENCE, amounts, ceiling, window};
use super::{bench, empty_document, failure, note_warm_up, target, unchanged, useful, wait};
use crate::output::progress;
use crate::ready::Question;
use crate::settings::Settings;
use crate::target::Target;
use crate::{cpus, engine, pin};

/// What is asked of one half.
struct Half<'a> {
    question: Question<'a>,
    pod_uid: &'a str,
    engine_path: Option<&'a str>,
}

/// Measures a duet: the variant into `document`, the baseline into that of its `duet`.
pub fn measure(
    settings: &Settings,
    request: &LoadRequest,
    duet: &DuetRequest,
    document: &mut LoadDocument,
) -> Result<(), ProbeFailure> {
    let targets = [
        target(request.address, request.port, &request.path)?,
        target(duet.address, duet.port, &request.path)?,
    ];
    let mut told = Duet {
        cpus: None,
        overlap: None,
        baseline: empty_document(),
    };
    let measured = course(settings, request, (duet, &targets), document, &mut told);
    let result = measured.map_err(|Failed { half, failure: own }| {
        if half == 0 {
            return own;
        }
        let message = format!("the baseline beside it: {}", own.message);
        told.baseline.failure = Some(own);
        failure(ProbeFailureReason::BaselineFailed, message)
    });
    document.duet = Some(Box::new(told));
    result
}

fn course(
    settings: &Settings,
    request: &LoadRequest,
    (duet, targets): (&DuetRequest, &[Target; 2]),
    document: &mut LoadDocument,
    told: &mut Duet,
) -> Result<(), Failed> {
    let halves = halves(request, duet, targets);
    let timeout = request.ready_timeout_seconds;
    let documents = [&mut *document, &mut told.baseline];
    let before = wait_for_both(&halves, timeout, documents)?;

    let pods = [halves[0].pod_uid, halves[1].pod_uid];
    let divided = divide(settings, pods, duet.side)?;
    told.cpus = Some(divided.told.clone());
    let lists = divided.halves.clone();
    let lists = lists.map(|half| Some(cpus::lists(Some(half.subject), Some(half.generator))));
    [document.cpus, told.baseline.cpus] = lists;

    let amounts = Amounts::of(request.load);
    let mut benches = benches(settings, request, &halves, &before, &divided);
    if request.calibrate_generator {
        benches[0].deadline = Instant::now() + amounts.budget;
        document.generator_ceiling = calibrate(&benches[0]);
    }
    for bench in &mut benches {
        bench.deadline = Instant::now() + amounts.budget;
    }
    let answer_times = [before[0].1, before[1].1];
    let warm = together::warm_up(&benches, &amounts, &answer_times)?;
    note_warm_up(&warm[0], document);
    note_warm_up(&warm[1], &mut told.baseline);
    let slower = warm.iter().map(|warm| warm.warmup.rps);
    let slower = slower.fold(f64::INFINITY, f64::min);
    let windows = together::timed(&benches, amounts::of_duet(request.load, slower), &warm)?;
    let answered = take(windows, document, told)?;

    let documents = [&mut *document, &mut told.baseline];
    for (half, document) in documents.into_iter().enumerate() {
        let asked = &halves[half];
        let subject = &divided.halves[half].subject;
        let stayed = pin::check(&settings.proc, asked.pod_uid, subject).map_err(not_pinned);
        let ended = after(asked, request, document, (&before[half].0, &answered[half]));
        stayed
            .and(ended)
            .map_err(|failure| Failed { half, failure })?;
    }
    Ok(())
}

fn halves<'a>(
    request: &'a LoadRequest,
    duet: &'a DuetRequest,
    targets: &'a [Target; 2],
) -> [Half<'a>; 2] {
    let half = |target, variant_prefix, pod_uid, engine_path| Half {
        question: Question {
            target,
            expect: &request.expect,
            variant_prefix,
        },
        pod_uid,
        engine_path,
    };
    let [variant, baseline] = targets;
    let (prefix, engine) = (&request.body_prefix, request.engine_path.as_deref());
    let (other_prefix, other_engine) = (&duet.body_prefix, duet.engine_path.as_deref());
    [
        half(variant, prefix, &request.pod_uid, engine),
        half(baseline, other_prefix, &duet.pod_uid, other_engine),
    ]
}

/// The first correct answer of each, and the time that it took by itself.
fn wait_for_both(
    halves: &[Half<'_>; 2],
    timeout_seconds: u32,
    documents: [&mut LoadDocument; 2],
) -> Result<[(Answer, Duration); 2], Failed> {
    let [one, other] = documents;
    let ended = || {
        failure(
            ProbeFailureReason::LoadFailed,
            "its thread ended".to_owned(),
        )
    };
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| wait(&halves[1].question, timeout_seconds, other));
        let one = wait(&halves[0].question, timeout_seconds, one);
        (one, other.join().unwrap_or_else(|_| Err(ended())))
    });
    let failed = |half| move |failure| Failed { half, failure };
    Ok([one.map_err(failed(0))?, other.map_err(failed(1))?])
}

fn benches<'a>(
    settings: &'a Settings,
    request: &LoadRequest,
    halves: &[Half<'a>; 2],
    before: &[(Answer, Duration); 2],
    divided: &'a Divided,
) -> [Bench<'a>; 2] {
    [0, 1].map(|half| {
        let Half {
            question, pod_uid, ..
        } = &halves[half];
        Bench {
            generator: Some(&divided.halves[half].generator),
            ..bench(
                settings,
                request,
                (question.target, pod_uid),
                &before[half].0,
            )
        }
    })
}

/// The ceiling of a load generator on the CPUs of its side. The responder takes turns with it there;
/// what it uses is counted in.
fn calibrate(bench: &Bench<'_>) -> Option<wasmbench_core::wire::instrument::GeneratorCeiling> {
    let list = bench.generator?;
    let measured = thread::scope(|scope| {
        let pinned = scope.spawn(|| {
            let pinned = pin::own_thread(list);
            pinned.map(|()| ceiling::measure(bench, Some(&list.to_string())))
        });
        pinned.join().ok()
    });
    match measured? {
        Ok(found) => found,
        Err(why) => {
            progress(&format!("no ceiling of the load generator: {why}"));
            None
        }
    }
}

/// Notes both windows, which must have been at the same moment.
fn take(
    windows: Vec<(
        wasmbench_core::wire::document::TimedWindow,
        window::Answered,
    )>,
    document: &mut LoadDocument,
    told: &mut Duet,
) -> Result<[window::Answered; 2], Failed> {
    let both: Result<[_; 2], _> = windows.try_into();
    let [(one, answered), (other, other_answered)] = both.map_err(|_| Failed {
        half: 0,
        failure: failure(
            ProbeFailureReason::LoadFailed,
            "a half is missing".to_owned(),
        ),
    })?;
    let overlap = window::overlap(&one, &other);
    told.overlap = Some((overlap * 1e4).round() / 1e4);
    document.timed = Some(one);
    told.baseline.timed = Some(other);
    if overlap < LEAST_OVERLAP {
        let message = format!(
            "the halves were under load together for {:.0} % of the window only: use a longer one, or a \
             quieter node",
            overlap * 100.0
        );
        let failure = failure(ProbeFailureReason::DuetApart, message);
        return Err(Failed { half: 0, failure });
    }
    Ok([answered, other_answered])
}

/// The answer and the engine after the load.
fn after(
    half: &Half<'_>,
    request: &LoadRequest,
    document: &mut LoadDocument,
    (before, answered): (&Answer, &window::Answered),
) -> Result<(), ProbeFailure> {
    let after = half.question.ask_again(PATIENCE);
    document.answer_after = after.as_ref().ok().map(|judged| judged.answer.clone());
    let target = half.question.target;
    document.engine = half.engine_path.map(|path| engine::ask(target, path));
    useful(answered.clone())?;
    unchanged(&request.expect, before, after)
}
