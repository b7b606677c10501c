//! `docs/studies.md` and `docs/studies` are what the published figures and the stored measurements give, and what the figures name is in the
//! manifests. With `BLESS=1` in the environment it is written: that is what `make generate` does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wasmbench_studies::manifest::{Manifest, Planned};
use wasmbench_studies::measured::{Length, Measured};
use wasmbench_studies::published::{Point, Published, Study, Table};
use wasmbench_studies::{Ours, compared, coverage, decide, page};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The published figures: of each study at least one figure at one point.
fn published() -> Published {
    let path = repository().join("manifests/studies/published.yaml");
    let published = wasmbench_studies::published(&path).unwrap();
    assert_eq!(published.studies.len(), 5);
    for study in &published.studies {
        let has_points = |table: &Table| !table.points.is_empty();
        assert!(!study.tables.is_empty() && study.tables.iter().all(has_points));
    }
    published
}

/// What there is of a study.
struct Stored<'a> {
    study: &'a str,
    measured: Option<Measured>,
    manifest: Manifest,
}

impl Stored<'_> {
    fn ours(&self) -> Ours<'_> {
        Ours {
            measured: self.measured.as_ref(),
            manifest: &self.manifest,
        }
    }
}

fn stored(published: &Published) -> Vec<Stored<'_>> {
    let directory = repository().join("operator/studies/measured");
    let names = published.studies.iter().map(|study| study.name.as_str());
    let stored = names.map(|study| Stored {
        study,
        measured: wasmbench_studies::measured(&directory, study).unwrap(),
        manifest: manifest(study),
    });
    stored.collect()
}

/// What there is of the study of that name.
fn ours_of<'a>(stored: &'a [Stored<'_>], study: &str) -> Ours<'a> {
    let found = stored.iter().find(|one| one.study == study);
    found.unwrap().ours()
}

fn manifest(file: &str) -> Manifest {
    wasmbench_studies::manifest(&repository().join("manifests/studies"), file).unwrap()
}

#[test]
fn the_pages_are_generated_from_the_figures_and_the_measurements() {
    let published = published();
    let stored = stored(&published);
    let ours = |study: &str| ours_of(&stored, study);
    let wanted = page::pages(&published, ours);
    let pictures = stored.iter().filter(|one| one.measured.is_some());
    assert_eq!(wanted.len(), 1 + published.studies.len() + pictures.count());
    for page in wanted {
        check_generated(&format!("docs/{}", page.path), &page.text);
    }
    check_generated("docs/when-wasm.md", &decide::markdown(ours));
}

#[test]
fn rows_of_when_wasm_have_one_mode_and_cells_name_their_load() {
    let published = published();
    let stored = stored(&published);
    let text = decide::markdown(|study| ours_of(&stored, study));
    let row = |mode: &str| {
        let mut rows = text.lines();
        let row = rows.find(|line| {
            let mut cells = line.split('|').map(str::trim);
            cells.nth(1) == Some("Wasmtime in the process") && cells.next() == Some(mode)
        });
        row.unwrap_or_else(|| panic!("no row of {mode}:\n{text}"))
    };
    // The starts of openwhisk-pods are of the preset's default; the loads of gateway-report are not.
    assert!(!row("Aot, OnDemand").contains("conns"));
    assert!(row("Jit, Pooling").contains(", 10 conns"));
}

#[test]
fn a_manifest_of_which_runs_are_missing_is_not_called_whole() {
    let published = published();
    for one in stored(&published) {
        let is_measured = |run: &Planned| {
            let runs = one.measured.as_ref().map(|measured| &measured.runs);
            let found = runs.and_then(|runs| runs.get(&run.name));
            found.is_some_and(|run| run.length == Length::Full)
        };
        let whole = one.manifest.runs.iter().all(is_measured);
        let text = coverage::runs(one.ours());
        assert_eq!(text.starts_with("all "), whole, "{}: {text}", one.study);
    }
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
    for (study, stored) in published.studies.iter().zip(stored(&published)) {
        for row in compared::rows(study, stored.measured.as_ref()) {
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

/// Whether a run measures the variant under the table's workloads at one of the table's points, and where it is its own
/// base.
fn measures(run: &Planned, study: &Study, table: &Table, variant: &str) -> bool {
    let at = |workload: &str, point: Option<u32>| {
        run.measures(table.figure, &study.workloads(workload), variant, point)
    };
    let mut workloads = [Some(&table.workload), table.under.as_ref()]
        .into_iter()
        .flatten();
    let has_from = table
        .from
        .is_none_or(|from| at(&table.workload, Some(from)));
    has_from
        && workloads.all(|workload| {
            let mut points = table.points.iter();
            points.any(|point| at(workload, point.at))
        })
}

fn check(study: &Study, manifest: &Manifest) {
    for table in &study.tables {
        let values = table.points.iter().flat_map(|point| point.values.keys());
        for name in values.chain([&table.base]) {
            for variant in study.here(table, name) {
                let mut runs = manifest.runs.iter();
                assert!(
                    runs.any(|run| measures(run, study, table, variant)),
                    "{}: {}: no run measures {variant}, which stands for {name}",
                    study.name,
                    table.source
                );
            }
        }
    }
}

/// The study with those workloads of its means that the manifest has: a shortened one has fewer.
fn shortened(study: &Study, manifest: &Manifest) -> Study {
    let mut short = study.clone();
    let has = |workload: &str| {
        let mut runs = manifest.runs.iter();
        runs.any(|run| run.workloads().any(|one| one == workload))
    };
    for mean in &mut short.means {
        mean.of.retain(|workload| has(workload));
        assert!(!mean.of.is_empty(), "{}: {}", study.name, mean.name);
    }
    short
}

#[test]
fn every_published_figure_is_measured_by_both_manifests() {
    for study in &published().studies {
        check(study, &manifest(&study.name));
        let short = manifest(&format!("{}-short", study.name));
        check(&shortened(study, &short), &short);
    }
}

#[test]
fn every_experiment_is_one_run_of_the_whole_manifest() {
    for study in &published().studies {
        let manifest = manifest(&study.name);
        for one in study.why.iter().flat_map(|why| &why.shown) {
            let table = |at| Table {
                figure: one.figure,
                workload: one.workload.clone(),
                under: None,
                from: None,
                points: vec![Point {
                    at: Some(at),
                    values: BTreeMap::new(),
                }],
                ..study.tables[0].clone()
            };
            let sides = one.sides().map(|(variant, at)| (variant, table(at)));
            let has_both = |run: &Planned| {
                let mut sides = sides.iter();
                sides.all(|(variant, table)| measures(run, study, table, variant))
            };
            let mut runs = manifest.runs.iter();
            assert!(runs.any(has_both), "{}: {one:?}", study.name);
        }
    }
}

#[test]
fn every_point_of_a_document_is_in_the_whole_manifest() {
    for study in &published().studies {
        let manifest = manifest(&study.name);
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
                let mut runs = manifest.runs.iter();
                assert!(
                    runs.any(|run| measures(run, study, &single, base)),
                    "{}: {} at {:?}",
                    study.name,
                    table.source,
                    point.at
                );
            }
        }
    }
}

#[test]
fn every_published_value_has_a_run_or_a_reason() {
    let published = published();
    for stored in stored(&published) {
        let mut studies = published.studies.iter();
        let study = studies.find(|study| study.name == stored.study).unwrap();
        for text in coverage::tables(study, stored.ours()) {
            assert!(
                !text.contains("no run: none of the manifest"),
                "say why in published.yaml (absent): {text}"
            );
        }
    }
}
