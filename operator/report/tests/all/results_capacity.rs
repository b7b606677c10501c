//! Capacity: from climbs to crossings, verdicts and sentences.

use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::document::Rung;
use wasmbench_report::csv::{comparisons_csv, summary_csv};
use wasmbench_report::files::report_files;
use wasmbench_results::cells::capacity::CapacityDetail;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::expectations::Fulfilment;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::statistics::OneSided;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::capacity::{cell, records, rung, with};

fn compared(summary: &Summary) -> &Comparison {
    let found = summary.comparison(cell(summary, "wasm").any(), Metric::Capacity);
    found.unwrap()
}

fn is_noted(summary: &Summary, reason: Reason) -> bool {
    summary.doubts.iter().any(|doubt| doubt.reason == reason)
}

#[test]
fn reports_say_how_a_climb_goes_on_after_its_last_rung() {
    let (summary, _, _) = with(340.0);
    let expected = "; then what lies next to the crossing is halved up to 4 times";
    let sweeps = &summary.compared.sweeps;
    assert!(sweeps[0].ends_with(expected), "{sweeps:?}");
}

#[test]
fn a_capacity_is_not_trusted_where_nothing_shows_the_noise_next_to_the_crossing() {
    let (_, records, run) = with(340.0);
    let blind_at = |rate: f64| {
        let mut records = records.clone();
        for record in &mut records {
            for rung in &mut record.load_mut().unwrap().rungs {
                let window = rung.window.as_mut().unwrap();
                window.node = window.node.filter(|_| rung.requested_rps < rate);
            }
        }
        summarize(&run, &records)
    };
    let summary = blind_at(0.0);
    assert_eq!(compared(&summary).untrusted, [Reason::NoiseUnknown]);
    let mut doubts = summary.doubts.iter();
    let doubt = doubts.find(|doubt| doubt.reason == Reason::NoiseUnknown);
    let expected = "not judged where CPU time was not read: capacity of native on shop, capacity of wasm on shop";
    assert!(
        doubt.is_some_and(|doubt| doubt.message.ends_with(expected)),
        "{doubt:?}"
    );
    // The crossings lie below.
    let above = blind_at(700.0);
    assert!(compared(&above).untrusted.is_empty(), "{above:?}");
}

/// Tables have one row for a place in the ladder, and rates between two rungs have none.
#[test]
fn a_rate_tried_between_two_rungs_moves_the_crossing_and_no_row() {
    let (run, mut records) = records(|_| 340.0);
    let before = summarize(&run, &records);
    for record in &mut records {
        let rungs = &mut record.load_mut().unwrap().rungs;
        let above = rungs.partition_point(|rung| rung.requested_rps <= 340.0);
        let halved = rung(390.0, 10.0);
        rungs.insert(
            above,
            Rung {
                between: true,
                ..halved
            },
        );
    }
    let after = summarize(&run, &records);
    let [before, after] = [&before, &after].map(|summary| &cell(summary, "native").detail);
    let rows = |detail: &CapacityDetail| {
        let rows = detail.rungs.iter();
        rows.map(|row| (row.requested_rps, row.trials))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(after), rows(before));
    assert_eq!(
        after.blocks[0].rungs.len(),
        before.blocks[0].rungs.len() + 1
    );
    assert!(after.blocks[0].rps > before.blocks[0].rps);
}

#[test]
fn a_rung_whose_generator_was_late_shows_neither_costs_nor_what_limits_did() {
    let (run, mut records) = records(|_| 10_000.0);
    for record in &mut records {
        let last = record.load_mut().unwrap().rungs.last_mut().unwrap();
        let window = last.window.as_mut().unwrap();
        let open_loop = window.open_loop.as_mut().unwrap();
        open_loop.generator_delay.p99_microseconds = 40_000.0;
        let subject = window.subject.as_mut().unwrap();
        subject.cpu_nanoseconds = 9_000_000_000;
        subject.throttled_periods = Some(90);
    }
    let summary = summarize(&run, &records);
    let detail = &cell(&summary, "native").detail;
    assert_eq!(detail.beyond(OneSided::AtLeast), 6);
    let cpu = detail.cpu_microseconds_per_request;
    assert_eq!(cpu.map(|spread| spread.median), Some(2000.0));
    assert_eq!(detail.limits.throttled_share_of_periods, Some(0.3));
}

#[test]
fn the_crossing_is_found_between_two_rungs_and_compared_with_the_baselines() {
    let (summary, _, _) = with(340.0);
    let native = cell(&summary, "native").detail.rps;
    assert!(
        (420.0..570.0).contains(&native.median.unwrap()),
        "{native:?}"
    );
    let found = compared(&summary);
    assert!(found.primary && found.estimate.bound.is_none(), "{found:?}");
    assert!((0.55..0.85).contains(&found.estimate.ratio), "{found:?}");
    assert_eq!((found.verdict, found.estimate.blocks), (Verdict::Slower, 6));
    assert!(
        summary.verdict.contains("native's capacity on shop"),
        "{}",
        summary.verdict
    );
    assert!(
        summary.verdict.contains("fewer requests/s"),
        "{}",
        summary.verdict
    );
    assert!(!is_noted(&summary, Reason::BeyondLadder));
}

#[test]
fn beyond_the_last_rung_only_one_end_is_known_and_shown() {
    let (summary, _, _) = with(9000.0);
    let found = compared(&summary);
    assert_eq!(found.estimate.bound, Some(OneSided::AtLeast));
    assert_eq!(
        (found.estimate.blocks, found.estimate.censored_blocks),
        (6, 6)
    );
    assert_eq!(
        (found.verdict, found.estimate.high),
        (Verdict::Faster, None)
    );
    let (low, least) = (found.estimate.low.unwrap(), found.at_least.unwrap());
    assert!(low > 1.0 && least <= low, "{found:?}");
    assert!(
        summary.verdict.contains("wasm: at least 1."),
        "{}",
        summary.verdict
    );
    assert!(
        cell(&summary, "wasm")
            .detail
            .text()
            .unwrap()
            .starts_with("at least ")
    );
    assert!(is_noted(&summary, Reason::BeyondLadder));
    // No column has a number that is not known.
    let csv = comparisons_csv(&summary);
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    let at = |name: &str| row[columns.iter().position(|one| *one == name).unwrap()];
    assert_eq!((at("ratio"), at("high")), ("", ""));
    assert!(!at("low").is_empty());
}

#[test]
fn below_the_first_rung_a_gate_fails_and_where_both_are_beyond_nothing_is_compared() {
    let (summary, _, _) = with(1.0);
    let found = compared(&summary);
    assert_eq!(found.estimate.bound, Some(OneSided::AtMost));
    assert_eq!(found.verdict, Verdict::Slower);
    assert_eq!(summary.expectations[0].outcome, Fulfilment::NotMet);
    assert!(
        summary.expectations[0].message.contains("it is at most 0."),
        "{:?}",
        summary.expectations
    );
    let (run, records) = records(|_| 9000.0);
    let both = summarize(&run, &records);
    assert!(both.comparisons.is_empty());
    assert_eq!(both.expectations[0].outcome, Fulfilment::Undecided);
    let why = "wasm and native both lie beyond an end of the ladder: only bounds are known";
    let line = format!("no comparison: {why}; native on shop: capacity at least 740/s");
    assert!(both.verdict.contains(&line), "{}", both.verdict);
    let files = report_files(&run, &records).unwrap();
    let page = &files["report.html"];
    assert!(page.contains(&format!("not compared: {why}")), "{page}");
}

#[test]
fn a_gate_on_capacity_passes_where_the_interval_lies_above_it() {
    let (summary, _, _) = with(500.0);
    assert_eq!(summary.expectations[0].outcome, Fulfilment::Met);
    let message = &summary.expectations[0].message;
    assert!(
        message.starts_with("capacity of wasm on shop must be at least 0.6x"),
        "{message}"
    );
}

#[test]
fn a_single_variant_whose_capacity_scatters_is_reported_with_the_blocks_it_takes() {
    let (mut run, mut records) = records(|trial| if trial.block % 2 == 0 { 570.0 } else { 260.0 });
    run.spec.variants.truncate(1);
    run.spec.expectations.clear();
    records.retain(|record| record.trial.cell.variant == "native");
    let summary = summarize(&run, &records);
    let mut doubts = summary.doubts.iter();
    let note = doubts.find(|doubt| doubt.reason == Reason::HighVariance);
    let is_named = |message: &str| message.contains("capacity of native on shop (");
    assert!(note.is_some_and(|note| is_named(&note.message)), "{note:?}");
}

#[test]
fn effects_of_limits_stand_next_to_the_capacity() {
    let (_, mut records, run) = with(340.0);
    for record in records
        .iter_mut()
        .filter(|record| record.trial.cell.variant == "wasm")
    {
        let rungs = &mut record.load_mut().unwrap().rungs;
        // What happens far below the crossing is not part of it.
        for (rung, kills) in [(0, 4), (2, 1)] {
            let window = rungs[rung].window.as_mut().unwrap();
            let meter = window.subject.as_mut().unwrap();
            (meter.memory_limit_hits, meter.oom_kills) = (Some(9), Some(kills));
        }
    }
    let summary = summarize(&run, &records);
    let text = cell(&summary, "wasm").detail.limits.text().unwrap();
    let expected =
        "stopped in 30 % of its periods, memory at its limit in 6 block(s), 6 OOM kill(s)";
    assert_eq!(text, expected);
    assert!(
        cell(&summary, "wasm").ranked,
        "a limit that the run sets is part of its question"
    );
    for reason in [Reason::Throttled, Reason::MemoryAtLimit] {
        assert!(is_noted(&summary, reason), "{reason:?}");
    }
    let rows = status_rows(&summary);
    let row = rows.iter().find(|row| row.variant == "wasm").unwrap();
    let status = row.capacity.as_ref().unwrap();
    assert_eq!(status.limited.as_deref(), Some(expected));
    assert!(
        status.rungs.len() >= 3 && status.judged.is_some(),
        "{status:?}"
    );
    let files = report_files(&run, &records).unwrap();
    let report = &files["report.md"];
    for part in [
        "## Capacity at a p99 of 50.0 ms",
        expected,
        "Rungs, as medians",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(summary_csv(&summary).contains("capacity_requests_per_second_median"));
}

#[test]
fn a_rung_whose_generator_was_late_shows_nothing_and_a_climb_of_such_rungs_is_invalid() {
    let (_, mut records, run) = with(340.0);
    let late = |rung: &mut Rung| {
        let window = rung.window.as_mut().unwrap().open_loop.as_mut().unwrap();
        window.generator_delay.p99_microseconds = 1e9;
    };
    for record in &mut records {
        late(&mut record.load_mut().unwrap().rungs[0]);
    }
    let summary = summarize(&run, &records);
    assert!(cell(&summary, "native").ranked);
    let first = &cell(&summary, "native").detail.rungs[0];
    let shown = (first.p99_microseconds, first.throttled_share_of_periods);
    assert_eq!((first.invalid, shown), (6, (None, None)));
    assert!(is_noted(&summary, Reason::LoadGeneratorLate));
    records[0]
        .load_mut()
        .unwrap()
        .rungs
        .iter_mut()
        .for_each(late);
    let summary = summarize(&run, &records);
    let lost = cell(&summary, "native");
    assert_eq!((lost.counts.valid, lost.counts.invalid), (5, 1));
    assert_eq!(lost.invalid_because, [Reason::LoadGeneratorLate]);
}
