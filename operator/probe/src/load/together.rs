//! The course of the load of a trial: parts of a warm-up until the rate has come to rest, and the
//! timed window, which is measured again where its buckets do not fit or the node was noisy. Of
//! one subject, or of the two halves of a duet, which begin everything at the same moment.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use wasmbench_core::wire::document::{ProbeFailure, ProbeFailureReason, TimedWindow};

use super::amounts::Amounts;
use super::failure;
use super::timed::{Bench, Warm};
use super::window::{Answered, Window, ask_for_quiet, introduce, quieter};
use crate::buckets::Buckets;
use crate::fortio::args::Amount;
use crate::output::progress;
use crate::pin;

/// What ended a load, and in which half (0 or 1) it was.
#[derive(Debug)]
pub struct Failed {
    /// Index of the bench.
    pub half: usize,
    /// What happened.
    pub failure: ProbeFailure,
}

impl Bench<'_> {
    /// [`warm_up`] of a single subject.
    pub fn warm_up(&self, amounts: &Amounts, answer_time: Duration) -> Result<Warm, ProbeFailure> {
        let warm = warm_up(std::slice::from_ref(self), amounts, &[answer_time]);
        only(warm)
    }

    /// [`timed`] of a single subject.
    pub fn timed(
        &self,
        amounts: &Amounts,
        warm: &Warm,
    ) -> Result<(TimedWindow, Answered), ProbeFailure> {
        let benches = std::slice::from_ref(self);
        only(timed(benches, amounts.timed, std::slice::from_ref(warm)))
    }
}

/// What came of a single subject.
pub(super) fn only<T>(of_one: Result<Vec<T>, Failed>) -> Result<T, ProbeFailure> {
    let nothing = || {
        failure(
            ProbeFailureReason::LoadFailed,
            "nothing was loaded".to_owned(),
        )
    };
    let all = of_one.map_err(|failed| failed.failure)?;
    all.into_iter().next().ok_or_else(nothing)
}

/// Runs the discarded load. `answer_times` are what the first correct answers took.
pub fn warm_up(
    benches: &[Bench<'_>],
    amounts: &Amounts,
    answer_times: &[Duration],
) -> Result<Vec<Warm>, Failed> {
    let began = Instant::now();
    let mut all: Vec<Warm> = answer_times.iter().map(|time| Warm::new(*time)).collect();
    let parts = amounts.warmup.iter().map(|amount| (*amount, false));
    let more = amounts.settling.iter().map(|amount| (*amount, true));
    for (amount, is_added) in parts.chain(more) {
        if is_added && !all.iter().any(Warm::moves) {
            break;
        }
        all = each(benches, all, |bench, mut warm| {
            bench.warm_part(&mut warm, amount)?;
            warm.warmup.added_parts += u32::from(is_added);
            Ok(warm)
        })?;
    }
    let took = began.elapsed();
    Ok(all
        .into_iter()
        .map(|warm| warm.done(amounts, took))
        .collect())
}

/// Runs the timed window. It is run once more when its latencies lie where the buckets are wide, and
/// once more when the node was noisy; then the quieter window counts.
pub fn timed(
    benches: &[Bench<'_>],
    amount: Amount,
    warm: &[Warm],
) -> Result<Vec<(TimedWindow, Answered)>, Failed> {
    let mut buckets: Vec<Buckets> = warm.iter().map(|warm| warm.buckets).collect();
    let (mut repeats, mut noisy) = (0, None);
    let kept = loop {
        let windows = match (windows(benches, amount, warm, &buckets), noisy.take()) {
            (Ok(mut windows), first) => {
                for window in &mut windows {
                    window.timed.repeats = repeats;
                }
                noisy = first;
                windows
            }
            // What a repeat could not better stays as it was.
            (Err(_), Some(first)) => break first,
            (Err(failed), None) => return Err(failed),
        };
        let better: Vec<Option<Buckets>> = windows.iter().map(Window::better_buckets).collect();
        if repeats == 0 && better.iter().any(Option::is_some) {
            progress("the buckets do not fit what was seen: once more");
            let known = buckets.into_iter().zip(better);
            buckets = known
                .map(|(known, better)| better.unwrap_or(known))
                .collect();
            repeats = 1;
        } else if let Some(first) = noisy {
            break quieter(first, windows);
        } else if ask_for_quiet(&windows) && may_repeat(benches, &windows) {
            let why = windows.iter().map(|window| window.noise);
            let why = why.reduce(wasmbench_core::noise::Noise::worst);
            let why = why.unwrap_or_default().words();
            progress(&format!("the node was noisy, {why}: once more"));
            noisy = Some(windows);
        } else {
            break windows;
        }
    };
    let told = kept.into_iter();
    Ok(told.map(|window| (window.timed, window.answered)).collect())
}

fn may_repeat(benches: &[Bench<'_>], windows: &[Window]) -> bool {
    let mut both = benches.iter().zip(windows);
    both.all(|(bench, window)| bench.may_repeat(window))
}

fn windows(
    benches: &[Bench<'_>],
    amount: Amount,
    warm: &[Warm],
    buckets: &[Buckets],
) -> Result<Vec<Window>, Failed> {
    let settings = warm.iter().zip(buckets.iter().copied()).collect();
    let mut windows = each(benches, settings, |bench, (warm, buckets)| {
        bench.window(amount, warm, buckets)
    })?;
    let cpus = benches.first().and_then(|bench| bench.cpus);
    introduce(&mut windows, cpus);
    Ok(windows)
}

/// Does the same with each bench: with a single one here and now, with two at the same moment, each
/// from a thread on the CPUs of its load generator, which inherits them.
fn each<I: Send, O: Send>(
    benches: &[Bench<'_>],
    inputs: Vec<I>,
    work: impl Fn(&Bench<'_>, I) -> Result<O, ProbeFailure> + Sync,
) -> Result<Vec<O>, Failed> {
    let start = Barrier::new(benches.len());
    let run = |bench: &Bench<'_>, input: I| {
        let pinned = bench.generator.map_or(Ok(()), pin::own_thread);
        start.wait();
        let not_pinned = |why| failure(ProbeFailureReason::SubjectNotPinned, why);
        pinned.map_err(not_pinned)?;
        work(bench, input)
    };
    let pairs = benches.iter().zip(inputs);
    let results: Vec<Result<O, ProbeFailure>> = match benches {
        [_] => pairs.map(|(bench, input)| work(bench, input)).collect(),
        [..] => thread::scope(|scope| {
            let run = &run;
            let running: Vec<_> = pairs
                .map(|(bench, input)| scope.spawn(move || run(bench, input)))
                .collect();
            let ended = || {
                failure(
                    ProbeFailureReason::LoadFailed,
                    "its thread ended".to_owned(),
                )
            };
            let all = running.into_iter();
            all.map(|thread| thread.join().unwrap_or_else(|_| Err(ended())))
                .collect()
        }),
    };
    let failed = |half| move |failure| Failed { half, failure };
    let results = results.into_iter().enumerate();
    results
        .map(|(half, result)| result.map_err(failed(half)))
        .collect()
}
