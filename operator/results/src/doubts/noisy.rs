//! A node that was not the run's alone.

use wasmbench_core::noise::{Noise, OTHERS_CPU_LIMIT, OTHERS_CPUS_LIMIT};

use crate::any_cell::AnyCell;
use crate::cell::CellSummary;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, NOTED_REMEDY, Reason, listed, note};
use crate::invalid::noisy_trials;
use crate::trial::{Trial, TrialState};

/// Points that are invalid because too many of their trials were noisy.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let is_invalid = |cell: &&CellSummary| cell.invalid_because.contains(&Reason::NodeNoisy);
    let place = |cell: &CellSummary| {
        let worst = noisy_trials(cell).map(|trial| trial.metrics.noise());
        let worst = worst.fold(Noise::default(), Noise::worst);
        let measured = cell.counts.valid + cell.counts.invalid;
        let noisy = noisy_trials(cell).count();
        let words = worst.words();
        format!("{} ({noisy} of {measured}: {words})", cell.place())
    };
    let cells = evidence.cells.loads.iter().filter(is_invalid);
    let places = listed(cells.map(place), MAX_PLACES, ", ")?;
    Some(crate::doubts::doubt(
        Reason::NodeNoisy,
        format!(
            "trials on a noisy node (others may use {:.0} % of its CPUs, and {OTHERS_CPUS_LIMIT} CPUs at most), \
             and in the worst of them: {places}",
            OTHERS_CPU_LIMIT * 100.0
        ),
        "these points are not compared, because the node was not the run's alone: move other pods \
         away (kubectl top pods), or choose a quiet node, with memory to spare, by spec.placement",
    ))
}

/// Trials on a noisy node that count, because the operator was told only to note noise.
pub fn noted(evidence: &Evidence<'_>) -> Option<Doubt> {
    let place = |cell: &CellSummary| {
        let valid = cell
            .trials
            .iter()
            .filter(|trial| trial.state == TrialState::Valid);
        let noises = valid.map(|trial| trial.metrics.noise());
        let noises: Vec<Noise> = noises.filter(|noise| noise.is_over_limit()).collect();
        let worst = noises.iter().copied().reduce(Noise::worst)?;
        let (noisy, valid, words) = (noises.len(), cell.counts.valid, worst.words());
        Some(format!("{} ({noisy} of {valid}: {words})", cell.place()))
    };
    let places = listed(
        evidence.cells.loads.iter().filter_map(place),
        MAX_PLACES,
        ", ",
    )?;
    Some(crate::doubts::doubt(
        Reason::NodeNoisy,
        format!("trials on a noisy node, which count all the same: {places}"),
        NOTED_REMEDY,
    ))
}

/// Trials that cost a repeat, and those that are left out of points that stay valid.
pub fn repeats(evidence: &Evidence<'_>) -> Option<Doubt> {
    let repeated: u32 = evidence
        .cells
        .loads
        .iter()
        .map(|cell| cell.counts.repeated)
        .sum();
    let is_valid = |cell: &&CellSummary| !cell.invalid_because.contains(&Reason::NodeNoisy);
    let valid = evidence.cells.loads.iter().filter(is_valid);
    let left_out = valid.flat_map(noisy_trials).count();
    (repeated > 0 || left_out > 0).then(|| {
        note(
            Reason::NodeNoisy,
            format!(
                "{repeated} trial(s) measured once more, with the quieter window kept; {left_out} that \
                 stayed noisy left out of points that have at least four others for each"
            ),
            "a quieter node, if there are many",
        )
    })
}

/// Points of which nobody knows whether the node was noisy: their windows are too short, or CPU time was
/// not read.
pub fn not_judged(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = |is_short: bool, what: &str, remedy| {
        let is_meant = |trial: &Trial| {
            let metrics = &trial.metrics;
            let is_unknown = metrics.others_cpu_share.is_none();
            trial.state == TrialState::Valid
                && is_unknown
                && metrics.is_too_short_for_noise == is_short
        };
        let cells = evidence.cells.loads.iter();
        let meant = cells.filter(|cell| cell.trials.iter().any(is_meant));
        let places = listed(meant.map(AnyCell::place), MAX_PLACES, ", ")?;
        Some((format!("{what}: {places}"), remedy))
    };
    let found = [
        places(
            true,
            "in windows under 0.5 s",
            "raise spec.sweeps.warmLatency.requests",
        ),
        places(
            false,
            "where CPU time was not read",
            "see whether meter.level is none, and what the probe's log says",
        ),
    ];
    let (places, remedies): (Vec<String>, Vec<&str>) = found.into_iter().flatten().unzip();
    (!places.is_empty()).then(|| {
        note(
            Reason::NoiseUnknown,
            format!("the noise of the node was not judged {}", places.join("; ")),
            &remedies.join("; "),
        )
    })
}
