//! A node that the run did not have to itself.

use wasmbench_model::noise::Noise;
use wasmbench_model::noise::limits::{OTHERS_CPU_LIMIT, OTHERS_CPUS_LIMIT};

use crate::doubts::{Doubt, Evidence, MAX_PLACES, NOISY_REMEDY, Reason, listed, note, places};
use crate::read::trial::{Trial, TrialState};

/// Points with too many noisy trials.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let noises = cell.detail.noisy_trials().map(|trial| trial.metrics.noise);
        let worst = noises.fold(Noise::default(), Noise::worst).message();
        let (noisy, valid) = (cell.detail.noisy_trials().count(), cell.counts.valid);
        let text = || format!("{} ({noisy} of {valid}: {worst})", cell.place());
        cell.detail.is_noisy().then(text)
    })?;
    Some(crate::doubts::doubt(
        Reason::NodeNoisy,
        format!(
            "trials on a noisy node (limit for other processes: {:.0} % of its CPUs, or {OTHERS_CPUS_LIMIT} CPUs); the \
             worst at each point: {places}",
            OTHERS_CPU_LIMIT * 100.0
        ),
        NOISY_REMEDY,
    ))
}

/// Trials that were repeated, and trials that stayed noisy at points that tolerate them.
pub fn repeats(evidence: &Evidence<'_>) -> Option<Doubt> {
    let cells = || evidence.cells.loads.iter();
    let repeated: u32 = cells().map(|cell| cell.counts.repeated).sum();
    let bearable = cells().filter(|cell| !cell.detail.is_noisy());
    let noisy = bearable.flat_map(|cell| cell.detail.noisy_trials()).count();
    (repeated > 0 || noisy > 0).then(|| {
        note(
            Reason::NodeNoisy,
            format!(
                "{repeated} trial(s) measured once more, with the quieter window kept; {noisy} noisy trial(s) kept, at points \
                 with at least four quiet ones for each"
            ),
            "a quieter node, if there are many",
        )
    })
}

/// Points at which the noise of the node is unknown, because windows were too short or CPU time was
/// not read.
pub fn not_judged(evidence: &Evidence<'_>) -> Option<Doubt> {
    let not_judged = |is_short: bool, what: &str, remedy| {
        let is_meant = |trial: &Trial| {
            let metrics = &trial.metrics;
            let is_unknown = metrics.noise.others.is_none();
            trial.state == TrialState::Valid
                && is_unknown
                && metrics.is_too_short_for_noise == is_short
        };
        let loads = evidence.cells.loads.iter().filter_map(|cell| {
            let mut trials = cell.detail.trials.iter();
            let trial = trials.find(|trial| is_meant(trial))?;
            let reason = trial.metrics.no_counters.as_ref();
            let why = reason.map_or_else(String::new, |why| format!(" ({why})"));
            Some(cell.place() + &why)
        });
        // A rung lasts a second or longer.
        let climbs = evidence.cells.capacity.iter().filter(|_| !is_short);
        let climbs = climbs
            .filter(|cell| cell.detail.noise_unknown_blocks > 0)
            .map(|cell| cell.any().place_among_sweeps());
        let places = listed(loads.chain(climbs), MAX_PLACES, ", ")?;
        Some((format!("{what}: {places}"), remedy))
    };
    let found = [
        not_judged(
            true,
            "in windows under 0.5 s",
            "see why the service answers so much faster than in its warm-up, and raise spec.sweeps.warmLatency.requests",
        ),
        not_judged(
            false,
            "where CPU time was not read",
            "see `absent` in the records",
        ),
    ];
    let (places, remedies): (Vec<String>, Vec<&str>) = found.into_iter().flatten().unzip();
    (!places.is_empty()).then(|| {
        crate::doubts::doubt(
            Reason::NoiseUnknown,
            format!("the noise of the node was not judged {}", places.join("; ")),
            &remedies.join("; "),
        )
    })
}
