//! The Markdown of a job summary.

use wasmbench_report::across::Versus;
use wasmbench_report::export::github::github;
use wasmbench_results::summary::collect::summarize;

use super::support::{mixed, nothing, untrusted};
use crate::results_support::{all_measured, run, slow};

#[test]
fn github_of_a_mixed_run() {
    insta::assert_snapshot!(github(&mixed(), None));
}

#[test]
fn github_of_a_run_that_is_not_trustworthy() {
    insta::assert_snapshot!(github(&untrusted(), None));
}

#[test]
fn github_of_a_run_without_records() {
    insta::assert_snapshot!(github(&nothing(), None));
}

/// The run compared with a version of it that is a third slower in one variant.
#[test]
fn github_of_a_run_that_is_compared_with_an_earlier_one() {
    let run = run();
    let before = summarize(&run, &all_measured(&run));
    let mut records = all_measured(&run);
    slow(&mut records, |trial| {
        (trial.cell.variant == "embedded").then_some(1.3)
    });
    let after = summarize(&run, &records);
    let versus = Versus::new("before", Ok((&run.spec, &before)), (&run.spec, &after));
    insta::assert_snapshot!(github(&after, Some(&versus)));
}

#[test]
fn a_run_that_could_not_be_compared_reports_why() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let versus = Versus::new(
        "before",
        Err("it is gone".to_owned()),
        (&run.spec, &summary),
    );
    let text = github(&summary, Some(&versus));
    assert!(
        text.contains("\nNot compared with before: it is gone.\n"),
        "{text}"
    );
}

#[test]
fn names_with_at_and_hash_signs_mention_nobody_and_link_no_issue() {
    let text = github(&mixed(), None);
    assert!(
        text.contains("ask @<!-- -->admins, see #<!-- -->1"),
        "{text}"
    );
}
