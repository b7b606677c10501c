//! How large the answers of each variant are: observations in, sizes out.

use std::collections::BTreeMap;

use wasmbench_model::wire::record::TrialId;

use crate::read::observation::Observation;
use crate::statistics::Spread;

/// Bytes of the body, by workload and variant: the median over measured trials.
pub type AnswerSizes = BTreeMap<(String, String), f64>;

/// The sizes of the first answers that the measured trials saw.
pub fn answer_sizes(observations: &BTreeMap<TrialId, Observation>) -> AnswerSizes {
    let mut observed: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for (trial, observation) in observations {
        let measured = observation
            .answer_bytes
            .filter(|_| observation.is_measured());
        let cell = &trial.cell;
        let sizes = observed
            .entry((cell.workload.clone(), cell.variant.clone()))
            .or_default();
        if let Some(bytes) = measured {
            sizes.push(bytes as f64);
        }
    }
    let median = |(key, sizes): (_, Vec<f64>)| Some((key, Spread::from_values(sizes)?.median));
    observed.into_iter().filter_map(median).collect()
}
