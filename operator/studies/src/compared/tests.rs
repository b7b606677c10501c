//! Rows of small studies.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::measured::{self, Length, Run};
use crate::published::{self, Published};

fn published() -> Published {
    published::parse(
        "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: bare, here: [native]}, {name: wasm, here: [shim, other]}, {name: lost, absent: none yet}]
  lessons: {right: [], harness: [], avoid: []}
  tables:
  - {source: T1, figure: throughput, workload: hello, unit: requestsPerSecond, base: bare, shown: 100, points: [
      {at: 10, values: {bare: 400, wasm: 100, lost: 200}}, {at: 100, values: {bare: 500, wasm: 50, lost: 100}}]}
  - {source: T2, figure: throughput, workload: hello, unit: percentOfBase, base: bare, points: [{values: {wasm: 80}}]}
  why:
  - {figures: [memory], text: not about this}
  - {variants: [wasm], workloads: [hello], from: 10, text: about this}
  - {workloads: [other], text: about another workload}
  - {from: 50, text: about more connections}
",
    )
    .unwrap()
}

fn measured(values: &[(&str, u32, &[f64])]) -> Measured {
    let mut found = measured::from_summaries(Length::Short, &[]);
    let point = |(variant, at, values): &(&str, u32, &[f64])| measured::Point {
        figure: Figure::Throughput,
        workload: "hello".into(),
        at: *at,
        variant: (*variant).into(),
        values: (1..)
            .zip(values.iter().copied())
            .collect::<BTreeMap<_, _>>(),
        doubts: BTreeSet::new(),
    };
    let run = Run {
        length: Length::Short,
        node: BTreeMap::new(),
        blocks: 2,
        doubts: BTreeSet::new(),
        points: values.iter().map(point).collect(),
        without: vec![],
    };
    found.runs.insert("one".into(), run);
    found
}

fn ratio(value: &Value) -> f64 {
    match value {
        Value::Ratio(found) => found.ratio,
        Value::Base(_) | Value::Range(..) | Value::None => panic!("no ratio: {value:?}"),
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-9
}

#[test]
fn without_a_measurement_the_documents_ratios_stand_alone() {
    let published = published();
    let rows = rows(&published.studies[0], None);
    let first: Vec<_> = rows.iter().filter(|row| row.at == Some(100)).collect();
    assert_eq!(
        rows.len(),
        first.len() + 3,
        "the second table has a base and two variants"
    );
    let names: Vec<_> = first.iter().map(|row| (row.here, row.there)).collect();
    assert_eq!(
        names,
        [
            (Some("native"), Some("bare")),
            (Some("shim"), Some("wasm")),
            (Some("other"), Some("wasm")),
            (None, Some("lost")),
        ]
    );
    assert_eq!(first[0].published, Value::Base("500/s".into()));
    assert!(close(ratio(&first[1].published), 0.1));
    assert!(close(ratio(&first[3].published), 0.2));
    assert!(
        rows.iter()
            .all(|row| row.factor().is_none() && row.why.is_empty())
    );
}

#[test]
fn a_measured_ratio_is_paired_within_blocks_at_the_documents_point() {
    let measured = measured(&[
        ("native", 10, &[100.0, 200.0]),
        ("shim", 10, &[90.0, 180.0]),
        ("extra", 10, &[50.0, 100.0]),
    ]);
    let published = published();
    let rows = rows(&published.studies[0], Some(&measured));
    let rows: Vec<_> = rows.iter().filter(|row| row.at == Some(10)).collect();
    assert_eq!(rows[0].measured, Value::Base("150/s".into()));
    assert!(close(ratio(&rows[1].measured), 0.9));
    assert!(close(rows[1].factor().unwrap(), 3.6));
    let why: Vec<String> = rows[1].why.iter().map(ToString::to_string).collect();
    assert_eq!(
        why,
        ["2?"],
        "the one about this variant, which no run tests"
    );
    assert_eq!(
        rows[2].measured,
        Value::None,
        "stands for something, was not measured"
    );
    let last = rows.last().unwrap();
    assert_eq!(
        (last.here, last.there),
        (Some("extra"), None),
        "not in the document"
    );
    assert!(close(ratio(&last.measured), 0.5));
}

#[test]
fn a_ratio_of_a_doubted_run_is_marked() {
    let mut found = measured(&[("native", 10, &[100.0, 100.0]), ("shim", 10, &[50.0, 50.0])]);
    let figure = (Figure::Throughput, &["hello"][..]);
    let shown = |found: &Measured| {
        let found = super::ratio(found, figure, ("shim", 10), ("native", 10)).unwrap();
        crate::terminal::value(&Value::Ratio(found))
    };
    assert_eq!(shown(&found), "0.50x (0.50-0.50)");
    let run = found.runs.get_mut("one").unwrap();
    run.doubts.insert("NodeNoisy".into());
    assert_eq!(shown(&found), "0.50x (0.50-0.50)*");
}

#[test]
fn one_point_is_divided_by_another_within_blocks() {
    let found = measured(&[("shim", 10, &[100.0, 200.0]), ("shim", 100, &[50.0, 100.0])]);
    let figure = (Figure::Throughput, &["hello"][..]);
    let at = |over, under| super::ratio(&found, figure, ("shim", over), ("shim", under));
    assert!(close(at(100, 10).unwrap().ratio, 0.5));
    assert_eq!(at(100, 50), None);
}

#[test]
fn a_variant_that_was_to_be_measured_at_other_points_only_has_no_row() {
    let mut found = measured(&[
        ("native", 10, &[1e3, 1e3]),
        ("shim", 10, &[500.0, 500.0]),
        ("other", 10, &[500.0, 500.0]),
        ("native", 100, &[1e3, 1e3]),
        ("shim", 100, &[500.0, 500.0]),
    ]);
    let at_100 = |found: &Measured| {
        let published = published();
        let rows = rows(&published.studies[0], Some(found));
        rows.iter()
            .filter(|row| row.at == Some(100))
            .filter(|row| row.there == Some("wasm"))
            .map(|row| row.here.unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(at_100(&found), ["shim"]);
    // It was to be measured there, and the page has the reason.
    let run = found.runs.get_mut("one").unwrap();
    run.without.push(measured::Without {
        variant: "other".into(),
        reason: "ErrorsInLoad".into(),
    });
    assert_eq!(at_100(&found), ["shim", "other"]);
}

#[test]
fn a_variant_without_a_published_value_of_this_figure_is_shown() {
    let measured = measured(&[("native", 10, &[100.0]), ("shim", 10, &[50.0])]);
    let mut published = published();
    let study = &mut published.studies[0];
    study.tables.truncate(1);
    for point in &mut study.tables[0].points {
        point.values.remove("wasm");
    }
    let rows = rows(study, Some(&measured));
    let shim = rows.iter().find(|row| row.here == Some("shim")).unwrap();
    assert_eq!((shim.there, shim.at), (None, Some(10)));
    assert!(close(ratio(&shim.measured), 0.5));
}

#[test]
fn a_published_ratio_is_outside_an_interval_that_does_not_hold_it() {
    let outside = |shim: &[f64]| {
        let measured = measured(&[("native", 10, &[1e3, 1e3]), ("shim", 10, shim)]);
        let published = published();
        let rows = rows(&published.studies[0], Some(&measured));
        let row = rows.iter().find(|row| row.here == Some("shim")).unwrap();
        row.is_outside()
    };
    // The document has a quarter.
    assert!(!outside(&[240.0, 260.0]));
    assert!(outside(&[300.0, 301.0]));
    assert!(!outside(&[300.0]), "one block has no interval");
}

#[test]
fn a_row_surely_differs_only_with_its_whole_interval() {
    let row = |low: f64, high: f64| {
        let measured = measured(&[("native", 10, &[1e3, 1e3]), ("shim", 10, &[low, high])]);
        let published = published();
        let rows = rows(&published.studies[0], Some(&measured));
        let row = rows.iter().find(|row| row.here == Some("shim")).unwrap();
        (row.differs(), row.surely_differs())
    };
    // The document has a quarter.
    assert_eq!(row(260.0, 270.0), (false, false));
    assert_eq!(row(400.0, 900.0), (true, false));
    assert_eq!(row(890.0, 900.0), (true, true));
}

#[test]
fn a_mean_over_points_is_geometric_and_takes_those_that_both_have() {
    let measured = measured(&[
        ("native", 1, &[100.0]),
        ("native", 2, &[100.0]),
        ("native", 4, &[100.0]),
        ("shim", 1, &[50.0]),
        ("shim", 2, &[200.0]),
    ]);
    let published = published();
    let rows = rows(&published.studies[0], Some(&measured));
    let mean = rows
        .iter()
        .find(|row| row.at.is_none() && row.here == Some("shim"));
    let mean = mean.unwrap();
    assert!(close(ratio(&mean.measured), 1.0));
    assert!(!mean.differs(), "0.8 and 1.0 are near enough");
    let Value::Ratio(found) = &mean.measured else {
        panic!()
    };
    assert_eq!(found.interval, None, "one block has no spread");
}

/// The same under another name, as a run of the whole manifest with more blocks.
fn later(values: &[(&str, u32, &[f64])]) -> Measured {
    let mut found = measured(values);
    let mut run = found.runs.remove("one").unwrap();
    run.length = Length::Full;
    run.blocks = 10;
    found.runs.insert("whole".into(), run);
    found
}

#[test]
fn values_of_two_runs_are_never_divided() {
    let whole = later(&[("native", 10, &[300.0])]);
    let shim_is = |short: Measured| {
        let both = short.and(whole.clone());
        let published = published();
        let rows = rows(&published.studies[0], Some(&both));
        let shim = rows.iter().find(|row| row.here == Some("shim"));
        shim.unwrap().measured.clone()
    };
    let one_run = measured(&[("native", 10, &[100.0]), ("shim", 10, &[50.0])]);
    assert!(
        close(ratio(&shim_is(one_run)), 0.5),
        "of the run that has both"
    );
    let none = measured(&[("shim", 10, &[50.0])]);
    assert_eq!(shim_is(none), Value::None);
}

#[test]
fn a_run_stays_until_others_have_all_its_places() {
    let short = measured(&[("native", 10, &[1.0]), ("native", 100, &[1.0])]);
    let one_more = short.clone().and(later(&[("native", 10, &[2.0])]));
    let names = |measured: &Measured| measured.runs.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one_more), ["one", "whole"]);
    let all = later(&[("native", 10, &[2.0]), ("native", 100, &[2.0])]);
    assert_eq!(names(&short.clone().and(all.clone())), ["whole"]);
    assert_eq!(names(&all.and(short)), ["whole"], "in any order");
}

#[test]
fn without_the_base_nothing_is_compared() {
    let measured = measured(&[("shim", 10, &[90.0])]);
    let published = published();
    let rows = rows(&published.studies[0], Some(&measured));
    assert!(!rows.is_empty());
    assert!(rows.iter().all(|row| row.measured == Value::None));
}

#[test]
fn growth_is_the_ratio_of_each_variant_to_itself_under_another_workload() {
    let text = "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: bare, here: [native]}, {name: wasm, here: [shim]}]
  lessons: {right: [], harness: [], avoid: []}
  tables:
  - {source: T1, figure: memoryPerInstance, workload: large, under: small, unit: timesBase, base: bare,
     points: [{values: {bare: 1.5, wasm: 3}}]}
  why: []
";
    let published = published::parse(text).unwrap();
    let mut measured = measured(&[]);
    let point = |workload: &str, variant: &str, value: f64| measured::Point {
        figure: Figure::MemoryPerInstance,
        workload: workload.into(),
        at: 8,
        variant: variant.into(),
        values: [(1, value), (2, 2.0 * value)].into(),
        doubts: BTreeSet::new(),
    };
    measured.runs.get_mut("one").unwrap().points = vec![
        point("small", "native", 10.0),
        point("large", "native", 11.0),
        point("small", "shim", 1.0),
        point("large", "shim", 4.0),
    ];
    let rows = rows(&published.studies[0], Some(&measured));
    let row = |name| rows.iter().find(|row| row.here == Some(name)).unwrap();
    assert_eq!(row("small").measured, Value::Base("1".into()));
    assert!(close(ratio(&row("native").measured), 1.1));
    assert!(close(ratio(&row("native").published), 1.5));
    assert!(close(ratio(&row("shim").measured), 4.0));
}

#[test]
fn a_published_range_differs_from_what_is_measured_outside_of_it() {
    let factor = |shim: f64| {
        let measured = measured(&[("native", 10, &[100.0, 100.0]), ("shim", 10, &[shim, shim])]);
        let mut published = published();
        let study = &mut published.studies[0];
        let point = &mut study.tables[0].points[0];
        let range = Printed::Range([20.0, 80.0]);
        point.values.insert("wasm".into(), range);
        let rows = rows(study, Some(&measured));
        let row = rows.iter().find(|row| row.here == Some("shim")).unwrap();
        assert_eq!(row.published, Value::Range(0.05, 0.2));
        (row.factor().unwrap(), row.differs(), row.is_outside())
    };
    // The document's base has 400.
    let (inside, low, high) = (factor(10.0), factor(1.0), factor(50.0));
    assert!(close(inside.0, 1.0) && !inside.1 && !inside.2);
    assert!(close(low.0, 0.2) && low.1 && low.2);
    assert!(close(high.0, 2.5) && high.1 && high.2);
}

#[test]
fn a_bar_without_a_number_has_a_row_of_what_was_measured() {
    let measured = measured(&[("native", 10, &[100.0]), ("shim", 10, &[50.0])]);
    let mut published = published();
    let study = &mut published.studies[0];
    let point = &mut study.tables[0].points[0];
    point.values.insert("wasm".into(), Printed::Drawn);
    let rows = rows(study, Some(&measured));
    let row = rows.iter().find(|row| row.here == Some("shim")).unwrap();
    assert_eq!((row.there, &row.published), (Some("wasm"), &Value::None));
    assert!(close(ratio(&row.measured), 0.5));
    assert_eq!(row.factor(), None);
}

#[test]
fn growth_with_connections_is_the_ratio_of_each_variant_to_itself_at_fewer() {
    let text = "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: bare, here: [native]}, {name: wasm, here: [shim]}]
  lessons: {right: [], harness: [], avoid: []}
  tables:
  - {source: F3, figure: throughput, workload: hello, unit: timesBase, base: bare, from: 1,
     points: [{at: 2, values: {bare: ~, wasm: 1.5}}]}
  why: []
";
    let published = published::parse(text).unwrap();
    let measured = measured(&[
        ("native", 1, &[100.0, 100.0]),
        ("native", 2, &[200.0, 200.0]),
        ("shim", 1, &[10.0, 20.0]),
        ("shim", 2, &[15.0, 30.0]),
    ]);
    let rows = rows(&published.studies[0], Some(&measured));
    let places: Vec<_> = rows.iter().map(|row| (row.here, row.at)).collect();
    assert_eq!(
        places,
        [
            (Some("each variant"), Some(1)),
            (Some("native"), Some(2)),
            (Some("shim"), Some(2))
        ]
    );
    assert!(close(ratio(&rows[1].measured), 2.0));
    assert!(close(ratio(&rows[2].measured), 1.5));
}
