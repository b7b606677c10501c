//! JUnit XML.

use roxmltree::{Document, Node};
use wasmbench_report::export::junit::junit;
use wasmbench_results::summary::Summary;

use super::support::{mixed, nothing, untrusted, with_a_lost_trial, with_blocks};
use crate::results_support::all_measured;

#[test]
fn junit_of_a_mixed_run() {
    insta::assert_snapshot!(junit(&mixed()));
}

#[test]
fn junit_of_a_run_that_is_not_trustworthy() {
    insta::assert_snapshot!(junit(&untrusted()));
}

#[test]
fn junit_of_a_run_without_records() {
    insta::assert_snapshot!(junit(&nothing()));
}

/// The elements within the test cases of a group, each with the name of its case.
fn outcomes(summary: &Summary, class: &str) -> Vec<(String, String)> {
    let text = junit(summary);
    let document = Document::parse(&text).unwrap();
    let cases = document.descendants().filter(|node| {
        let its = node.attribute("classname").unwrap_or_default();
        its.ends_with(&format!(".{class}"))
    });
    let outcome = |case: Node<'_, '_>| {
        let element = case.first_element_child().unwrap();
        (
            case.attribute("name").unwrap().to_owned(),
            element.tag_name().name().to_owned(),
        )
    };
    cases.map(outcome).collect()
}

#[test]
fn the_counts_of_a_suite_are_those_of_its_cases() {
    for summary in [mixed(), untrusted(), nothing()] {
        let text = junit(&summary);
        let document = Document::parse(&text).unwrap();
        let elements = document.descendants().filter(Node::is_element);
        let count = |name: &str| {
            let all = elements.clone();
            all.filter(|node| node.tag_name().name() == name)
                .count()
                .to_string()
        };
        let suite = elements
            .clone()
            .find(|node| node.has_tag_name("testsuite"))
            .unwrap();
        for (attribute, element) in [
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ] {
            assert_eq!(
                suite.attribute(attribute),
                Some(count(element).as_str()),
                "{attribute}"
            );
        }
    }
}

#[test]
fn a_run_without_expectations_has_cases() {
    let run = crate::results_support::run();
    let summary = wasmbench_results::summary::collect::summarize(&run, &all_measured(&run));
    assert_eq!(outcomes(&summary, "expectations"), []);
    assert_eq!(outcomes(&summary, "trust").len(), 1);
    let compared = outcomes(&summary, "comparisons");
    assert_eq!(compared.len(), 4);
    assert!(
        compared.iter().all(|(_, outcome)| outcome == "system-out"),
        "{compared:?}"
    );
}

#[test]
fn an_expectation_that_is_not_met_or_undecided_fails_even_where_nothing_is_trusted() {
    for summary in [mixed(), untrusted()] {
        let found = outcomes(&summary, "expectations");
        let failed: Vec<&str> = found
            .iter()
            .filter(|(_, outcome)| outcome == "failure")
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(failed, ["at-most-a-half-more", "shim-at-most-double"]);
    }
}

#[test]
fn nothing_passes_where_nothing_is_trusted() {
    for class in ["trust", "expectations", "comparisons"] {
        let found = outcomes(&untrusted(), class);
        assert!(!found.is_empty());
        assert!(
            found.iter().all(|(_, outcome)| outcome != "system-out"),
            "{found:?}"
        );
    }
}

#[test]
fn a_comparison_that_is_not_trusted_is_skipped_and_the_others_pass() {
    let found = outcomes(&with_a_lost_trial(), "comparisons");
    let skipped: Vec<&str> = found
        .iter()
        .filter(|(_, outcome)| outcome == "skipped")
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        skipped,
        ["warm p50 latency of embedded on hello versus native"]
    );
    assert_eq!(found.len(), 4);
}

#[test]
fn a_variant_without_a_comparison_is_a_skipped_case() {
    let run = with_blocks(5);
    let summary =
        wasmbench_results::summary::collect::summarize(&run, &super::support::records(&run));
    let found = outcomes(&summary, "comparisons");
    for name in ["shim on hello", "shim on compute"] {
        assert!(
            found.contains(&(name.to_owned(), "skipped".to_owned())),
            "{found:?}"
        );
    }
}
