//! What one of the runs does not trust is shown but not judged.

use serde_json::json;
use wasmbench_api::run::RunScatter;
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_report::across::{InWords as _, Versus};
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::{Across, CellRatio, Side, Unjudged, across};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{compared, named};
use crate::results_support::{all_measured, failed, record, replace, run, slower};

/// Ten connections are below the knee, so no comparison within a run refers to them.
fn is_meant(trial: &TrialId, variant: &str) -> bool {
    let cell = &trial.cell;
    (cell.variant.as_str(), cell.workload.as_str()) == (variant, "hello")
        && cell.point == Point::Throughput { connections: 10 }
}

fn change(records: &mut [Record], variant: &str, change: impl Fn(u32, &mut TimedWindow)) {
    let meant = records
        .iter_mut()
        .filter(|record| is_meant(&record.trial, variant));
    for record in meant {
        let block = record.trial.block;
        change(block, record.load_mut().unwrap().timed.as_mut().unwrap());
    }
}

/// The records of a run in which `embedded` responds 1.3 times as slowly at that point.
fn slow(run: &RunInput) -> Vec<Record> {
    let mut records = all_measured(run);
    change(&mut records, "embedded", |_, window| {
        window.fortio = slower(window.fortio.clone(), 1.3);
    });
    records
}

/// Others use the node in two blocks of five.
fn noisy(block: u32, window: &mut TimedWindow) {
    if [2, 4].contains(&block) {
        window.node.as_mut().unwrap().busy_nanoseconds = 2 * window.duration_nanoseconds;
    }
}

/// It is unknown whether others used the node.
fn blind(_: u32, window: &mut TimedWindow) {
    window.node = None;
}

/// The first quarter of the window is slower than the others.
fn unsteady(_: u32, window: &mut TimedWindow) {
    window.further = vec![window.fortio.clone(); 3];
    let length = window.fortio["ActualDuration"].as_u64().unwrap();
    window.fortio["ActualDuration"] = json!(length * 13 / 10);
    window.duration_nanoseconds *= 4;
}

fn with(mut records: Vec<Record>, variant: &str, plant: fn(u32, &mut TimedWindow)) -> Vec<Record> {
    change(&mut records, variant, plant);
    records
}

fn rate(found: &Across) -> &CellRatio {
    let is_rate = |ratio: &&CellRatio| {
        (ratio.variant.as_str(), ratio.workload.as_str()) == ("embedded", "hello")
            && (ratio.point.as_str(), ratio.metric) == ("throughput-c10", Metric::ThroughputRps)
    };
    found.ratios.iter().find(is_rate).unwrap()
}

/// Worse, judged and shown numbers.
fn counts(found: &Across) -> (usize, usize, usize) {
    (found.worse(), found.judged(), found.ratios.len())
}

#[test]
fn a_slower_point_on_a_noisy_node_is_shown_and_not_judged() {
    let (before, after) = (named("before"), named("after"));
    let clean = all_measured(&before);
    let compare = |earlier: &[Record], later: &[Record]| {
        let found = compared((&before, earlier), (&after, later), false);
        // Both runs are trustworthy.
        assert_eq!(found.differences, []);
        found
    };
    let quiet = compare(&clean, &slow(&after));
    assert_eq!(counts(&quiet), (1, 18, 36));
    assert_eq!(rate(&quiet).verdict, Some(Verdict::Slower));
    assert!(!quiet.text().contains("ntrusted"), "{}", quiet.text());

    // In either run, and for the baseline as well.
    for variant in ["embedded", "native"] {
        for (earlier, later) in [
            (clean.clone(), with(slow(&after), variant, noisy)),
            (with(clean.clone(), variant, noisy), slow(&after)),
        ] {
            let found = compare(&earlier, &later);
            assert_eq!(counts(&found), (0, 15, 36), "{variant}");
            let rate = rate(&found);
            // The change is that of its multiple of the baseline, trusted or not.
            let shown = |rate: &CellRatio| (rate.ratio, rate.low, rate.high, rate.is_of_baseline);
            assert_eq!(shown(rate), shown(self::rate(&quiet)));
            assert!(rate.ratio < 0.8 && rate.is_of_baseline, "{rate:?}");
            let outcome = (rate.verdict, rate.p_value, rate.unjudged);
            assert_eq!(outcome, (None, None, Some(Unjudged::Untrusted)));
            let text = found.text();
            assert!(text.contains("), untrusted "), "{text}");
            assert!(text.contains("\nUntrusted: "), "{text}");
        }
    }
}

#[test]
fn an_untrusted_slower_point_is_not_worse_than_in_a_named_run() {
    let (before, after) = (named("before"), named("after"));
    let one = summarize(&before, &all_measured(&before));
    let worse = |records: &[Record]| {
        let other = summarize(&after, records);
        let versus = Versus::new("before", Ok((&before.spec, &one)), (&after.spec, &other));
        let status = versus.status();
        (status.compared, status.worse)
    };
    assert_eq!(worse(&slow(&after)), (true, 1));
    assert_eq!(worse(&with(slow(&after), "embedded", noisy)), (true, 0));
}

#[test]
fn untrusted_results_are_not_judged_across_runs() {
    let (before, after) = (named("before"), named("after"));
    let mut crashed = slow(&after);
    let is_one = |trial: &TrialId| is_meant(trial, "embedded") && trial.block == 2;
    replace(&mut crashed, is_one, |trial, position| {
        record(trial, position, failed("SubjectCrashed", "exit 1"), None)
    });
    for (name, records) in [
        ("blind", with(slow(&after), "embedded", blind)),
        ("unsteady", with(slow(&after), "embedded", unsteady)),
        ("crashed", crashed),
    ] {
        let found = compared((&before, &all_measured(&before)), (&after, &records), false);
        assert_eq!(counts(&found), (0, 15, 36), "{name}");
        assert_eq!(rate(&found).unjudged, Some(Unjudged::Untrusted), "{name}");
    }
}

#[test]
fn runs_of_few_blocks_are_still_compared_with_each_other() {
    let short = |name: &str| {
        let mut input = named(name);
        input.spec.blocks = 3;
        input
    };
    let (before, after) = (short("before"), short("after"));
    let found = compared(
        (&before, &all_measured(&before)),
        (&after, &slow(&after)),
        false,
    );
    assert_eq!(counts(&found), (1, 18, 36));
}

#[test]
fn an_untrusted_number_among_five_earlier_runs_is_not_judged() {
    let input = run();
    let clean = summarize(&input, &all_measured(&input));
    let doubted = summarize(&input, &with(all_measured(&input), "native", noisy));
    let among = |earlier: [&Summary; 5]| {
        let later = summarize(&input, &slow(&input));
        let side = |summary| Side {
            spec: &input.spec,
            summary,
        };
        across(
            &earlier.map(side),
            side(&later),
            None,
            RunScatter::default(),
            false,
        )
    };
    let trusted = among([&clean; 5]);
    assert_eq!(rate(&trusted).verdict, Some(Verdict::Slower));
    // Only the oldest of them is doubted.
    let found = among([&clean, &clean, &clean, &clean, &doubted]);
    assert_eq!(rate(&found).unjudged, Some(Unjudged::Untrusted));
    // The baseline's own number at this point has no verdict either.
    let natives = found
        .ratios
        .iter()
        .filter(|ratio| ratio.variant == "native");
    let untrusted = natives.filter(|ratio| ratio.unjudged == Some(Unjudged::Untrusted));
    assert_eq!(untrusted.count(), 3);
}
