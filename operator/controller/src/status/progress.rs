//! What a run is doing: `status.progress`.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use wasmbench_api::status::Progress;
use wasmbench_core::observed::{Observed, Turn};
use wasmbench_core::plan::{Plan, Remaining, Stage, delay};
use wasmbench_core::validate::ValidatedRun;

use super::truncate;

/// The trials that are planned so far take `left`.
pub fn progress(
    valid: &ValidatedRun,
    plan: &Plan,
    observed: &Observed,
    left: Remaining,
    now: Timestamp,
) -> Progress {
    let total = valid.planned(observed.blocks).len();
    let most = observed.planned_blocks.map_or(valid.order.len(), |_| total);
    let measuring = matches!(plan.stage, Stage::Measuring { .. });
    let is_queued = matches!(plan.stage, Stage::Queued { .. });
    let has_ended = matches!(
        plan.stage,
        Stage::Summarising { .. } | Stage::Done | Stage::GaveUp { .. }
    );
    let is_open = most > total && !has_ended;
    let upto = if is_open {
        format!("..{most}")
    } else {
        String::new()
    };
    let count = format!("{}/{total}{upto}", plan.completed);
    let message = match &plan.stage {
        Stage::Queued { message }
        | Stage::NoNode { message }
        | Stage::GaveUp { message }
        | Stage::Summarising { message }
        | Stage::Measuring { message, .. } => truncate(message),
        Stage::Suspended => "suspended: set spec.suspend to false to go on".to_owned(),
        Stage::Done => format!(
            "read the report with: kubectl wasmbench report {} -n {}",
            valid.name, valid.namespace
        ),
    };
    let turn = observed.turn.as_ref().filter(|_| is_queued);
    let expected = turn.and_then(Turn::expected);
    let seconds = measuring.then_some(left.least);
    let left_least = seconds
        .and_then(|s| i64::try_from(s).ok())
        .map(SignedDuration::from_secs);
    let (trial, phase) = match &plan.stage {
        Stage::Measuring { trial, phase, .. } => (Some(trial.to_string()), Some(*phase)),
        Stage::Queued { .. }
        | Stage::NoNode { .. }
        | Stage::GaveUp { .. }
        | Stage::Summarising { .. }
        | Stage::Suspended
        | Stage::Done => (None, None),
    };
    Progress {
        completed_trials: u32::try_from(plan.completed).unwrap_or(u32::MAX),
        total_trials: u32::try_from(total).unwrap_or(u32::MAX),
        most_trials: is_open.then(|| u32::try_from(most).unwrap_or(u32::MAX)),
        text: seconds.map_or(count.clone(), |least| {
            let longest = is_open.then(|| about(left.most));
            let longest = longest.map_or_else(String::new, |longest| format!(" to {longest}"));
            format!("{count} (~{}{longest} left)", about(least))
        }),
        trial,
        phase,
        message,
        delay: measuring
            .then(|| delay(valid, observed))
            .flatten()
            .as_deref()
            .map(truncate),
        place_in_queue: turn.map(|turn| turn.place),
        estimated_start_time: expected.map(|expected| Time(expected.begins)),
        estimated_completion_time: left_least
            .and_then(|d| now.checked_add(d).ok())
            .or(expected.map(|expected| expected.ends))
            .map(Time),
    }
}

/// `40s`, `3m`, `1h20m`: only as precise as such an estimate is.
fn about(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds.div_ceil(60)),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_as_exact_as_the_estimate() {
        assert_eq!(about(40), "40s");
        assert_eq!(about(170), "3m");
        assert_eq!(about(4900), "1h21m");
    }
}
