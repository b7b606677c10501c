//! Why other figures come out here than in a document, and what our runs show about it. Plain data.

use serde::Deserialize;

use crate::figure::Figure;

/// A reason for differences.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// Figures that it is about; empty for all.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Workloads of the manifest that it is about; empty for all.
    #[serde(default)]
    pub workloads: Vec<String>,
    /// Variants of the document that it is about; empty for all.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Connections or instances from which on it holds.
    #[serde(default)]
    pub from: u32,
    /// Connections or instances up to which it holds; default: all.
    #[serde(default)]
    pub until: Option<u32>,
    /// The reason.
    pub text: String,
    /// What our runs show about it.
    #[serde(default)]
    pub shown: Vec<Experiment>,
    /// Whether that bears on it without testing it.
    #[serde(default)]
    pub conjecture: bool,
}

/// Two variants of a run that differ by one thing, or one variant at two points.
#[derive(Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Experiment {
    /// By what the two sides differ.
    pub what: String,
    /// What is compared.
    pub figure: Figure,
    /// Name of the workload in the manifest.
    pub workload: String,
    /// Connections or instances.
    pub at: u32,
    /// The variant that has it.
    pub variant: String,
    /// The one without it; default: the same.
    #[serde(default)]
    pub over: Option<String>,
    /// Connections or instances of that one; default: the same.
    #[serde(default)]
    pub over_at: Option<u32>,
}

impl Experiment {
    /// Variant and point of both sides: with what it is about, and without.
    pub fn sides(&self) -> [(&str, u32); 2] {
        let over = self.over.as_deref().unwrap_or(&self.variant);
        let with = (self.variant.as_str(), self.at);
        [with, (over, self.over_at.unwrap_or(self.at))]
    }
}

impl Why {
    /// Whether no run of ours tests it.
    pub fn is_conjecture(&self) -> bool {
        self.conjecture || self.shown.is_empty()
    }

    /// Whether it is about the document's values of `variant`. A mean over all numbers of connections counts as any of them.
    pub fn is_about(
        &self,
        (figure, workload, at): (Figure, &str, Option<u32>),
        variant: &str,
    ) -> bool {
        let names =
            |names: &[String], name| names.is_empty() || names.iter().any(|one| one == name);
        (self.figures.is_empty() || self.figures.contains(&figure))
            && names(&self.workloads, workload)
            && names(&self.variants, variant)
            && at.is_none_or(|at| (self.from..=self.until.unwrap_or(u32::MAX)).contains(&at))
    }
}
