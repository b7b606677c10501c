//! `docs/studies.md` and `docs/studies` are what the published figures and the stored measurements give, and what the figures name is in the
//! manifests. With `BLESS=1` in the environment it is written: that is what `make generate` does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_yaml::Value;
use wasmbench_studies::figure::Figure;
use wasmbench_studies::measured::Measured;
use wasmbench_studies::published::{Point, Published, Study, Table};
use wasmbench_studies::{compared, decide, page};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The published figures: of each study at least one figure at one point.
fn published() -> Published {
    let path = repository().join("manifests/studies/published.yaml");
    let published = wasmbench_studies::published(&path).unwrap();
    assert_eq!(published.studies.len(), 4);
    for study in &published.studies {
        let has_points = |table: &Table| !table.points.is_empty();
        assert!(!study.tables.is_empty() && study.tables.iter().all(has_points));
    }
    published
}

fn measured(published: &Published) -> Vec<(&str, Option<Measured>)> {
    let directory = repository().join("operator/studies/measured");
    let read = |study: &str| wasmbench_studies::measured(&directory, study).unwrap();
    let names = published.studies.iter().map(|study| study.name.as_str());
    names.map(|name| (name, read(name))).collect()
}

/// The specs of all runs of a study's manifest.
fn manifest(file: &str) -> Vec<Value> {
    let path = repository().join(format!("manifests/studies/{file}.yaml"));
    let text = std::fs::read_to_string(path).unwrap();
    let documents = serde_yaml::Deserializer::from_str(&text);
    documents
        .map(|document| Value::deserialize(document).unwrap()["spec"].clone())
        .collect()
}

fn names(spec: &Value, list: &str) -> Vec<String> {
    let list = spec[list].as_sequence().unwrap().iter();
    list.map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_pages_are_generated_from_the_figures_and_the_measurements() {
    let published = published();
    let measured = measured(&published);
    let measured_of = |study: &str| measured.iter().find(|(name, _)| *name == study)?.1.as_ref();
    let wanted = page::pages(&published, measured_of);
    let pictures = measured.iter().filter(|(_, measured)| measured.is_some());
    assert_eq!(wanted.len(), 1 + published.studies.len() + pictures.count());
    for page in wanted {
        check_generated(&format!("docs/{}", page.path), &page.text);
    }
    check_generated("docs/when-wasm.md", &decide::markdown(measured_of));
}

fn check_generated(file: &str, wanted: &str) {
    let path = repository().join(file);
    if std::env::var_os("BLESS").is_some_and(|value| !value.is_empty()) {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{file} does not match its sources: run `make generate` and commit the result"
    );
}

#[test]
fn every_difference_has_a_reason() {
    let published = published();
    let mut compared = 0;
    for (study, (_, measured)) in published.studies.iter().zip(measured(&published)) {
        for row in compared::rows(study, measured.as_ref()) {
            compared += usize::from(row.factor().is_some());
            let unexplained = row.there.is_some() && row.differs() && row.why.is_empty();
            assert!(
                !unexplained,
                "{}: add a reason to published.yaml for {row:?}",
                study.name
            );
        }
    }
    assert!(compared > 10, "only {compared} figures were measured here");
}

/// Whether a run measures the variant under the table's workload at one of the table's points.
fn measures(spec: &Value, table: &Table, variant: &str) -> bool {
    let has = |list, name: &str| names(spec, list).iter().any(|found| found == name);
    let sweep = |sweep: &str, points: &str| {
        let points = spec["sweeps"][sweep][points].as_sequence();
        let points: Vec<u64> = points
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64)
            .collect();
        table.points.iter().any(|point| match point.at {
            Some(at) => points.contains(&u64::from(at)),
            None => !points.is_empty(),
        })
    };
    let swept = match table.figure {
        Figure::Ready => sweep("coldStart", "concurrency"),
        Figure::WarmP50 => !spec["sweeps"]["warmLatency"].is_null(),
        Figure::Throughput | Figure::CpuPerRequest | Figure::Memory => {
            sweep("throughput", "connections")
        }
        Figure::MemoryPerInstance => sweep("density", "instances"),
    };
    let mut workloads = [Some(&table.workload), table.under.as_ref()]
        .into_iter()
        .flatten();
    has("variants", variant) && workloads.all(|name| has("workloads", name)) && swept
}

fn check(study: &Study, specs: &[Value]) {
    for table in &study.tables {
        let values = table.points.iter().flat_map(|point| point.values.keys());
        for name in values.chain([&table.base]) {
            for variant in study.here(table, name) {
                assert!(
                    specs.iter().any(|spec| measures(spec, table, variant)),
                    "{}: {}: no run measures {variant}, which stands for {name}",
                    study.name,
                    table.source
                );
            }
        }
    }
}

#[test]
fn every_published_figure_is_measured_by_both_manifests() {
    for study in &published().studies {
        check(study, &manifest(&study.name));
        check(study, &manifest(&format!("{}-short", study.name)));
    }
}

#[test]
fn every_experiment_is_one_run_of_the_whole_manifest() {
    for study in &published().studies {
        let specs = manifest(&study.name);
        for one in study.why.iter().flat_map(|why| &why.shown) {
            let table = |at| Table {
                figure: one.figure,
                workload: one.workload.clone(),
                under: None,
                points: vec![Point {
                    at: Some(at),
                    values: BTreeMap::new(),
                }],
                ..study.tables[0].clone()
            };
            let sides = one.sides().map(|(variant, at)| (variant, table(at)));
            let has_both = |spec: &Value| {
                let mut sides = sides.iter();
                sides.all(|(variant, table)| measures(spec, table, variant))
            };
            assert!(specs.iter().any(has_both), "{}: {one:?}", study.name);
        }
    }
}

#[test]
fn every_point_of_a_document_is_in_the_whole_manifest() {
    for study in &published().studies {
        let specs = manifest(&study.name);
        for table in &study.tables {
            for point in &table.points {
                let single = Table {
                    points: vec![point.clone()],
                    ..table.clone()
                };
                // Nothing stands for a table of a machine that was not measured.
                let Some(base) = study.here(table, &table.base).first() else {
                    continue;
                };
                assert!(
                    specs.iter().any(|spec| measures(spec, &single, base)),
                    "{}: {} at {:?}",
                    study.name,
                    table.source,
                    point.at
                );
            }
        }
    }
}
