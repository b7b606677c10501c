//! The workloads behind a mean, one by one: a table for each run, of multiples of its base. Pure.

use wasmbench_report::table::{Align, Table as Cells};

use crate::Ours;
use crate::compared::{Value, ratio};
use crate::figure::Figure;
use crate::manifest::Planned;
use crate::measured::Measured;
use crate::published::{Study, Table};
use crate::terminal::value;

/// What one run has of a mean.
struct Behind<'a> {
    run: &'a Planned,
    mean: &'a str,
    workloads: Vec<&'a str>,
    figure: Figure,
    at: u32,
    base: &'a str,
}

/// The section of a study's page; empty for a study without means.
pub fn section(study: &Study, ours: Ours<'_>) -> String {
    let all = means(study);
    let found = all.iter().flat_map(|table| behind(study, table, ours));
    let parts: Vec<String> = found.map(|one| text(&one, ours.measured)).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("\n## By workload\n\n{}", parts.join("\n"))
}

/// The first table of each mean of latencies or rates that is compared with a base.
fn means(study: &Study) -> Vec<&Table> {
    let mut found: Vec<&Table> = vec![];
    for table in &study.tables {
        let is_speed = [Figure::WarmP50, Figure::Throughput].contains(&table.figure);
        let is_mean = study.workloads(&table.workload).len() > 1;
        let is_new = !found.iter().any(|one| one.workload == table.workload);
        if is_speed && is_mean && is_new {
            found.push(table);
        }
    }
    found
}

/// What the runs of the manifest have of a table's mean, at its last point.
fn behind<'a>(study: &'a Study, table: &'a Table, ours: Ours<'a>) -> Vec<Behind<'a>> {
    let last = table.points.iter().filter_map(|point| point.at).next_back();
    let base = study.here(table, &table.base).first();
    let (Some(at), Some(base)) = (last, base) else {
        return vec![];
    };
    let workloads = study.workloads(&table.workload);
    let has = |run: &&Planned| run.measures(table.figure, &workloads, base, Some(at));
    let runs = ours.manifest.runs.iter().filter(has);
    let of_run = |run| Behind {
        run,
        mean: &table.workload,
        workloads: workloads.clone(),
        figure: table.figure,
        at,
        base,
    };
    runs.map(of_run).collect()
}

fn text(one: &Behind<'_>, measured: Option<&Measured>) -> String {
    let variants: Vec<&str> = one
        .run
        .variants()
        .filter(|name| *name != one.base)
        .collect();
    let header: Vec<_> = std::iter::once(("WORKLOAD", Align::Left))
        .chain(variants.iter().map(|name| (*name, Align::Right)))
        .collect();
    let own = measured.and_then(|measured| measured.only(&one.run.name));
    let mut table = Cells::new(&header);
    let each = one.workloads.iter().map(|name| (*name, vec![*name]));
    let mean = (one.mean, one.workloads.clone());
    for (name, workloads) in each.chain([mean]) {
        let place = (one.figure, &workloads[..]);
        let cells = variants.iter().map(|variant| {
            let own = own.as_ref();
            let (over, under) = ((*variant, one.at), (one.base, one.at));
            let found = own.and_then(|own| ratio(own, place, over, under));
            value(&found.map_or(Value::None, Value::Ratio))
        });
        let row: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
        table.row(&row);
    }
    let (noun, at) = (one.figure.noun(), one.figure.at(one.at));
    let run = &one.run.name;
    let head = format!("{run}: {noun}, {at}, as multiples of `{}`:", one.base);
    format!("{head}\n\n{}", table.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{self, Manifest};
    use crate::measured;
    use crate::published::{self, Published};

    fn published() -> Published {
        published::parse(
            "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: Clang, here: [clang]}, {name: Wasm, here: [wasm]}]
  means: [{name: both kernels, of: [gemm, lu]}]
  lessons: {right: [], harness: [], avoid: []}
  tables:
  - {source: F2, figure: warmP50, workload: both kernels, unit: percentMoreThanBase, base: Clang,
     points: [{at: 1, values: {Wasm: [0, 20]}}]}
  - {source: F1, figure: warmP50, workload: gemm, unit: percentMoreThanBase, base: Clang, points: [{at: 1, values: {Wasm: 220}}]}
  why: []
",
        )
        .unwrap()
    }

    fn manifest() -> Manifest {
        let run = |name: &str, workloads: &str| {
            format!(
                "apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {{name: {name}}}
spec:
  variants: [{{name: clang, preset: native}}, {{name: wasm, preset: wasmtime-embedded}}]
  workloads: {workloads}
  sweeps: {{warmLatency: {{}}}}
"
            )
        };
        let all = [
            run("all", "[{name: gemm}, {name: lu}]"),
            run("few", "[{name: gemm}]"),
        ];
        manifest::parse(&all.join("---\n")).unwrap()
    }

    #[test]
    fn a_run_with_all_workloads_of_a_mean_has_a_row_of_each_and_of_the_mean() {
        let (published, manifest) = (published(), manifest());
        let ours = Ours {
            measured: None,
            manifest: &manifest,
        };
        let text = section(&published.studies[0], ours);
        assert!(
            text.contains("all: warm p50, 1 conn, as multiples of `clang`:"),
            "{text}"
        );
        assert!(!text.contains("few: "), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.ends_with("- |")).collect();
        let names: Vec<_> = rows.iter().map(|row| row.split('|').nth(1)).collect();
        assert_eq!(
            names,
            [
                Some(" gemm         "),
                Some(" lu           "),
                Some(" both kernels ")
            ]
        );
    }

    #[test]
    fn a_cell_is_the_ratio_of_its_workload_in_its_run() {
        let point = |kernel: &str, variant: &str, value: f64| {
            format!(
                r#"{{"figure": "warmP50", "workload": "{kernel}", "at": 1, "variant": "{variant}", "values": {{"1": {value}}}}}"#
            )
        };
        let points = [
            point("gemm", "clang", 10.0),
            point("lu", "clang", 10.0),
            point("gemm", "wasm", 40.0),
            point("lu", "wasm", 10.0),
        ];
        let text = format!(
            r#"{{"schema": "wasmbench.dev/studies/v2", "runs": {{"all": {{"length": "full", "node": {{}}, "blocks": 1,
            "doubts": [], "points": [{}], "without": []}}}}}}"#,
            points.join(", ")
        );
        let measured = measured::parse(&text).unwrap();
        let (published, manifest) = (published(), manifest());
        let ours = Ours {
            measured: Some(&measured),
            manifest: &manifest,
        };
        let text = section(&published.studies[0], ours);
        for row in [
            "gemm         | 4.00x |",
            "lu           | 1.00x |",
            "both kernels | 2.00x |",
        ] {
            assert!(text.contains(row), "{row}: {text}");
        }
    }
}
