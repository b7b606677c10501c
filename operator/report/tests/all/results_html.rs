//! `report.html`: well-formed, complete, and nothing outside its plots.

use std::collections::BTreeSet;

use proptest::prelude::*;
use roxmltree::{Document, Node, ParsingOptions};
use serde_json::json;
use wasmbench_model::wire::record::{Outcome, Point, Record, TrialId};
use wasmbench_report::html::report_html;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};

use crate::results_support::{
    self, add_shim, all_measured, failed, fortio, measured, record, replace, run, run_with,
    shim_cannot_start, trials,
};

const ROOM: usize = 400_000;

/// A page, parsed as the XML that it also is.
fn parsed(html: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(html, options).unwrap()
}

fn with_class<'a, 'i>(
    document: &'a Document<'i>,
    class: &'a str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    let has = move |node: &Node<'_, '_>| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|c| c == class)
    };
    document.descendants().filter(has)
}

/// A run with a twin in which one trial had errors and one variant could not be started.
fn mixed() -> (RunInput, Vec<Record>) {
    let mut run = run();
    run.spec.noise_floor = Some(true);
    add_shim(&mut run);
    let mut records = all_measured(&run);
    let errors = |t: &TrialId| {
        t.cell.variant == "embedded"
            && t.cell.point == Point::Throughput { connections: 10 }
            && t.block == 3
    };
    replace(&mut records, errors, |t, position| {
        record(t, position, Outcome::Measured, Some(fortio("errors")))
    });
    let hostile = "no class '<b>wasm</b>' & \u{2192} <script>alert(1)</script>";
    shim_cannot_start(&mut records, hostile);
    (run, records)
}

fn mixed_summary() -> Summary {
    let (run, records) = mixed();
    summarize(&run, &records)
}

#[test]
fn report_html_of_a_mixed_run() {
    insta::assert_snapshot!(report_html(&mixed_summary(), ROOM));
}

/// To look at the page: `WRITE_HTML=/tmp/report.html cargo test -p wasmbench-report --test all
/// results_html::`.
#[test]
fn the_page_can_be_looked_at() {
    if let Ok(path) = std::env::var("WRITE_HTML") {
        std::fs::write(path, report_html(&mixed_summary(), ROOM)).unwrap();
    }
}

#[test]
fn every_trial_with_a_number_is_a_point_of_each_of_its_plots() {
    let summary = mixed_summary();
    let html = report_html(&summary, ROOM);
    let document = parsed(&html);
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/1999/xhtml", "title")))
        .filter_map(|node| node.text())
        .collect();
    let mut trials = 0;
    for cell in &summary.cells {
        for trial in cell
            .detail
            .trials
            .iter()
            .filter(|t| t.metrics.rps.is_some())
        {
            trials += 1;
            let label = format!(
                "{}, block {} (trial {})",
                cell.variant,
                trial.block,
                trial.position + 1
            );
            let points = titles
                .iter()
                .filter(|title| title.starts_with(&label))
                .count();
            // Rate, p50, p99, CPU and memory under load; only the last four for warm latency.
            assert!(points == 5 || points == 4, "{label}: {points}");
        }
    }
    assert!(trials > 40, "only {trials} trials");
}

#[test]
fn a_trial_that_does_not_count_is_crossed_and_names_its_reason() {
    let html = report_html(&mixed_summary(), ROOM);
    let document = parsed(&html);
    let crossed: Vec<_> = with_class(&document, "out").collect();
    assert_eq!(
        crossed.len(),
        2 * 5 * 5,
        "two workloads with five plots under load: its trial, and the others of its point"
    );
    for node in crossed {
        let title = node.first_element_child().and_then(|title| title.text());
        assert!(
            title.unwrap().contains("invalid: ErrorsInLoad"),
            "{title:?}"
        );
    }
    assert!(html.contains("5 trials without this number: RuntimeClassNotFound"));
}

#[test]
fn the_page_contains_no_scripts_and_no_external_resources() {
    let html = report_html(&mixed_summary(), ROOM);
    let document = parsed(&html);
    for node in document.descendants().filter(Node::is_element) {
        assert!(
            !["script", "img", "link", "iframe", "object", "image", "use"]
                .contains(&node.tag_name().name())
        );
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"), "{attribute:?}");
            assert!(
                !["href", "src", "style"].contains(&attribute.name()),
                "{attribute:?}"
            );
        }
    }
    assert!(html.is_ascii());
}

#[test]
fn every_plot_has_a_name_and_a_description_of_its_own() {
    let html = report_html(&mixed_summary(), ROOM);
    let document = parsed(&html);
    let ids: Vec<&str> = document
        .descendants()
        .filter_map(|n| n.attribute("id"))
        .collect();
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "{ids:?}"
    );
    let plots: Vec<_> = document
        .descendants()
        .filter(|node| node.attribute("role") == Some("img"))
        .collect();
    assert!(!plots.is_empty());
    for plot in plots {
        let names: Vec<&str> = plot
            .attribute("aria-labelledby")
            .unwrap()
            .split(' ')
            .collect();
        assert!(names.iter().all(|name| ids.contains(name)), "{names:?}");
    }
}

/// The corners of elements that lie outside their plot. Asserts that a page with plots has corners.
fn outside(html: &str) -> Vec<String> {
    let document = parsed(html);
    let (mut found, mut looked_at) = (vec![], 0);
    for plot in document
        .descendants()
        .filter(|n| n.attribute("role") == Some("img"))
    {
        let size: Vec<f64> = plot
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        let inside = |x: f64, y: f64| (0.0..=size[2]).contains(&x) && (0.0..=size[3]).contains(&y);
        for node in plot.descendants().filter(Node::is_element) {
            let number = |name| {
                node.attribute(name)
                    .and_then(|n: &str| n.parse::<f64>().ok())
            };
            let mut corners = vec![];
            if let (Some(x), Some(y)) = (number("x"), number("y")) {
                let (width, height) = (
                    number("width").unwrap_or(0.0),
                    number("height").unwrap_or(0.0),
                );
                corners.extend([(x, y), (x + width, y + height)]);
            }
            if let Some(path) = node.attribute("d") {
                corners.extend(absolute_points(path));
            }
            looked_at += corners.len();
            for (x, y) in corners {
                if !inside(x, y) {
                    found.push(format!("{x} {y} in {node:?}"));
                }
            }
        }
    }
    assert_eq!(looked_at > 0, html.contains(r#"role="img""#), "no corners");
    found
}

/// The points after `M` and `L` in a path.
fn absolute_points(path: &str) -> Vec<(f64, f64)> {
    let parts = path.split(['M', 'L']).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let numbers: Vec<f64> = part
                .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
                .filter(|number| !number.is_empty())
                .take(2)
                .map(|number| number.parse().unwrap())
                .collect();
            (numbers[0], numbers[1])
        })
        .collect()
}

#[test]
fn a_run_without_records_is_a_page_too() {
    let html = report_html(&summarize(&run(), &[]), ROOM);
    assert!(
        parsed(&html)
            .root_element()
            .has_tag_name(("http://www.w3.org/1999/xhtml", "html"))
    );
    assert!(html.contains("5 trials without this number: no record"));
    assert_eq!(outside(&html), Vec::<String>::new());
}

/// Two workloads, eight variants with the longest names, 12 blocks.
fn large() -> Summary {
    let name = |kind: &str, i: usize| format!("{kind}{i:0>39}");
    let variants: Vec<_> = (0..8)
        .map(|i| json!({"name": name("v", i), "container": {"image": "i".repeat(500)}}))
        .collect();
    let workloads: Vec<_> = (0..2)
        .map(|i| json!({"name": name("w", i), "path": "/"}))
        .collect();
    let run = run_with(json!({
        "blocks": 12, "variants": variants, "workloads": workloads,
        "sweeps": {"warmLatency": {}, "throughput": {"connections": [1, 10, 1500, 2000]}},
    }));
    let all = trials(&run).into_iter().zip(0..);
    let records: Vec<Record> = all
        .map(|(trial, position)| measured(trial, position))
        .collect();
    summarize(&run, &records)
}

#[test]
fn a_page_stays_within_its_size_limit_and_names_what_it_leaves_out() {
    let summary = large();
    let mut lengths = vec![];
    for (room, expected) in [
        (5_000_000, "<h2>"),
        (300_000, "points have no labels"),
        (210_000, "too large for a point per trial"),
        (130_000, "1 more workload(s) are only in report.md"),
        (60_000, "2 more workload(s) are only in report.md"),
    ] {
        let html = report_html(&summary, room);
        lengths.push(html.len());
        assert!(html.len() <= room, "{lengths:?} of {room} bytes");
        assert!(html.contains(expected), "{lengths:?}, {room}: {expected}");
        assert_eq!(outside(&html), Vec::<String>::new());
    }
    assert!(
        lengths.windows(2).all(|pair| pair[0] > pair[1]),
        "{lengths:?}"
    );
}

/// The possible fates of a trial: how much slower it is, or that it has errors, fails or is
/// missing.
fn fates() -> impl Strategy<Value = Vec<Option<f64>>> {
    prop::collection::vec(prop::option::weighted(0.8, 1e-3..1e3), 60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_run_gives_a_page_with_everything_inside_its_plots(fates in fates()) {
        let run = run();
        let all = trials(&run).into_iter().zip(0..).zip(fates);
        let records: Vec<Record> = all
            .filter_map(|((trial, position), fate)| match fate {
                Some(factor) if position % 7 == 0 => {
                    let window = results_support::slower(fortio("errors"), factor);
                    Some(record(trial, position, Outcome::Measured, Some(window)))
                }
                Some(factor) => {
                    let window = results_support::slower(fortio("ok"), factor);
                    Some(record(trial, position, Outcome::Measured, Some(window)))
                }
                None if position % 2 == 0 => Some(record(trial, position, failed("Gone", "<"), None)),
                None => None,
            })
            .collect();
        let html = report_html(&summarize(&run, &records), ROOM);
        prop_assert_eq!(outside(&html), Vec::<String>::new());
        prop_assert!(html.len() <= ROOM);
    }
}
