//! The first screen of `report.html`: whether the run decides, what was found, what to do next.

use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_report::html::report_html;
use wasmbench_results::judge::expectations::{Decision, Fulfilment};
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::summary::next_step::next_step;

use crate::results_support::{all_measured, failed, record, replace, run, slower};

/// Everything before the first workload.
fn first_screen(summary: &Summary) -> String {
    let html = report_html(summary, usize::MAX);
    let (first, _) = html.split_once("<section>").unwrap();
    first.split_once("<h1>").unwrap().1.to_owned()
}

fn changed(which: impl Fn(&TrialId) -> bool, change: impl Fn(&mut Record)) -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    let matching = records.iter_mut().filter(|record| which(&record.trial));
    matching.for_each(change);
    summarize(&run, &records)
}

#[test]
fn a_trustworthy_run_states_that_it_decides_and_what() {
    let run = run();
    let shown = first_screen(&summarize(&run, &all_measured(&run)));
    let banner = "<p class=\"banner better\">This run decides: 4 of 4 primary comparisons";
    let chips = [
        "<span class=\"chip worse\">92 % more CPU</span>",
        "<span class=\"chip worse\">48 % fewer requests/s</span>",
        "<span class=\"chip worse\">5.05x more memory</span>",
        "<span class=\"chip equal\">throughput: equivalent</span>",
    ];
    let next = "<b>Next:</b> choose by the verdict, which holds for nodes with fingerprint";
    let order = [
        banner,
        chips[0],
        chips[1],
        chips[2],
        chips[3],
        next,
        "<details>",
    ];
    // What the run was to decide is shown first, and all of it.
    assert!(shown.contains("% slower</span>"), "{shown}");
    let places = order.map(|part| shown.find(part));
    assert!(places.iter().all(Option::is_some), "{places:?} in {shown}");
    assert!(places.is_sorted(), "{places:?}");
    assert!(!shown.contains("<details open"), "doubts are folded");
}

#[test]
fn a_gate_that_is_not_met_comes_before_what_is_undecided_and_a_run_without_variants_wants_one() {
    let mut run = run();
    let mut summary = summarize(&run, &all_measured(&run));
    let decision = |name: &str, outcome| Decision {
        name: name.into(),
        outcome,
        message: String::new(),
    };
    summary.expectations = vec![
        decision("fast", Fulfilment::Met),
        decision("small", Fulfilment::NotMet),
    ];
    let undecided = summary.comparisons.iter_mut().find(|one| one.primary);
    undecided.unwrap().verdict = Verdict::Inconclusive;
    assert_eq!(
        next_step(&summary),
        "mend what expectation small found, or change spec.expectations"
    );
    run.spec.variants.truncate(1);
    let alone = summarize(&run, &all_measured(&run));
    assert_eq!(
        next_step(&alone),
        "add a variant to compare with (spec.variants)"
    );
}

#[test]
fn a_noisy_run_names_its_doubts_and_then_the_remedy() {
    let summary = changed(
        |_| true,
        |record| {
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            window.node.as_mut().unwrap().busy_nanoseconds = 2 * window.duration_nanoseconds;
        },
    );
    let shown = first_screen(&summary);
    let banner =
        "<p class=\"banner worse\">This run does not decide: none of 4 primary comparisons";
    assert!(shown.contains(banner), "{shown}");
    assert!(shown.contains("; doubts: NodeNoisy."), "{shown}");
    assert!(
        shown.contains("<b>Next:</b> move other pods away"),
        "{shown}"
    );
    // Each comparison is counted once: an untrusted one does not count as decided too.
    let tally = "Of 4 primary comparisons 0 decided, 4 untrusted.";
    assert!(shown.contains(tally), "{shown}");
    assert!(
        !shown.contains("chip worse"),
        "untrusted is not coloured: {shown}"
    );
    assert!(shown.contains("more CPU, untrusted</span>"), "{shown}");
}

#[test]
fn the_reason_for_missing_ratios_is_on_the_first_screen_and_below() {
    let run = run();
    let mut records = all_measured(&run);
    let is_embedded = |trial: &TrialId| trial.cell.variant == "embedded";
    replace(&mut records, is_embedded, |trial, position| {
        record(
            trial,
            position,
            failed("SubjectCrashed", "exit code 1"),
            None,
        )
    });
    let summary = summarize(&run, &records);
    let shown = first_screen(&summary);
    let why = "not compared: SubjectCrashed: exit code 1";
    assert_eq!(shown.matches(why).count(), 2, "{shown}");
    assert!(
        shown.contains("remove what stops embedded (SubjectCrashed)"),
        "{shown}"
    );
    let html = report_html(&summary, usize::MAX);
    let below = "Without a primary ratio: embedded (SubjectCrashed: exit code 1).";
    assert_eq!(html.matches(below).count(), 2);
}

#[test]
fn a_baseline_that_failed_comes_before_any_doubt_and_has_a_way_to_compare_the_others() {
    let run = run();
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |trial: &TrialId| trial.cell.variant == "native",
        |trial, position| {
            let outcome = failed("SubjectNotStarted", "USER root");
            record(trial, position, outcome, None)
        },
    );
    let shown = first_screen(&summarize(&run, &records));
    let next = "<b>Next:</b> remove what stops native (SubjectNotStarted), and run again; what was measured is \
                compared by: kubectl wasmbench report";
    assert!(shown.contains(next), "{shown}");
    assert!(shown.contains("--baseline embedded."), "{shown}");
}

#[test]
fn one_number_far_out_does_not_flatten_a_plot_and_is_counted() {
    let is_far = |trial: &TrialId| {
        let cell = &trial.cell;
        let here = (
            cell.variant.as_str(),
            cell.workload.as_str(),
            cell.point,
            trial.block,
        );
        here == ("native", "hello", Point::WarmLatency, 1)
    };
    let summary = changed(is_far, |record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.fortio = slower(window.fortio.clone(), 1000.0);
    });
    let html = report_html(&summary, usize::MAX);
    let plot = html
        .split_once("<figcaption>Warm latency p50</figcaption>")
        .unwrap()
        .1
        .split_once("</figure>")
        .unwrap()
        .0;
    assert!(
        plot.contains("1 point lies beyond the end of the axis, up to "),
        "{plot}"
    );
    assert!(!plot.contains("logarithmic axis"), "{plot}");
}
