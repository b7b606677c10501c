//! How to repeat the run.

use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::table::{ascii, lines};

/// The section with the run's manifest.
pub fn section(summary: &Summary) -> Section {
    let section = Section::new("How to reproduce");
    let Some(spec) = &summary.spec else {
        return section.paragraph(
            "The spec is too large for this report: take it from the BenchmarkRun, and set spec.seed to the seed above.",
        );
    };
    let mut spec = spec.clone();
    spec.seed = Some(summary.seed);
    // A spec that serialises as JSON does so as YAML too; otherwise an empty block would show it.
    let yaml = serde_yaml::to_string(&spec).unwrap_or_default();
    let mut containers = spec
        .variants
        .iter()
        .filter_map(|one| one.container.as_ref());
    let values = if containers.any(|container| !container.env.is_empty()) {
        ". Values of environment variables are digests here: take them from the BenchmarkRun"
    } else {
        ""
    };
    section
        .paragraph(format!(
            "On a node with the same fingerprint, with the same images{values}:"
        ))
        .yaml(format!(
            "apiVersion: wasmbench.dev/v1alpha1\nkind: BenchmarkRun\nmetadata:\n  name: {}-again\nspec:\n{}",
            ascii(&summary.run.name),
            lines("  ", yaml.lines())
        ))
}
