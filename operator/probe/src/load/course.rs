//! The load of a trial: parts of a warm-up until the rate has settled, then the timed window, which
//! is repeated if its buckets do not fit or the node was noisy.

use std::time::{Duration, Instant};

use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::failure::Failure;

use super::amounts::Amounts;
use super::timed::{Bench, Warm};
use super::window::{Answered, Window, quieter};
use crate::output::progress;

impl Bench<'_> {
    /// Runs the discarded load. `answer_time` is how long the first correct answer took.
    pub fn warm_up(&self, amounts: &Amounts, answer_time: Duration) -> Result<Warm, Failure> {
        let began = Instant::now();
        let mut warm = Warm::new(answer_time);
        let parts = amounts.warmup.iter().map(|amount| (*amount, false));
        let more = amounts.settling.iter().map(|amount| (*amount, true));
        for (amount, is_added) in parts.chain(more) {
            if is_added && !warm.moves() && began.elapsed() >= amounts.least {
                break;
            }
            self.warm_part(&mut warm, amount)?;
            warm.warmup.added_parts += u32::from(is_added);
        }
        Ok(warm.done(amounts, began.elapsed()))
    }

    /// Runs a window with `run`, and once more if the node was noisy; then the quieter one counts.
    pub fn quieter_of_two(
        &self,
        run: impl Fn() -> Result<Window, Failure>,
    ) -> Result<Window, Failure> {
        let first = run()?;
        if !first.asks_for_quiet() || !self.may_repeat(&first) {
            return Ok(first);
        }
        let why = first.noise.message();
        progress(&format!("the node was noisy, {why}: once more"));
        // If the repeat fails, the first window counts.
        Ok(match run() {
            Ok(second) => quieter(first, second),
            Err(_) => first,
        })
    }

    /// Runs the timed window. Repeats it once if its latencies lie in wide buckets, and once if the
    /// node was noisy; then the quieter window counts.
    pub fn timed(
        &self,
        amounts: &Amounts,
        warm: &Warm,
    ) -> Result<(TimedWindow, Answered), Failure> {
        let (mut buckets, mut repeats, mut noisy) = (warm.buckets, 0, None);
        let amount = amounts.timed.at(warm.warmup.rps);
        let kept = loop {
            let window = match (self.window(amount, warm, buckets), noisy.take()) {
                (Ok(mut window), first) => {
                    window.timed.repeats = repeats;
                    noisy = first;
                    window
                }
                // If the repeat fails, the first window counts.
                (Err(_), Some(first)) => break first,
                (Err(failure), None) => return Err(failure),
            };
            if let Some(better) = window.better_buckets().filter(|_| repeats == 0) {
                progress("the buckets do not fit the latencies: once more");
                (buckets, repeats) = (better, 1);
            } else if let Some(first) = noisy {
                break quieter(first, window);
            } else if window.asks_for_quiet() && self.may_repeat(&window) {
                let why = window.noise.message();
                progress(&format!("the node was noisy, {why}: once more"));
                noisy = Some(window);
            } else {
                break window;
            }
        };
        let timed = TimedWindow {
            asked_nanoseconds: amounts.timed.requested_nanoseconds(),
            ..kept.timed
        };
        Ok((timed, kept.answered))
    }
}
