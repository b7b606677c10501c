//! What was measured of what could be: the runs of a study's manifest, and the values of the document's tables. A value
//! without a measurement is named, with the run that would measure it. Plain text; pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::Ours;
use crate::figure::Figure;
use crate::manifest::Planned;
use crate::measured::Length;
use crate::published::{Point, Study, Table};
use crate::values::Values;

/// How many runs of the manifest were measured, and the names of the others.
pub fn runs(ours: Ours<'_>) -> String {
    let found = ours.measured.map(|measured| &measured.runs);
    let is_measured = |name: &str| {
        let run = found.and_then(|runs| runs.get(name));
        run.is_some_and(|run| run.length == Length::Full)
    };
    let planned = &ours.manifest.runs;
    let missing: Vec<&str> = planned
        .iter()
        .map(|run| run.name.as_str())
        .filter(|name| !is_measured(name))
        .collect();
    let all = planned.len();
    match all - missing.len() {
        0 => "no run of the manifest".into(),
        count if count == all => format!("all {all} runs of the manifest"),
        count => format!(
            "{count} of {all} runs of the manifest, without {}",
            missing.join(", ")
        ),
    }
}

/// For each table of the document, in its order: where it stands, how many of its values were measured, in which runs,
/// and what would measure the others.
pub fn tables(study: &Study, ours: Ours<'_>) -> Vec<String> {
    let tables = study.tables.iter();
    tables
        .map(|table| Coverage::new(study, table, ours).text(table))
        .collect()
}

/// Figures whose values are of runs on different models of CPU, each with the models and their runs.
pub fn models(study: &Study, ours: Ours<'_>) -> Vec<String> {
    let mut runs: BTreeMap<(Figure, &str), BTreeSet<&str>> = BTreeMap::new();
    for table in &study.tables {
        let place = (table.figure, table.workload.as_str());
        let found = Coverage::new(study, table, ours).runs;
        runs.entry(place).or_default().extend(found.into_keys());
    }
    let figures = runs.into_iter().filter_map(|((figure, workload), runs)| {
        let models = by_model(&runs, ours);
        let named = models
            .iter()
            .map(|(model, runs)| format!("{model} ({})", runs.join(", ")));
        let named: Vec<String> = named.collect();
        (named.len() > 1).then(|| format!("{}, {workload}: {}", figure.noun(), named.join("; ")))
    });
    figures.collect()
}

/// The runs by the model of their node's CPU.
fn by_model<'a>(runs: &BTreeSet<&'a str>, ours: Ours<'a>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut models: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in runs {
        let run = ours.measured.and_then(|measured| measured.runs.get(*name));
        let model = run.and_then(|run| run.node.get("cpuModel"));
        let model = model.map_or("an unknown model", String::as_str);
        models.entry(model).or_default().push(name);
    }
    models
}

/// The values of a table that were measured in a run, or that it would measure.
struct Group<'a> {
    /// `None`: no run of the manifest measures them.
    run: Option<&'a str>,
    /// Of the document.
    variants: Vec<&'a str>,
    /// Connections or instances; none of a mean over all.
    points: Vec<u32>,
}

/// What was measured of a table.
struct Coverage<'a> {
    /// How many values it has, and how many of them were measured.
    values: usize,
    measured: usize,
    /// By run: the points.
    runs: BTreeMap<&'a str, Vec<u32>>,
    missing: Vec<Group<'a>>,
}

impl<'a> Coverage<'a> {
    fn new(study: &'a Study, table: &'a Table, ours: Ours<'a>) -> Self {
        let workloads = study.workloads(&table.workload);
        let values = Values::under(&workloads, table.figure, ours.measured);
        let mut found = Self {
            values: 0,
            measured: 0,
            runs: BTreeMap::new(),
            missing: vec![],
        };
        for point in &table.points {
            let run_of = |variant: &String| {
                // Growth needs the point that it starts from, too.
                values.run_of(variant, table.from)?;
                values.run_of(variant, point.at)
            };
            let mut missing: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
            for name in names(study, point) {
                let mut here = study.here(table, name).iter();
                found.values += 1;
                match here.find_map(run_of) {
                    Some(run) => found.add(run, point),
                    None => missing
                        .entry(planned(study, table, (name, point), ours))
                        .or_default()
                        .push(name),
                }
            }
            for (run, variants) in missing {
                found.add_missing(run, variants, point);
            }
        }
        // What a run would measure comes first.
        found.missing.sort_by_key(|group| group.run.is_none());
        found
    }

    fn add(&mut self, run: &'a str, point: &Point) {
        self.measured += 1;
        let points = self.runs.entry(run).or_default();
        points.extend(point.at.filter(|at| !points.contains(at)));
    }

    fn add_missing(&mut self, run: Option<&'a str>, variants: Vec<&'a str>, point: &Point) {
        let mut groups = self.missing.iter_mut();
        match groups.find(|group| group.run == run && group.variants == variants) {
            Some(group) => group.points.extend(point.at),
            None => self.missing.push(Group {
                run,
                variants,
                points: point.at.into_iter().collect(),
            }),
        }
    }

    fn text(&self, table: &Table) -> String {
        let machine = table.machine.as_ref();
        let machine = machine.map_or_else(String::new, |machine| format!(" ({machine})"));
        let is_one = self.runs.len() == 1;
        let runs: Vec<String> = self
            .runs
            .iter()
            .map(|(run, points)| {
                format!(
                    "{}in {run}",
                    if is_one { String::new() } else { at(points) }
                )
            })
            .collect();
        let runs = runs.join("; ");
        let space = if runs.is_empty() { "" } else { " " };
        format!(
            "{}, {}{machine}: {}. {} of {} values measured{space}{runs}{}",
            table.figure.noun(),
            table.workload,
            table.source,
            self.measured,
            self.values,
            self.missing_text(table),
        )
    }

    fn missing_text(&self, table: &Table) -> String {
        let groups = self.missing.iter().map(|group| {
            let reason = table.absent.as_deref().unwrap_or("none of the manifest");
            let run = group
                .run
                .map_or_else(|| format!("no run: {reason}"), |run| format!("run {run}"));
            format!("{}{} ({run})", at(&group.points), group.variants.join(", "))
        });
        let groups: Vec<String> = groups.collect();
        if groups.is_empty() {
            return String::new();
        }
        format!("; not measured: {}", groups.join("; "))
    }
}

/// The document's variants with a value at a point, in its order.
fn names<'a>(study: &'a Study, point: &'a Point) -> impl Iterator<Item = &'a str> {
    let names = study.variants.iter().map(|stands| stands.name.as_str());
    names.filter(move |name| point.values.contains_key(*name))
}

/// The run of the manifest that measures what stands for a variant of the document at a point.
fn planned<'a>(
    study: &Study,
    table: &Table,
    (name, point): (&str, &Point),
    ours: Ours<'a>,
) -> Option<&'a str> {
    let here = study.here(table, name);
    let workloads = study.workloads(&table.workload);
    let measures = |run: &&Planned| {
        let mut here = here.iter();
        here.any(|variant| run.measures(table.figure, &workloads, variant, point.at))
    };
    let run = ours.manifest.runs.iter().find(measures)?;
    Some(&run.name)
}

/// `at 10, 50 `; nothing for a mean over all.
fn at(points: &[u32]) -> String {
    if points.is_empty() {
        return String::new();
    }
    let points: Vec<String> = points.iter().map(ToString::to_string).collect();
    format!("at {} ", points.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{self, Manifest};
    use crate::measured::{self, Measured};
    use crate::published::{self, Published};

    fn published() -> Published {
        published::parse(
            "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: bare, here: [native]}, {name: wasm, here: [cli]}]
  lessons: {right: [], harness: [], avoid: []}
  tables:
  - {source: T1, figure: memory, workload: hello, unit: megabytes, base: bare, absent: too slow, points: [
      {at: 10, values: {bare: 1, wasm: 2}}, {at: 50, values: {bare: 1, wasm: 2}}, {at: 400, values: {bare: 1, wasm: 2}}]}
  why: []
",
        )
        .unwrap()
    }

    fn manifest() -> Manifest {
        let run = |name: &str, variant: &str, connections: &str| {
            format!(
                "apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {{name: {name}}}
spec:
  variants: [{variant}]
  workloads: [{{name: hello}}]
  sweeps: {{throughput: {{connections: {connections}}}}}
"
            )
        };
        let all = [
            run("all", "{name: native, preset: native}", "[10, 50, 400]"),
            run("few", "{name: cli, preset: wasmtime-cli}", "[10, 50]"),
        ];
        manifest::parse(&all.join("---\n")).unwrap()
    }

    /// The run of the base.
    fn measured() -> Measured {
        let point = |at: u32| {
            format!(
                r#"{{"figure": "memory", "workload": "hello", "at": {at}, "variant": "native", "values": {{"1": 1.0}}}}"#
            )
        };
        let points = [10, 50, 400].map(point).join(", ");
        let text = format!(
            r#"{{"schema": "wasmbench.dev/studies/v2", "runs": {{"all": {{"length": "full", "node": {{}}, "blocks": 1,
            "doubts": [], "points": [{points}], "without": []}}}}}}"#
        );
        measured::parse(&text).unwrap()
    }

    #[test]
    fn every_value_without_a_measurement_is_named_with_the_run_that_would_measure_it() {
        let (published, manifest, measured) = (published(), manifest(), measured());
        let text = |measured| {
            let ours = Ours {
                measured,
                manifest: &manifest,
            };
            (runs(ours), tables(&published.studies[0], ours).join("\n"))
        };
        let (runs, tables) = text(Some(&measured));
        assert_eq!(runs, "1 of 2 runs of the manifest, without few");
        assert_eq!(
            tables,
            "memory, hello: T1. 3 of 6 values measured in all; not measured: at 10, 50 wasm (run few); at 400 wasm (no run: \
             too slow)"
        );
        let (runs, tables) = text(None);
        assert_eq!(runs, "no run of the manifest");
        assert!(
            tables.contains("0 of 6 values measured; not measured: "),
            "{tables}"
        );
    }

    #[test]
    fn a_table_that_two_runs_measured_says_which_points_are_of_which() {
        let (published, manifest, mut measured) = (published(), manifest(), measured());
        let mut other = measured.runs["all"].clone();
        other.points.retain(|point| point.at == 400);
        let first = measured.runs.get_mut("all").unwrap();
        first.points.retain(|point| point.at != 400);
        measured.runs.insert("other".into(), other);
        let ours = Ours {
            measured: Some(&measured),
            manifest: &manifest,
        };
        let text = tables(&published.studies[0], ours).join("\n");
        assert!(
            text.contains("measured at 10, 50 in all; at 400 in other; not"),
            "{text}"
        );
    }

    #[test]
    fn growth_is_measured_only_where_the_point_it_starts_from_is() {
        let (mut published, manifest, mut measured) = (published(), manifest(), measured());
        published.studies[0].tables[0].from = Some(10);
        let is_said = |measured: &Measured, what: &str| {
            let ours = Ours {
                measured: Some(measured),
                manifest: &manifest,
            };
            let text = tables(&published.studies[0], ours).join("\n");
            assert!(text.contains(what), "{text}");
        };
        is_said(&measured, "3 of 6 values measured in all");
        let all = measured.runs.get_mut("all").unwrap();
        all.points.retain(|point| point.at != 10);
        is_said(&measured, "0 of 6 values measured; not");
    }

    #[test]
    fn a_figure_whose_runs_met_two_models_of_cpu_says_so() {
        let (published, manifest, mut measured) = (published(), manifest(), measured());
        let on = |run: &measured::Run, model: &str, points: &[u32]| {
            let mut run = run.clone();
            run.node = [("cpuModel".to_owned(), model.to_owned())].into();
            run.points.retain(|point| points.contains(&point.at));
            run
        };
        let all = measured.runs["all"].clone();
        let mut text = |first: &str, second: &str| {
            let runs = [("all", first, &[10, 50][..]), ("other", second, &[400])];
            let runs = runs.map(|(name, model, points)| (name.to_owned(), on(&all, model, points)));
            measured.runs = runs.into();
            let ours = Ours {
                measured: Some(&measured),
                manifest: &manifest,
            };
            models(&published.studies[0], ours).join("\n")
        };
        assert_eq!(text("EPYC", "EPYC"), "");
        assert_eq!(
            text("EPYC", "Xeon"),
            "memory, hello: EPYC (all); Xeon (other)"
        );
    }
}
