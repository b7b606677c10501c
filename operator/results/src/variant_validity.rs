//! What speaks against a variant whatever was measured of it, and so against its cold starts and its
//! density too.

use std::collections::BTreeSet;

use wasmbench_core::wire::request::NoiseRule;

use crate::cells::WrongEngines;
use crate::doubt::Reason;
use crate::environment::Drift;

/// What the whole run knows against its variants.
#[derive(Clone, Copy, Debug)]
pub struct VariantValidity<'a> {
    /// Variants that gave wrong answers, with their workload.
    pub answers: &'a BTreeSet<(String, String)>,
    /// Variants in another mode than they claim.
    pub engines: &'a WrongEngines<'a>,
    /// Facts that differ.
    pub drift: &'a [Drift],
    /// What becomes of trials on a noisy node.
    pub noise: NoiseRule,
}

impl VariantValidity<'_> {
    /// Why what was measured of `variant` under `workload` is no part of comparisons.
    pub fn reasons(self, variant: &str, workload: &str) -> impl Iterator<Item = Reason> {
        let answers = (variant.to_owned(), workload.to_owned());
        let found = [
            (Reason::ResponseMismatch, self.answers.contains(&answers)),
            (
                Reason::EngineModeMismatch,
                self.engines.contains_key(variant),
            ),
            (
                Reason::EnvironmentDrifted,
                self.drift.iter().any(|drift| drift.concerns(variant)),
            ),
        ];
        let found = found.into_iter().filter(|(_, is_so)| *is_so);
        found.map(|(reason, _)| reason)
    }
}
