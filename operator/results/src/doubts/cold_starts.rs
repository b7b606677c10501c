//! What speaks against the numbers of cold starts.

use wasmbench_model::units;

use crate::cells::coldstart::ColdStartCell;
use crate::doubts::{Doubt, NOISY_REMEDY, Reason, doubt, note};

/// The prefix of places.
const OF: &str = "cold starts of ";

/// What speaks against the numbers of cold starts, and what limits them.
pub(super) fn doubts(cells: &[ColdStartCell]) -> Vec<Doubt> {
    let found = [
        wrong_class(cells),
        unverified(cells),
        compile_cache_unknown(cells),
        noisy(cells),
        not_judged(cells),
        coarse(cells),
        late(cells),
    ];
    found.into_iter().flatten().collect()
}

fn wrong_class(cells: &[ColdStartCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let (trials, samples) = (
            cell.detail.wrong_class_trials,
            cell.detail.wrong_class_samples,
        );
        let what =
            format!("{trials} trials without enough samples, {samples} samples of the wrong class");
        cell.is_invalid_by(Reason::CacheClassViolated)
            .then_some(what)
    })?;
    Some(doubt(
        Reason::CacheClassViolated,
        format!(
            "pods found something else on the node than spec.sweeps.coldStart.class requires: {places}"
        ),
        "these points are not compared; see whether something pulls images onto the node or removes them while the run \
         measures (the kubelet does when its disk is full)",
    ))
}

fn unverified(cells: &[ColdStartCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let samples = cell.detail.unverified_samples;
        (samples > 0).then(|| format!("{samples} samples"))
    })?;
    Some(note(
        Reason::CacheClassViolated,
        format!("what pods found on the node could not be verified: {places}"),
        "the kubelet drops events under load, and the probe needs the right to list them: run again, \
         or compare the discarded sample with the others",
    ))
}

fn compile_cache_unknown(cells: &[ColdStartCell]) -> Option<Doubt> {
    let unknown = super::places(cells, |cell| {
        (cell.detail.compile_cache_unknown > 0).then(|| cell.place())
    })?;
    Some(note(
        Reason::CacheClassViolated,
        format!(
            "whether the runtime compiled the image in these starts, or had kept a compiled form of an earlier one, as \
             shims for Wasm may, is not known: {OF}{unknown}"
        ),
        "meter.level: node in the chart's values shows which they were; without, compare them only with starts under \
         the same runtime",
    ))
}

fn noisy(cells: &[ColdStartCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let (noisy, all) = (cell.detail.noisy_samples, cell.detail.judged_samples);
        cell.detail
            .is_noisy()
            .then(|| format!("{noisy} of {all} samples"))
    })?;
    Some(doubt(
        Reason::NodeNoisy,
        format!(
            "others used the node while pods started, or its hypervisor withheld CPUs: {places}"
        ),
        NOISY_REMEDY,
    ))
}

fn not_judged(cells: &[ColdStartCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let samples = cell.detail.pods / cell.detail.concurrency.max(1);
        // The node's CPU time shows nothing about samples whose pods did not come up.
        let late = cell.detail.late.as_ref().map_or(0, |late| late.samples);
        let unknown = samples.saturating_sub(late + cell.detail.judged_samples);
        (unknown > 0).then(|| format!("{unknown} of {samples} samples"))
    })?;
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
    let places = places(cells, |cell| {
        let unsure = cell
            .detail
            .answer_uncertainty_microseconds
            .unwrap_or_default();
        let [unsure, shift] = [unsure, cell.detail.clock_shift_microseconds].map(units::micros);
        let what = format!("answers {unsure} unsure, clock set by {shift}");
        cell.is_invalid_by(Reason::ClockTooCoarse).then_some(what)
    })?;
    Some(doubt(
        Reason::ClockTooCoarse,
        places,
        "these points are not compared; let the node's clock be slewed instead of set, and leave the \
         probe some CPU time",
    ))
}

fn late(cells: &[ColdStartCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let late = cell.detail.late.as_ref()?;
        Some(late.message(cell.detail.pods))
    })?;
    Some(note(
        Reason::LateStarts,
        places,
        "they count as longer than all others: medians and verdicts stand. The record has what was seen of each; \
         raise spec.sweeps.coldStart.timeoutSeconds to see how long they take",
    ))
}

/// The points for which `what` returns text, each with that text.
fn places(
    cells: &[ColdStartCell],
    what: impl Fn(&ColdStartCell) -> Option<String>,
) -> Option<String> {
    let place = |cell: &ColdStartCell| Some(format!("{} ({})", cell.place(), what(cell)?));
    Some(OF.to_owned() + &super::places(cells, place)?)
}
