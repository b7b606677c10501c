//! The history of a schedule: what it keeps, when it reports a change, and what becomes of it when
//! it is long.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::Metric;
use wasmbench_report::history::{history_csv, history_html, history_text};
use wasmbench_results::judge::comparison::Difference;
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::lasting_change::LastingChange;
use wasmbench_results::runs::history::line::{Ends, Line, Number, Series, Setting};
use wasmbench_results::runs::history::stored::{Error, MOST_BYTES};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;

use crate::results_support::{all_measured, cold_starts, run};

fn at(number: usize) -> Timestamp {
    let start: Timestamp = "2026-01-01T03:00:00Z".parse().unwrap();
    start + SignedDuration::from_hours(24 * i64::try_from(number).unwrap())
}

/// The summary of one run, with its ratios multiplied by `factor`.
fn night(number: usize, factor: f64) -> Summary {
    // A deterministic scatter of 1 %.
    const SCATTER: [f64; 7] = [0.0, 0.012, -0.008, 0.006, -0.014, 0.009, -0.005];
    let mut summary = summarize(&run(), &all_measured(&run()));
    summary.run.name = format!("nightly-{number}");
    let factor = factor * SCATTER[number % 7].exp();
    for compared in &mut summary.comparisons {
        let estimate = &mut compared.estimate;
        estimate.ratio *= factor;
        estimate.low = estimate.low.map(|low| low * factor);
        estimate.high = estimate.high.map(|high| high * factor);
        compared.untrusted.clear();
    }
    summary
}

/// A history with the given number of nights at each factor, and the changes found in each night.
fn nights(
    factors: &[(usize, f64)],
    change: impl Fn(usize, &mut Summary),
) -> (History, Vec<Vec<LastingChange>>) {
    let (mut history, mut found) = (History::default(), vec![]);
    let factors = factors
        .iter()
        .flat_map(|(nights, factor)| std::iter::repeat_n(*factor, *nights));
    for (number, factor) in factors.enumerate() {
        let mut summary = night(number, factor);
        change(number, &mut summary);
        found.push(history.add(&summary, &run().spec, at(number)));
    }
    (history, found)
}

#[test]
fn a_run_leaves_its_primary_ratios_and_numbers() {
    let summary = night(0, 1.0);
    let (history, found) = nights(&[(1, 1.0)], |_, _| ());
    assert!(found[0].is_empty());
    let primary: Vec<_> = summary
        .comparisons
        .iter()
        .filter(|compared| compared.primary)
        .collect();
    assert!(!primary.is_empty());
    let [line] = &history.runs[..] else {
        panic!("{:#?}", history.runs)
    };
    for compared in primary {
        let of_series = |series: &Series| {
            (
                series.variant == compared.variant,
                series.metric,
                series.point,
            ) == (true, compared.metric, compared.point)
                && series.workload == compared.workload
        };
        let series = history.series.iter().position(of_series).unwrap();
        let number = line.number(series).unwrap();
        let Ends(ratio, low, high) = number.versus_baseline.unwrap();
        assert!((ratio - compared.estimate.ratio).abs() < 1e-12);
        assert_eq!(
            (Some(low), Some(high)),
            (compared.estimate.low, compared.estimate.high)
        );
        assert!(number.value.unwrap().0 > 0.0);
    }
    // The baseline has values but no ratio.
    let of_baseline = history
        .series
        .iter()
        .position(|series| series.variant == summary.baseline);
    let number = line.number(of_baseline.unwrap()).unwrap();
    assert_eq!(
        (number.versus_baseline, number.value.is_some()),
        (None, true)
    );
}

#[test]
fn a_variant_that_becomes_slower_on_the_sixth_night_is_found() {
    let (history, found) = nights(&[(5, 1.0), (7, 1.1)], |number, summary| {
        let image = if number < 5 {
            "sha256:aaaa"
        } else {
            "sha256:bbbb"
        };
        for variant in &mut summary.environment.variants {
            if variant.variant != summary.baseline {
                variant.image_ids = [image.to_owned()].into();
            }
        }
    });
    let change = history.changes.first().expect("a change is found");
    assert_eq!(
        (change.run.as_str(), change.last_before.as_str()),
        ("nightly-5", "nightly-4")
    );
    assert_eq!(
        (change.image_before.as_str(), change.image_after.as_str()),
        ("sha256:aaaa", "sha256:bbbb")
    );
    let Ends(size, low, high) = change.size;
    assert!(
        low < 1.1 && 1.1 < high && (size - 1.1).abs() < 0.02,
        "{change:?}"
    );
    assert!(
        found
            .iter()
            .any(|found| found.iter().any(|one| one.run == "nightly-5"))
    );
    let series = &history.series[change.series];
    let words = change.text(series);
    for part in [
        "since run nightly-5",
        "image sha256:aaaa before, sha256:bbbb since",
        "1.1",
    ] {
        assert!(words.contains(part), "{words}");
    }
}

#[test]
fn equal_nights_change_nothing() {
    let (history, found) = nights(&[(60, 1.0)], |_, _| ());
    assert!(found.iter().all(Vec::is_empty));
    assert_eq!(history.runs.len(), 60);
}

#[test]
fn another_kernel_is_an_explanation_not_a_change() {
    let (history, _) = nights(&[(10, 1.0), (10, 1.2)], |number, summary| {
        let kernel = if number < 10 { "old" } else { "new" };
        summary.environment.fingerprint = Some(kernel.to_owned());
    });
    assert!(history.changes.is_empty(), "{:#?}", history.changes);
}

#[test]
fn another_limit_of_the_baseline_is_an_explanation_not_a_change() {
    let changes = |limits: [&str; 2]| {
        let mut history = History::default();
        let found = (0..20).flat_map(|number| {
            let is_late = number >= 10;
            let mut spec = run().spec;
            let limit = serde_json::json!({"limits": {"cpu": limits[usize::from(is_late)]}});
            spec.variants[0].resources = serde_json::from_value(limit).unwrap();
            let factor = if is_late { 1.2 } else { 1.0 };
            history.add(&night(number, factor), &spec, at(number))
        });
        found.count()
    };
    assert_eq!(changes(["1", "2"]), 0);
    assert!(changes(["1", "1"]) > 0);
}

#[test]
fn untrusted_ratios_are_kept_but_not_searched_for_changes() {
    let (history, _) = nights(&[(10, 1.0), (10, 1.5)], |number, summary| {
        for compared in &mut summary.comparisons {
            if number >= 10 {
                compared.untrusted = vec![Reason::NodeNoisy];
            }
        }
    });
    assert!(history.changes.is_empty(), "{:#?}", history.changes);
    let last = history.runs.last().unwrap();
    assert!(
        last.numbers
            .iter()
            .any(|number| number.versus_baseline.is_some() && !number.trusted)
    );
}

#[test]
fn runs_that_cannot_be_compared_do_not_count_as_unchanged() {
    let distrust = |_: usize, summary: &mut Summary| {
        for compared in &mut summary.comparisons {
            compared.untrusted = vec![Reason::TooFewBlocks];
        }
    };
    let condition_of = |history: &History| history.condition(&run().spec, None).unwrap();
    let (untrusted, _) = nights(&[(20, 1.0)], distrust);
    let condition = condition_of(&untrusted);
    assert_eq!(condition.reason, "TooFewRuns");
    assert_eq!(
        condition.message,
        "0 of the 8 runs that a change shows in at the earliest (and 20 whose numbers are not trusted)"
    );
    let (some, _) = nights(&[(20, 1.0)], |number, summary| {
        if number < 3 {
            distrust(number, summary);
        }
    });
    assert_eq!(
        condition_of(&some).message,
        "no lasting change for the worse in 17 runs (and 3 whose numbers are not trusted)"
    );
}

#[test]
fn a_stored_history_round_trips_and_anything_else_is_refused() {
    let (mut history, _) = nights(&[(5, 1.0), (7, 1.1)], |_, _| ());
    let bytes = history.pack(MOST_BYTES).unwrap();
    assert_eq!(History::unpack(&bytes).unwrap(), history);
    assert!(History::unpack(&bytes[..bytes.len() / 2]).is_err());
    assert!(History::unpack(b"").is_err());
    history.schema = "wasmbench.dev/history/v9".into();
    let bytes = history.pack(MOST_BYTES).unwrap();
    let error = History::unpack(&bytes).unwrap_err();
    assert!(
        matches!(&error, Error::OtherSchema(schema) if schema.ends_with("v9")),
        "{error}"
    );
}

#[test]
fn people_see_the_latest_ratio_and_what_changed() {
    let (mut history, _) = nights(&[(5, 1.0), (7, 1.1)], |_, _| ());
    let text = history_text("nightly", &history);
    let first = "nightly: 12 runs from 2026-01-01 03:00 to 2026-01-12 03:00\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("since nightly-5"), "{text}");
    assert!(
        text.contains("- worse: ") || text.contains("- better: "),
        "{text}"
    );
    let widths = text.lines().map(|line| line.trim_end().len());
    assert!(widths.max() > Some(0));
    history.runs.clear();
    history.changes.clear();
    let text = history_text("nightly", &history);
    assert!(text.starts_with("nightly: no run has ended yet"), "{text}");
}

#[test]
fn a_spreadsheet_has_a_row_for_each_run_and_measure() {
    let (history, _) = nights(&[(5, 1.0), (7, 1.1)], |_, _| ());
    let csv = history_csv(&history);
    let numbers: usize = history.runs.iter().map(|line| line.numbers.len()).sum();
    assert_eq!(csv.lines().count(), numbers + 1);
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(
        csv.lines().all(|line| line.split(',').count() == columns),
        "{csv}"
    );
    let begins = csv.lines().filter(|line| !line.ends_with(',')).skip(1);
    assert_eq!(begins.count(), history.changes.len());
}

#[test]
fn the_page_of_a_history_is_well_formed_and_escapes_names() {
    let (mut history, _) = nights(&[(5, 1.0), (7, 1.1)], |_, _| ());
    history.runs[3].name = "<script>alert(1)</script>".into();
    for series in &mut history.series {
        series.workload = "a\"<b>&".into();
    }
    let html = history_html("nightly & <b>", &history);
    let xml = html.replace("<!DOCTYPE html>", "");
    let page = roxmltree::Document::parse(&xml).unwrap();
    assert!(!html.contains("<script"), "{html}");
    let plots = page
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/1999/xhtml", "svg")));
    let compared = history.runs[0]
        .numbers
        .iter()
        .filter(|number| number.versus_baseline.is_some());
    assert_eq!(plots.count(), compared.count());
    let changes = html.matches("class=\"knee\"").count();
    assert_eq!(changes, history.changes.len());
    assert_eq!(html.matches("<li>").count(), history.changes.len());
}

/// The summary of a run of cold starts on a cluster that takes `cluster` times as long; `hare`
/// starts `more` milliseconds after the baseline.
fn starts(number: usize, cluster: f64, more: f64) -> Summary {
    const SCATTER: [f64; 7] = [0.0, 1.2, -0.8, 0.6, -1.4, 0.9, -0.5];
    let mut summary = summarize(&cold_starts::input(), &cold_starts::records());
    summary.run.name = format!("nightly-{number}");
    let value = (more + SCATTER[number % 7]) * 1e3;
    for compared in &mut summary.comparisons {
        let ratio = 1.0 + value / (300_000.0 * cluster);
        compared.estimate.ratio = ratio;
        compared.estimate.low = Some(ratio - 0.01);
        compared.estimate.high = Some(ratio + 0.01);
        compared.untrusted.clear();
        compared.difference = compared.difference.map(|known| Difference {
            value,
            low: Some(value - 1500.0),
            high: Some(value + 1500.0),
            ..known
        });
    }
    summary
}

/// A history of ten nights of starts and ten more after a change.
fn nights_of_starts(cluster: f64, more: f64) -> History {
    let mut history = History::default();
    for number in 0..20 {
        let summary = if number < 10 {
            starts(number, 1.0, 120.0)
        } else {
            starts(number, cluster, more)
        };
        history.add(&summary, &cold_starts::input().spec, at(number));
    }
    history
}

#[test]
fn a_faster_cluster_is_no_change_of_starts() {
    let history = nights_of_starts(0.7, 120.0);
    assert!(history.changes.is_empty(), "{:#?}", history.changes);
    assert!(history_text("nightly", &history).contains("+121 ms"));
}

#[test]
fn later_starts_are_a_change_in_milliseconds_on_any_cluster() {
    let history = nights_of_starts(0.7, 150.0);
    let change = history.changes.first().expect("a change is found");
    let Ends(size, low, high) = change.size;
    assert_eq!(change.run, "nightly-10");
    assert!((size - 30_000.0).abs() < 2_000.0, "{change:?}");
    assert!(low < 30_000.0 && 30_000.0 < high, "{change:?}");
    let series = &history.series[change.series];
    let words = change.text(series);
    let expected = "as a difference to the baseline changed by +";
    assert!(
        words.contains(expected) && words.contains(" ms ("),
        "{words}"
    );
    let condition = |spec: &BenchmarkRunSpec| history.condition(spec, None).unwrap();
    let mut spec = cold_starts::input().spec;
    assert_eq!(condition(&spec).reason, "Changed");
    // 40 ms are what matters: no interval exceeds them.
    let smallest = serde_json::json!({"startMilliseconds": 40});
    spec.minimum_difference = serde_json::from_value(smallest).ok();
    assert_eq!(condition(&spec).reason, "NoChange");
    let csv = history_csv(&history);
    let last = csv.lines().last().unwrap();
    assert!(
        last.contains(",,,,") && csv.contains("difference_low"),
        "{last}"
    );
    let html = history_html("nightly", &history);
    assert!(
        html.contains("the difference to the baseline of 20 runs"),
        "{html}"
    );
}

/// Runs of ten series, as left by ten blocks of two variants and five workloads.
fn long(runs: usize) -> History {
    let mut history = History::default();
    for number in 0..10_u32 {
        history.series.push(Series {
            variant: format!("variant-{}", number % 2),
            workload: format!("workload-{}", number / 2),
            metric: Metric::CpuPerRequest,
            point: wasmbench_model::wire::record::Point::Throughput { connections: 50 },
        });
    }
    history.settings.push(Setting {
        node: "node".into(),
        fingerprint: "0123456789ab".into(),
        baseline: "native".into(),
        images: std::collections::BTreeMap::new(),
        asked: "0123456789ab".into(),
    });
    for run in 0..runs {
        // Five arbitrary digits, so that the data compresses no better than real numbers.
        let digits =
            |salt: usize| f64::from(u32::try_from((run * 7919 + salt * 104_729) % 99_991).unwrap());
        let numbers = (0..10).map(|series| {
            let (ratio, value) = (1.0 + digits(series) / 1e5, 1.0 + digits(series + 50) / 1e3);
            Number {
                series,
                versus_baseline: Some(Ends(ratio, ratio - digits(series + 20) / 1e6, ratio + 0.01)),
                blocks: 10,
                value: Some(Ends(value, value - 0.1, value + digits(series + 90) / 1e5)),
                trusted: true,
                pilot: None,
            }
        });
        history.runs.push(Line {
            name: format!("nightly-{}", 29_881_560 + run * 1440),
            ended: at(run),
            runs: 1,
            setting: 0,
            numbers: numbers.collect(),
        });
    }
    history
}

#[test]
fn years_of_nightly_runs_fit_a_config_map_and_none_is_lost() {
    let mut history = long(2000);
    let bytes = history.pack(MOST_BYTES).unwrap();
    assert!(bytes.len() <= MOST_BYTES, "{}", bytes.len());
    assert_eq!(history.run_count() + history.forgotten, 2000);
    assert_eq!(history.forgotten, 0);
    assert!(history.runs.len() >= 1000, "{}", history.runs.len());
    // The newest runs are unchanged.
    assert_eq!(
        history.runs[history.runs.len() - 100..],
        long(2000).runs[1900..]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_run_is_counted_however_short_the_history_must_be(runs in 0..250_usize, most in 500..30_000_usize) {
        let mut history = long(runs);
        let bytes = history.pack(most).unwrap();
        prop_assert_eq!(history.run_count() + history.forgotten, u32::try_from(runs).unwrap());
        prop_assert!(bytes.len() <= most || history.runs.len() <= 100);
        prop_assert_eq!(History::unpack(&bytes).unwrap(), history);
    }

    #[test]
    fn bytes_that_are_not_a_history_are_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(History::unpack(&bytes).is_err());
    }
}
