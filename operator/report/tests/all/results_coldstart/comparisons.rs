//! Cold starts as multiples of the baseline's, and the verdicts.

use wasmbench_api::run::TWIN;
use wasmbench_controller::status::Conclusion;
use wasmbench_model::wire::cold_start::{ColdStartDocument, ColdStep};
use wasmbench_model::wire::record::{Cell, Point, Record};
use wasmbench_report::files::report_files;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::expectations::Fulfilment;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{hare, hares_ratio, summary_of};
use crate::results_support::cold_starts::{hares, input, records, run};

#[test]
fn ratios_are_taken_within_blocks() {
    let summary = summary_of(&records());
    let found = hares_ratio(&summary, Metric::ColdStartListening).unwrap();
    assert_eq!(found.estimate.per_block.len(), 5);
    assert!((1.49..1.51).contains(&found.estimate.ratio), "{found:?}");
    let of_baseline = |one: &Comparison| one.variant == "tortoise";
    assert!(!summary.comparisons.iter().any(of_baseline));
}

#[test]
fn a_variant_that_answers_differently_is_not_compared() {
    let mut records = records();
    for record in records
        .iter_mut()
        .filter(|record| record.trial.cell.variant == "hare")
    {
        let answer = record.cold_start_mut().unwrap().answer.as_mut().unwrap();
        answer.body_sha256 = "bb".repeat(32);
    }
    let summary = summary_of(&records);
    let hare = summary
        .cold_starts
        .iter()
        .find(|cell| cell.variant == "hare")
        .unwrap();
    assert_eq!((hare.counts.valid, hare.counts.invalid), (0, 5));
    assert!(summary.comparisons.is_empty() && !hare.ranked);
    assert_eq!(summary.trustworthy, Some(false));
}

/// Records of a run in which the baseline has a twin, `factor` times as slow.
fn records_with_twin(factor: f64) -> (RunInput, Vec<Record>) {
    let mut run = run();
    run.spec.noise_floor = Some(true);
    let mut records = records();
    let baseline: Vec<Record> = records
        .iter()
        .filter(|record| record.trial.cell.variant == "tortoise")
        .cloned()
        .collect();
    for mut twin in baseline {
        TWIN.clone_into(&mut twin.trial.cell.variant);
        let samples = &mut twin.cold_start_mut().unwrap().samples;
        for pod in samples.iter_mut().flat_map(|sample| &mut sample.pods) {
            for moment in pod.steps.values_mut() {
                #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
                let later = (moment.nanoseconds as f64 * factor) as i64;
                moment.nanoseconds = later;
            }
        }
        records.push(twin);
    }
    (RunInput::new(&run, 7), records)
}

fn verdicts(summary: &Summary, variant: &str) -> Vec<Verdict> {
    let of_variant = |one: &&Comparison| one.variant == variant;
    let compared = summary.comparisons.iter().filter(of_variant);
    compared.map(|one| one.verdict).collect()
}

#[test]
fn a_cold_start_that_takes_half_as_long_again_is_slower() {
    let summary = summary_of(&records());
    assert_eq!(verdicts(&summary, "hare"), [Verdict::Slower; 4]);
    assert!(summary.verdict.contains(" later"), "{}", summary.verdict);
    let rows = Conclusion::from_summary(&summary, vec![]).rows;
    let time = rows[1].cold_start[0].listening.as_ref().unwrap();
    assert_eq!(
        time.versus_baseline.as_ref().unwrap().judged.verdict,
        "Slower"
    );
}

#[test]
fn the_twin_is_half_of_the_baseline_and_its_noise_floor_is_shown() {
    let (input, records) = records_with_twin(1.6);
    let summary = summarize(&input, &records);
    // Half as long again as the baseline, and shorter than its twin.
    let ratio = hares_ratio(&summary, Metric::ColdStartListening).unwrap();
    assert!((1.17..1.20).contains(&ratio.estimate.ratio), "{ratio:?}");
    assert_eq!(verdicts(&summary, TWIN), []);
    assert_eq!(summary.noise_floors.len(), 4);
    let report = report_files(&input, &records).unwrap()["report.md"].clone();
    assert!(report.contains("| 1.60x | 1.60-1.60 |  60 % |"), "{report}");
    let (input, records) = records_with_twin(1.0);
    let summary = summarize(&input, &records);
    assert_eq!(verdicts(&summary, "hare"), [Verdict::Slower; 4]);
}

#[test]
fn a_wide_interval_is_inconclusive_and_noted_with_what_would_decide_it() {
    let mut records = records();
    for record in &mut records {
        let is_hare = record.trial.cell.variant == "hare";
        let uneven = is_hare && record.trial.block % 2 == 0;
        let factor = if uneven { 1.3 / 1.5 } else { 1.0 / 1.5 };
        let samples = &mut record.cold_start_mut().unwrap().samples;
        for pod in samples.iter_mut().flat_map(|sample| &mut sample.pods) {
            for moment in pod.steps.values_mut() {
                if is_hare {
                    #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
                    let later = (moment.nanoseconds as f64 * factor) as i64;
                    moment.nanoseconds = later;
                }
            }
        }
    }
    let summary = summary_of(&records);
    let found = verdicts(&summary, "hare");
    assert_eq!(found[0], Verdict::Inconclusive, "{found:?}");
    let doubts = summary.doubts.iter();
    let note = doubts
        .clone()
        .find(|doubt| doubt.reason == Reason::HighVariance);
    let note = &note.unwrap().message;
    assert!(note.contains("cold start to listening of hare"), "{note}");
    assert!(note.contains("blocks"), "{note}");
}

#[test]
fn cold_starts_are_adjusted_for_each_other() {
    let mut records = records();
    // One pod of one block is late, so that the p-values differ and stay above zero.
    let late = &mut records[2].cold_start_mut().unwrap().samples[2].pods[0];
    for moment in late.steps.values_mut() {
        moment.nanoseconds *= 2;
    }
    let summary = summary_of(&records);
    let found: Vec<[f64; 2]> = summary
        .comparisons
        .iter()
        .map(|one| [one.p_value, one.adjusted_p_value])
        .collect();
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|[p_value, adjusted]| adjusted >= p_value));
    assert!(found.iter().any(|[p_value, adjusted]| adjusted > p_value));
}

#[test]
fn expectations_on_cold_starts_are_decided_at_the_fewest_pods_at_once() {
    let decided = |metric: &str, most: &str| {
        let mut run = run();
        run.spec.expectations = serde_yaml::from_str(&format!(
            "[{{name: gate, metric: {metric}, variant: hare, workload: greet, atMost: '{most}'}}]"
        ))
        .unwrap();
        let mut records = records();
        // Four pods at once take 100 ms more.
        for record in &mut records {
            let Cell { variant, point, .. } = &record.trial.cell;
            if (variant.as_str(), *point) == ("hare", Point::ColdStart { concurrency: 4 }) {
                delay(record.cold_start_mut().unwrap(), 100);
            }
        }
        let summary = summarize(&RunInput::new(&run, 7), &records);
        summary.expectations[0].clone()
    };
    // Half as long again as 300 ms, and a few milliseconds for the block.
    let listening = decided("coldStartListening", "140ms");
    assert_eq!(listening.outcome, Fulfilment::NotMet, "{listening:?}");
    let answer = decided("coldStartAnswer", "200ms");
    assert_eq!(answer.outcome, Fulfilment::Met, "{answer:?}");
    assert!(answer.message.contains("cold start to first answer"));
}

/// The records if `samples` of the three samples of each block were answered at the first attempt.
fn answered_at_once(samples: usize) -> Vec<Record> {
    let mut all = records();
    for document in hares(&mut all) {
        let counted = document.samples.iter_mut().filter(|s| !s.discarded);
        for pod in counted.take(samples).flat_map(|sample| &mut sample.pods) {
            pod.attempts = 1;
        }
    }
    all
}

#[test]
fn answers_that_waited_for_the_cluster_are_not_compared_and_counted() {
    let late = summary_of(&answered_at_once(2));
    let cell = hare(&late);
    assert_eq!(
        (cell.detail.first_attempt_answers, cell.detail.pods),
        (10, 15)
    );
    let ratio = |summary: &Summary| {
        let metrics = [Metric::ColdStartListening, Metric::ColdStartAnswer];
        metrics.map(|metric| hares_ratio(summary, metric).is_some())
    };
    assert_eq!(ratio(&late), [true, false]);
    let report = &report_files(&input(), &answered_at_once(2)).unwrap()["report.md"];
    let line = "- hare on greet, answer: 10 of 15 pods were answered at the first attempt.";
    assert!(report.contains(line), "{report}");
    // The gap is unknown for the minority but known for the median.
    let few = summary_of(&answered_at_once(1));
    assert_eq!(ratio(&few), [true, true]);
    let report = &report_files(&input(), &answered_at_once(1)).unwrap()["report.md"];
    assert!(report.contains("First attempt"), "{report}");
    assert!(
        !report.contains("answered at the first attempt. "),
        "{report}"
    );
}

#[test]
fn a_baseline_whose_answers_waited_for_the_cluster_is_not_compared_with() {
    let mut all = records();
    let baselines = all
        .iter_mut()
        .filter(|r| r.trial.cell.variant == "tortoise");
    for record in baselines {
        let samples = &mut record.cold_start_mut().unwrap().samples;
        for pod in samples.iter_mut().flat_map(|sample| &mut sample.pods) {
            pod.attempts = 1;
        }
    }
    let mut run = run();
    run.spec.expectations = serde_yaml::from_str(
        "[{name: gate, metric: coldStartAnswer, variant: hare, workload: greet, atMost: '9ms'}]",
    )
    .unwrap();
    let summary = summarize(&RunInput::new(&run, 7), &all);
    assert_eq!(hares_ratio(&summary, Metric::ColdStartAnswer), None);
    assert_eq!(summary.expectations[0].outcome, Fulfilment::Undecided);
}

/// The summary if `milliseconds` is the smallest difference that matters and every pod starts later
/// by `later` milliseconds.
fn with_smallest(milliseconds: u32, later: u64) -> Summary {
    let mut input = input();
    let smallest = serde_json::json!({ "startMilliseconds": milliseconds });
    input.spec.minimum_difference = Some(serde_json::from_value(smallest).unwrap());
    let mut records = records();
    for document in records.iter_mut().filter_map(Record::cold_start_mut) {
        delay(document, later);
    }
    summarize(&input, &records)
}

/// Makes every pod start later by `later` milliseconds.
fn delay(document: &mut ColdStartDocument, later: u64) {
    let samples = document.samples.iter_mut();
    for pod in samples.flat_map(|sample| &mut sample.pods) {
        let steps = pod.steps.iter_mut();
        let later_ones = steps.filter(|(step, _)| **step != ColdStep::CreateSent);
        for (_, moment) in later_ones {
            moment.nanoseconds += i64::try_from(later * 1_000_000).unwrap();
        }
    }
}

#[test]
fn starts_are_judged_by_their_difference_in_milliseconds() {
    assert_eq!(
        verdicts(&with_smallest(10, 0), "hare"),
        [Verdict::Slower; 4]
    );
    let more = with_smallest(2000, 0);
    assert_eq!(
        verdicts(&more, "hare"),
        [Verdict::Equivalent; 4],
        "half as long again"
    );
    let summary = with_smallest(10, 0);
    let found = hares_ratio(&summary, Metric::ColdStartListening).unwrap();
    let difference = found.difference.unwrap();
    assert!((140e3..220e3).contains(&difference.value), "{difference:?}");
    let least = difference.at_least.unwrap();
    assert!(least <= difference.value && least > 100e3, "{difference:?}");
    let text = found.verdict_text();
    assert!(
        text.starts_with("starts at least 1") && text.ends_with(" ms later"),
        "{text}"
    );
}

#[test]
fn a_slower_cluster_changes_the_ratio_of_starts_and_no_verdict() {
    let compared = |later| {
        let summary = with_smallest(10, later);
        let found = hares_ratio(&summary, Metric::ColdStartListening).unwrap();
        (
            found.estimate.ratio,
            found.difference.unwrap(),
            found.verdict,
        )
    };
    let (near, far) = (compared(0), compared(5000));
    assert!(near.0 > 1.4 && far.0 < 1.05, "{} {}", near.0, far.0);
    assert!(
        (near.1.value - far.1.value).abs() < 1.0,
        "{:?} {:?}",
        near.1,
        far.1
    );
    assert_eq!(near.2, far.2);
}
