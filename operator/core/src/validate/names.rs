//! The names of variants and workloads, and that of another run.

use std::collections::BTreeSet;

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{BenchmarkRunSpec, TWIN};

use crate::validate::{Invalid, invalid};

pub(super) fn check(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    unique(
        "spec.variants",
        spec.variants.iter().map(|v| v.name.as_str()),
    )?;
    if spec.variants.iter().any(|v| v.name == TWIN) {
        return Err(invalid(
            "spec.variants.name",
            format!(
                "'{TWIN}' is the baseline measured a second time (spec.noiseFloor): choose another \
                 name for this variant"
            ),
        ));
    }
    unique(
        "spec.workloads",
        spec.workloads.iter().map(|w| w.name.as_str()),
    )
}

pub(super) fn unique<'a>(field: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Invalid> {
    let mut seen = BTreeSet::new();
    let mut any = false;
    for name in names {
        any = true;
        if !is_dns_label(name) {
            return Err(invalid(
                format!("{field}.name"),
                format!(
                    "'{name}' is not a usable name: use at most 40 lower-case letters, digits and \
                     dashes, with a letter or digit at both ends"
                ),
            ));
        }
        if !seen.insert(name) {
            return Err(invalid(
                format!("{field}.name"),
                format!("'{name}' is listed twice: give each entry a name of its own"),
            ));
        }
    }
    if any {
        Ok(())
    } else {
        Err(invalid(field, "the list is empty: add at least one entry"))
    }
}

fn is_dns_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

pub(super) fn check_baseline_run(run: &BenchmarkRun) -> Result<(), Invalid> {
    let Some(name) = &run.spec.baseline_run_name else {
        return Ok(());
    };
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
    let ends = !name.starts_with(['-', '.']) && !name.ends_with(['-', '.']);
    if name.is_empty() || !ends || !name.bytes().all(inner) {
        return Err(invalid(
            "spec.baselineRunName",
            format!(
                "'{name}' is not the name of a BenchmarkRun: give a name without its namespace"
            ),
        ));
    }
    if run.metadata.name.as_ref() == Some(name) {
        return Err(invalid(
            "spec.baselineRunName",
            "a run cannot be compared with itself: name an earlier run, or leave it out".to_owned(),
        ));
    }
    Ok(())
}
