//! The peak of a subject: the rate that it reaches when it is sent requests as fast as it answers
//! them.

use std::time::{Duration, Instant};

use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::open_loop::Peak;
use wasmbench_model::wire::request::LoadRequest;

use super::amounts::Amounts;
use super::mix::Mix;
use super::{bench, failure};
use crate::output::progress;
use crate::settings::Settings;
use crate::target::Target;

/// Measures the peak of the subject at `target` with the load of `request`, after its warm-up.
/// Repeats it once if the node was noisy. `answer` is one of the subject's.
pub fn measure(
    settings: &Settings,
    request: &LoadRequest,
    target: &Target,
    answer: &Answer,
) -> Result<Peak, Failure> {
    let amounts = Amounts::from_load(request.load);
    let mix = Mix::read(settings, request)?;
    let mut bench = bench(settings, request, (target, &mix.parts), answer);
    bench.deadline = Instant::now() + amounts.budget;
    let warm = bench.warm_up(&amounts, Duration::ZERO)?;
    let amount = amounts.timed.at(warm.warmup.rps);
    let window = bench.quieter_of_two(|| bench.window(amount, &warm, warm.buckets))?;
    if let Err(codes) = &window.answered {
        let message = format!("no request at the peak was answered as expected: {codes}");
        return Err(failure(FailureReason::NoSuccessfulRequest, message));
    }
    let peak = window.peak();
    progress(&format!("peak: {:.0} requests per second", peak.rps));
    Ok(peak)
}
