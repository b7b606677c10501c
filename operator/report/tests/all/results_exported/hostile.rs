//! Names and messages that have a meaning in a format but must be treated as plain text.

use proptest::prelude::*;
use roxmltree::Document;
use serde_json::json;
use wasmbench_model::wire::record::Point;
use wasmbench_report::export::github::github;
use wasmbench_report::export::junit::junit;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};

use super::support::expecting;
use crate::results_support::{failed, measured, record, run, trials};

/// Strings that are most likely to break something, and arbitrary ones.
fn hostile() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "\"/><failure message='x'/>",
        "]]>&amp;<![CDATA[",
        "a b\tc\nd",
        "x-8",
        "</code>\n# Evil\n| @all | #1 | [x](http://example.org)",
        "\u{0}\u{1b}\u{202e}\u{fffe}",
        "",
    ]);
    prop_oneof![known.prop_map(str::to_owned), any::<String>()]
}

/// A run with such names in which a variant failed with such a message.
fn summary(names: &[String]) -> Summary {
    let mut run: RunInput = run();
    run.spec.blocks = 2;
    // The prefixes keep the names distinct.
    run.name = format!("a{}", names[0]);
    run.namespace = format!("b{}", names[1]);
    run.spec.variants[1].name = format!("c{}", names[2]);
    run.spec.workloads[0].name = format!("d{}", names[3]);
    let variant = run.spec.variants[1].name.clone();
    let workload = run.spec.workloads[0].name.clone();
    expecting(
        &mut run,
        &json!([{"name": names[4], "metric": "warmP50", "variant": variant, "workload": workload, "atMost": "2"}]),
    );
    let all = trials(&run).into_iter().zip(0..);
    let records: Vec<_> = all
        .map(|(trial, position)| {
            if trial.cell.point == Point::WarmLatency && trial.cell.workload == "compute" {
                record(trial, position, failed("Hostile", &names[5]), None)
            } else {
                measured(trial, position)
            }
        })
        .collect();
    summarize(&run, &records)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_format_is_well_formed_whatever_the_names_are(
        names in prop::collection::vec(hostile(), 6)
    ) {
        let summary = summary(&names);

        let xml = junit(&summary);
        let document = Document::parse(&xml).unwrap();
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        // Trust, the expectation, and the warm latency and the load of two workloads.
        prop_assert_eq!(cases.count(), 5);

        let markdown = github(&summary, None);
        prop_assert!(markdown.is_ascii());
        let mentions = markdown.matches('@').count();
        prop_assert_eq!(markdown.matches("@<!-- -->").count(), mentions);
        let own = markdown.replace("<!-- -->", "").replace("<code>", "").replacen("</code>", "", 1);
        prop_assert!(!own.contains('<'), "{}", markdown);
        prop_assert_eq!(markdown.lines().filter(|line| line.starts_with("# ")).count(), 0);
    }
}
