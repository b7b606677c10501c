//! Numbers that depend on the order of trials.

use wasmbench_model::units;

use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed};
use crate::judge::order_effects::{Cause, OrderEffect, Shift};
use crate::vocabulary::cell::place;
use crate::vocabulary::measure::Measured as _;

/// Measures that the order moves. Trust is withheld only from comparisons that it shifts by much:
/// the order is random, and so spreads most of it over all variants.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = evidence.order_effects.iter().map(message);
    let mut shifts = evidence.order_effects.iter().flat_map(|one| &one.shifts);
    Some(Doubt {
        breaks_trust: shifts.any(|shift| shift.is_too_large),
        ..super::doubt(
            Reason::OrderEffect,
            format!(
                "numbers depend on the order of trials: {}",
                listed(places, MAX_PLACES, "; ")?
            ),
            "look at what a pod leaves behind when it is gone (CPU time of its removal, a warmer processor, memory that is freed \
             later), raise warmupSeconds or warmupRequests, or measure the variant that it comes from in a run of its own",
        )
    })
}

/// `CPU per request of trials on hello at 50 connections directly after heavy is 5.0 % larger, which
/// moves the ratio of heavy down by 1.0 %`.
fn message(one: &OrderEffect) -> String {
    let what = format!(
        "{} of {}",
        one.metric.noun(),
        place("trials", &one.workload, one.point)
    );
    let size = units::excess(libm::exp(one.effect.abs()));
    let more = if one.effect > 0.0 {
        "larger"
    } else {
        "smaller"
    };
    match &one.cause {
        Cause::Position => format!("{what} is {size} {more} at the end of a block"),
        Cause::Predecessor(variant) => {
            let shift = largest(&one.shifts).map(shift_text).unwrap_or_default();
            format!("{what} directly after {variant} is {size} {more}{shift}")
        }
    }
}

/// The largest shift.
fn largest(shifts: &[Shift]) -> Option<&Shift> {
    let sizes = shifts.iter();
    sizes.max_by(|one, other| one.by.abs().total_cmp(&other.by.abs()))
}

fn shift_text(shift: &Shift) -> String {
    let size = units::excess(libm::exp(shift.by.abs()));
    let direction = if shift.by > 0.0 { "up" } else { "down" };
    format!(
        ", which moves the ratio of {} {direction} by {size}",
        shift.variant
    )
}
