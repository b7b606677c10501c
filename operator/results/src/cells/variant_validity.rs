//! What speaks against a variant as a whole, and thus against its cells of all sweeps.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_model::wire::record::{Cell, TrialId};

use crate::read::answers::Mismatch;
use crate::read::environment::Drift;
use crate::read::observation::Observation;
use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Reason;

/// Variants that ran in a different mode than they claim, and how their first such trial showed it.
pub type WrongEngines<'a> = BTreeMap<&'a str, &'a str>;

/// The variants in a wrong mode. One trial is enough: the others ran the same pod.
pub fn wrong_engines(observations: &BTreeMap<TrialId, Observation>) -> WrongEngines<'_> {
    let wrong = observations.iter().filter_map(|(trial, observed)| {
        let contradiction = observed.engine_contradiction.as_deref()?;
        Some((trial.cell.variant.as_str(), contradiction))
    });
    let mut found = WrongEngines::new();
    for (variant, contradiction) in wrong {
        found.entry(variant).or_insert(contradiction);
    }
    found
}

/// What the run as a whole shows against its variants.
#[derive(Clone, Copy, Debug)]
pub struct VariantValidity<'a> {
    /// Answers that differ.
    pub answers: &'a [Mismatch],
    /// Variants in a different mode than they claim.
    pub engines: &'a WrongEngines<'a>,
    /// Facts that differ.
    pub drift: &'a [Drift],
}

impl VariantValidity<'_> {
    /// Why no trial of `variant` under `workload` counts, if there is a reason.
    pub fn of_every_trial(self, variant: &str, workload: &str) -> Option<Reason> {
        let wrong = [Reason::ResponseMismatch, Reason::EngineModeMismatch];
        let mut reasons = self.reasons(variant, workload);
        reasons.find(|reason| wrong.contains(reason))
    }

    /// Whether `variant` gave wrong answers under `workload`.
    pub fn has_wrong_answers(self, variant: &str, workload: &str) -> bool {
        let mut answers = self.answers.iter();
        answers.any(|wrong| wrong.variant == variant && wrong.workload == workload)
    }

    /// Why measurements of `variant` under `workload` are excluded from comparisons.
    pub fn reasons(self, variant: &str, workload: &str) -> impl Iterator<Item = Reason> {
        [
            (
                Reason::ResponseMismatch,
                self.has_wrong_answers(variant, workload),
            ),
            (
                Reason::EngineModeMismatch,
                self.engines.contains_key(variant),
            ),
            (
                Reason::EnvironmentDrifted,
                self.drift.iter().any(|drift| drift.concerns(variant)),
            ),
        ]
        .into_iter()
        .filter(|(_, is_so)| *is_so)
        .map(|(reason, _)| reason)
    }

    /// Why `cell` is invalid: those of its `own` reasons that hold and, if it was measured, what
    /// the run shows against its variant.
    pub fn invalid_because(
        self,
        cell: &Cell,
        counts: TrialCounts,
        own: impl IntoIterator<Item = (Reason, bool)>,
    ) -> Vec<Reason> {
        let own = own.into_iter().filter(|(_, is_so)| *is_so);
        let of_run = self
            .reasons(&cell.variant, &cell.workload)
            .filter(|_| counts.is_measured());
        let all: BTreeSet<Reason> = own.map(|(reason, _)| reason).chain(of_run).collect();
        all.into_iter().collect()
    }
}
