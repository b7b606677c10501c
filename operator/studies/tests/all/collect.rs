//! From the `summary.json` of a run to a table: the table shows what the report has.

use std::path::Path;

use wasmbench_model::wire::record::Point;
use wasmbench_report::json::pretty;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};
use wasmbench_studies::compared::{Value, rows};
use wasmbench_studies::figure::Figure;
use wasmbench_studies::manifest::Manifest;
use wasmbench_studies::measured::{self, Length, Measured};
use wasmbench_studies::published::{self, Published};
use wasmbench_studies::values::Values;
use wasmbench_studies::{Ours, page, terminal};

/// A summary that the core's own tests agree on.
fn summary(snapshot: &str) -> Summary {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/all");
    let text = std::fs::read_to_string(folder.join(format!("{snapshot}.snap"))).unwrap();
    let json = text.splitn(3, "---\n").nth(2).unwrap();
    serde_json::from_str(json).unwrap()
}

fn loads() -> Summary {
    summary("snapshots/all__results_golden__summary_json_of_a_mixed_run")
}

fn starts() -> Summary {
    summary("results_coldstart/snapshots/all__results_coldstart__report__cold-start-summary")
}

fn measured() -> Measured {
    measured::from_summaries(Length::Short, &[loads(), starts()])
}

fn published() -> Published {
    published::parse(
        "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: bare, here: [native]}, {name: wasm, here: [embedded]}, {name: shim, here: [shim]}]
  tables:
  - {source: T1, figure: throughput, workload: hello, unit: requestsPerSecond, base: bare, points: [
      {at: 10, values: {bare: 8, wasm: 4, shim: 2}}, {at: 50, values: {bare: 8, wasm: 1, shim: 2}}]}
  - {source: T2, figure: ready, workload: greet, unit: milliseconds, base: bare,
     here: {bare: [tortoise], wasm: [hare]}, points: [{at: 4, values: {bare: 1, wasm: 2}}]}
  lessons: {right: [fair], harness: [slow], avoid: [guesses]}
  why: [{text: 'a <b>reason</b>'}]
",
    )
    .unwrap()
}

#[test]
fn the_ratio_of_a_row_is_that_of_the_report() {
    let (published, measured, loads) = (published(), measured(), loads());
    let rows = rows(&published.studies[0], Some(&measured));
    let wanted = loads.comparisons.iter().find(|c| {
        c.variant == "embedded" && c.workload == "hello" && c.metric == Metric::ThroughputRps
    });
    let wanted = wanted.unwrap();
    let connections = match wanted.point {
        Point::Throughput { connections } => Some(connections),
        Point::ColdStart { .. }
        | Point::WarmLatency
        | Point::OpenLoop { .. }
        | Point::Capacity
        | Point::Payload
        | Point::Density
        | Point::Scout => None,
    };
    let found = rows.iter().find(|row| {
        row.figure == Figure::Throughput && row.here == Some("embedded") && row.at == connections
    });
    let Value::Ratio(found) = &found.unwrap().measured else {
        panic!("no ratio: {rows:#?}")
    };
    let close = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 1e-4;
    assert!(
        close(found.ratio, wanted.estimate.ratio),
        "{found:?} {wanted:?}"
    );
    let (low, high) = found.interval.unwrap();
    let wanted = wanted.estimate.ends().unwrap();
    assert!(close(low, wanted.0) && close(high, wanted.1));
}

#[test]
fn a_run_has_the_fewest_blocks_of_what_it_was_to_decide_not_those_of_its_plan() {
    let all = loads().compared.blocks;
    assert!(all > 1);
    let with_one_block = |primary: bool| {
        let mut summary = loads();
        let mut comparisons = summary.comparisons.iter_mut();
        let one = comparisons.find(|one| one.primary == primary).unwrap();
        one.estimate.blocks = 1;
        let measured = measured::from_summaries(Length::Full, &[summary]);
        measured.runs.into_values().next().unwrap().blocks
    };
    assert_eq!((with_one_block(true), with_one_block(false)), (1, all));
}

/// Whether the throughput and the memory of `embedded` are doubted, as multiples of native's.
fn doubted(run: &Summary) -> [Option<bool>; 2] {
    let measured = measured::from_summaries(Length::Full, std::slice::from_ref(run));
    [Figure::Throughput, Figure::Memory].map(|figure| {
        let values = Values::under(&["hello"], figure, Some(&measured));
        let ratio = values.ratio("embedded", (&values, "native"), Some(50));
        ratio.map(|ratio| ratio.is_doubted)
    })
}

#[test]
fn a_doubt_about_one_ratio_leaves_others_of_the_run_trusted() {
    let mut run = loads();
    assert_eq!(doubted(&run), [Some(false), Some(false)]);
    run.doubts[0].breaks_trust = true;
    run.doubts[0].reason = Reason::NodeNoisy;
    assert_eq!(
        doubted(&run),
        [Some(true), Some(true)],
        "no point lists the reason, so it concerns all of them"
    );
    let mut comparisons = run.comparisons.iter_mut();
    let one = comparisons.find(|c| c.workload == "hello" && c.metric == Metric::ThroughputRps);
    one.unwrap().untrusted = vec![Reason::NodeNoisy];
    assert_eq!(doubted(&run), [Some(true), Some(false)]);
}

/// At how many connections the memory of native is kept under `hello`.
fn connections_with_memory(run: &Summary) -> Vec<u32> {
    let measured = measured::from_summaries(Length::Full, std::slice::from_ref(run));
    let points = measured.runs.values().flat_map(|run| &run.points);
    points
        .filter(|point| point.figure == Figure::Memory)
        .filter(|point| point.variant == "native" && point.workload == "hello")
        .map(|point| point.at)
        .collect()
}

#[test]
fn a_run_without_a_throughput_sweep_has_the_memory_of_its_warm_load() {
    let mut run = loads();
    assert_eq!(connections_with_memory(&run), [10, 50]);
    run.cells
        .retain(|cell| cell.detail.sweep == Sweep::WarmLatency);
    assert_eq!(connections_with_memory(&run), [1]);
}

#[test]
fn a_cold_start_is_compared_until_it_listens() {
    let (published, measured, starts) = (published(), measured(), starts());
    let rows = rows(&published.studies[0], Some(&measured));
    let row = rows.iter().find(|row| row.here == Some("hare")).unwrap();
    let cell = starts
        .cold_starts
        .iter()
        .find(|cell| cell.variant == "hare" && cell.detail.concurrency == 4)
        .unwrap();
    let wanted = starts.comparison(cell.any(), Metric::ColdStartListening);
    let wanted = wanted.unwrap().estimate.ratio;
    let Value::Ratio(found) = &row.measured else {
        panic!("no ratio: {row:#?}")
    };
    assert!(
        (found.ratio / wanted - 1.0).abs() < 1e-3,
        "{found:?} {wanted}"
    );
}

#[test]
fn a_point_that_is_not_ranked_has_a_reason_instead_of_a_number() {
    let (published, measured) = (published(), measured());
    let rows = rows(&published.studies[0], Some(&measured));
    let at_10 = |variant: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row.here == Some(variant) && row.at == Some(10))
    };
    assert_eq!(at_10("embedded").unwrap().measured, Value::None);
    assert_eq!(at_10("shim").unwrap().measured, Value::None);
    let ours = Ours {
        measured: Some(&measured),
        manifest: &Manifest::default(),
    };
    let text = terminal::text(&published.studies[0], ours);
    assert!(
        text.contains("embedded: ErrorsInLoad at embedded on hello at 10"),
        "{text}"
    );
    assert!(
        text.contains("shim: RuntimeClassNotFound: no such"),
        "{text}"
    );
    assert!(!text.contains("not trustworthy"), "{text}");
    assert!(text.is_ascii(), "{text}");
}

#[test]
fn text_from_a_run_is_escaped_on_the_page() {
    let (published, measured) = (published(), measured());
    let ours = Ours {
        measured: Some(&measured),
        manifest: &Manifest::default(),
    };
    let pages = page::pages(&published, |_| ours);
    let mut lines = pages.iter().flat_map(|page| page.text.lines());
    let row = lines.find(|line| line.contains("RuntimeClassNotFound"));
    assert!(!row.unwrap().contains("<b>"), "{row:?}");
}

#[test]
fn a_stored_measurement_reads_back_and_stays_small() {
    let kept = pretty(&measured()).unwrap();
    assert_eq!(measured::parse(&kept).unwrap(), measured());
    assert!(kept.len() < 20_000, "{}", kept.len());
    let old = kept.replace("studies/v2", "studies/v1");
    assert!(measured::parse(&old).unwrap_err().contains("measure again"));
}
