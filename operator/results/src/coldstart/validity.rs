//! Which points of cold starts are invalid, and what speaks against the numbers.

use wasmbench_core::units;

use crate::any_cell::AnyCell;
use crate::coldstart::ColdStartCell;
use crate::doubt::{Doubt, Reason};
use crate::doubts::{self, MAX_PLACES, NOISY_REMEDY, doubt, note};
use crate::variant_validity::VariantValidity;

/// What stands before places.
const OF: &str = "cold starts of ";
/// What a moment may be wrong by without a question: the probe asks every 0.6 ms.
const FINE_MICROSECONDS: f64 = 1000.0;
/// A clock may be wrong by half of the smallest difference that matters, to which `precision` has starts known as well.
const SHARE_OF_DIFFERENCE: f64 = 0.5;

/// Adds to each point the reasons why it is no part of comparisons. `smallest` is the smallest difference of starts that
/// matters, in microseconds.
pub fn mark(cells: &mut [ColdStartCell], against: VariantValidity<'_>, smallest: f64) {
    for cell in cells {
        let own = [
            (Reason::CacheClassViolated, cell.wrong_class_trials > 0),
            (Reason::ClockTooCoarse, is_too_coarse(cell, smallest)),
        ];
        cell.invalid_because = against.all_against(cell, own);
    }
}

/// Whether the moments of a point may be wrong by more than its comparison bears.
fn is_too_coarse(cell: &ColdStartCell, smallest: f64) -> bool {
    let bearable = (smallest * SHARE_OF_DIFFERENCE).max(FINE_MICROSECONDS);
    let unsure = cell.answer_uncertainty_microseconds.unwrap_or_default();
    unsure.max(cell.clock_shift_microseconds) > bearable
}

/// What speaks against the numbers, and what limits them.
pub fn doubts(cells: &[ColdStartCell]) -> Vec<Doubt> {
    let found = [
        wrong_class(cells),
        unverified(cells),
        compile_cache_unknown(cells),
        noisy(cells),
        not_judged(cells),
        coarse(cells),
    ];
    found.into_iter().flatten().collect()
}

fn wrong_class(cells: &[ColdStartCell]) -> Option<Doubt> {
    let place = |cell: &ColdStartCell| {
        let (trials, samples) = (cell.wrong_class_trials, cell.wrong_class_samples);
        format!(
            "{} ({trials} trials without enough samples, {samples} samples of the wrong class)",
            cell.place()
        )
    };
    let places = listed(having(cells, Reason::CacheClassViolated).map(place))?;
    Some(doubt(
        Reason::CacheClassViolated,
        format!(
            "pods found something else on the node than spec.sweeps.coldStart.class says: {places}"
        ),
        "these points are not compared; see whether something pulls images onto the node or removes them while the run \
         measures (the kubelet does when its disk is full)",
    ))
}

fn unverified(cells: &[ColdStartCell]) -> Option<Doubt> {
    let place = |cell: &ColdStartCell| {
        let (samples, place) = (cell.unverified_samples, cell.place());
        (samples > 0).then(|| format!("{place} ({samples} samples)"))
    };
    let message = listed(cells.iter().filter_map(place))?;
    Some(Doubt {
        breaks_trust: false,
        ..doubt(
            Reason::CacheClassViolated,
            format!("what pods found on the node could not be verified: {message}"),
            "the kubelet drops events under load, and the probe needs the right to list them: run again, \
             or look at the discarded sample beside the others",
        )
    })
}

fn compile_cache_unknown(cells: &[ColdStartCell]) -> Option<Doubt> {
    let unknown = cells.iter().filter(|cell| cell.compile_cache_unknown > 0);
    let places = listed(unknown.map(AnyCell::place))?;
    Some(note(
        Reason::CacheClassViolated,
        format!(
            "whether the runtime compiled the image in these starts, or had kept a compiled form of an earlier one, as \
             shims for Wasm may, is not known: {places}"
        ),
        "meter.level: node in the chart's values tells which they were; without, compare them only with starts under \
         the same runtime",
    ))
}

fn noisy(cells: &[ColdStartCell]) -> Option<Doubt> {
    let place = |cell: &ColdStartCell| {
        let (noisy, all, place) = (cell.noisy_samples, cell.judged_samples, cell.place());
        format!("{place} ({noisy} of {all} samples)")
    };
    let places = listed(cells.iter().filter(|cell| cell.is_noisy()).map(place))?;
    Some(doubt(
        Reason::NodeNoisy,
        format!(
            "others used the node while pods started, or its hypervisor withheld CPUs: {places}"
        ),
        NOISY_REMEDY,
    ))
}

fn not_judged(cells: &[ColdStartCell]) -> Option<Doubt> {
    let place = |cell: &ColdStartCell| {
        let samples = cell.pods / cell.concurrency.max(1);
        let unknown = samples.saturating_sub(cell.judged_samples);
        (unknown > 0).then(|| format!("{} ({unknown} of {samples} samples)", cell.place()))
    };
    let places = listed(cells.iter().filter_map(place))?;
    Some(note(
        Reason::NoiseUnknown,
        format!(
            "the noise of the node was not judged in samples too short for the kernel's counters \
             (0.4 s over all CPUs), or where these were not read: {places}"
        ),
        "look at the intervals and the noise floor, and whether the probe can read the node's \
         /proc/stat",
    ))
}

fn coarse(cells: &[ColdStartCell]) -> Option<Doubt> {
    let place = |cell: &ColdStartCell| {
        let unsure = cell.answer_uncertainty_microseconds.unwrap_or_default();
        let shift = units::micros(cell.clock_shift_microseconds);
        let place = cell.place();
        format!(
            "{place} (answers {} unsure, clock set by {shift})",
            units::micros(unsure)
        )
    };
    Some(doubt(
        Reason::ClockTooCoarse,
        listed(having(cells, Reason::ClockTooCoarse).map(place))?,
        "these points are not compared; let the node's clock be slewed instead of set, and leave the \
         probe some CPU time",
    ))
}

fn having(cells: &[ColdStartCell], reason: Reason) -> impl Iterator<Item = &ColdStartCell> {
    let has = move |cell: &&ColdStartCell| cell.invalid_because.contains(&reason);
    cells.iter().filter(has)
}

fn listed(places: impl Iterator<Item = String>) -> Option<String> {
    Some(OF.to_owned() + &doubts::listed(places, MAX_PLACES, ", ")?)
}
