//! The section on the node: versions, CPUs and facts.

use std::collections::BTreeSet;

use wasmbench_model::units::truncate;
use wasmbench_results::read::environment::Environment;
use wasmbench_results::summary::Summary;

use crate::overview::{FINGERPRINTS, node};
use crate::section::Section;
use crate::table::{Align, Table};

/// Longest value of a fact in the report, in characters; `environment.json` has a longer one.
const MAX_FACT_CHARS: usize = 100;

/// The section on where and with what the run was measured.
pub fn section(summary: &Summary) -> Section {
    let environment = &summary.environment;
    let mut table = Table::new(&[("Fact", Align::Left), ("Value", Align::Left)]);
    let versions = [
        ("operator", &environment.operator_versions),
        ("probe", &environment.probe_versions),
        ("fortio", &environment.fortio_versions),
    ];
    for (name, versions) in versions {
        let all: Vec<&str> = versions.iter().map(String::as_str).collect();
        table.row(&[name.to_owned(), all.join(", ")]);
    }
    let sources: Vec<&str> = environment
        .memory_sources
        .iter()
        .map(|s| (*s).into())
        .collect();
    table.row(&["memory numbers".to_owned(), sources.join(", ")]);
    for (name, cpus) in cpus(environment) {
        table.row(&[name.to_owned(), cpus]);
    }
    for variant in &environment.variants {
        for engine in &variant.engines {
            table.row(&[format!("engine of {}", variant.variant), engine.clone()]);
        }
    }
    for (scope, facts) in [
        ("probe", &environment.facts),
        ("node", &environment.node_facts),
    ] {
        for (key, value) in facts {
            table.row(&[format!("{scope}.{key}"), truncate(value, MAX_FACT_CHARS)]);
        }
    }
    Section::new("Node")
        .paragraph(format!("{}. {FINGERPRINTS}", node(summary)))
        .table(table)
}

/// The CPUs on which subjects and load generator could run, and whether they shared them.
fn cpus(environment: &Environment) -> Vec<(&'static str, String)> {
    let lists = |lists: &BTreeSet<String>| lists.iter().cloned().collect::<Vec<_>>().join(" or ");
    let shared = match environment.cpus_disjoint {
        Some(true) => ", none of the subjects'",
        Some(false) => ", shared with the subjects",
        None => "",
    };
    let rows = [
        ("CPUs of subjects", lists(&environment.subject_cpus)),
        (
            "CPUs of the load generator",
            lists(&environment.generator_cpus) + shared,
        ),
    ];
    let known = rows.into_iter().filter(|(_, cpus)| !cpus.is_empty());
    known
        .map(|(name, all)| (name, truncate(&all, MAX_FACT_CHARS)))
        .collect()
}
