//! Measures that are compared only in runs that name them.

use wasmbench_model::wire::document::InstanceTime;
use wasmbench_report::csv::summary_csv;
use wasmbench_report::markdown::report_md;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::{all_measured, run};

/// The synthetic run in which `native` spends a tenth of its CPU time in the kernel and makes its
/// instances in no time.
fn summary(change: impl Fn(&mut RunInput)) -> Summary {
    let mut run = run();
    change(&mut run);
    let mut records = all_measured(&run);
    for record in &mut records {
        let is_native = record.trial.cell.variant == "native";
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.instances = Some(InstanceTime {
            calls: 100,
            nanoseconds: if is_native { 0 } else { 5_000_000 },
            processes: None,
        });
        if is_native {
            let meter = window.subject.as_mut().unwrap();
            meter.cpu_system_nanoseconds = Some(meter.cpu_nanoseconds / 10);
        }
    }
    summarize(&run, &records)
}

fn compared(summary: &Summary, metric: Metric) -> Vec<&Comparison> {
    let all = summary.comparisons.iter();
    all.filter(|one| one.metric == metric).collect()
}

#[test]
fn a_run_that_names_none_of_them_is_as_if_they_did_not_exist() {
    let summary = summary(|_| ());
    let is_additional = |one: &Comparison| one.metric.is_additional();
    assert!(!summary.comparisons.iter().any(is_additional));
    let text = serde_json::to_string(&summary).unwrap() + &summary_csv(&summary);
    for word in ["\"additional", "systemCpuPerRequest", "page_faults"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn a_named_measure_is_compared_and_shown_and_decides_nothing_by_itself() {
    let named = summary(|run| {
        run.spec.additional_measures = vec![Metric::SystemCpuPerRequest];
    });
    let found = compared(&named, Metric::SystemCpuPerRequest);
    assert_eq!(found.len(), 2, "one for each workload, at the knee");
    assert!(
        found
            .iter()
            .all(|one| !one.primary && one.estimate.ratio > 1.0)
    );
    assert!(compared(&named, Metric::ContextSwitchesPerCpuSecond).is_empty());
    let plain = summary(|_| ());
    let primary = |summary: &Summary| {
        let all = summary.comparisons.iter().filter(|one| one.primary);
        all.map(|one| (one.metric, one.adjusted_p_value))
            .collect::<Vec<_>>()
    };
    assert_eq!(primary(&named), primary(&plain));
    assert_eq!(named.verdict, plain.verdict);
    let report = report_md(&named, usize::MAX);
    assert!(report.contains("CPU in the kernel per request"), "{report}");
    assert!(summary_csv(&named).contains("system_cpu_microseconds_per_request_median"));
}

#[test]
fn a_named_measure_can_be_what_the_run_decides() {
    let summary = summary(|run| {
        run.spec.primary_measures = vec![Metric::SystemCpuPerRequest];
    });
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    let primary: Vec<Metric> = primary.map(|one| one.metric).collect();
    assert!(!primary.is_empty());
    let chosen = |metric: &Metric| *metric == Metric::SystemCpuPerRequest;
    assert!(primary.iter().all(chosen), "{primary:?}");
}

#[test]
fn without_instances_of_the_baseline_their_time_has_a_number_and_no_ratio() {
    let summary = summary(|run| {
        run.spec.additional_measures = vec![Metric::InstanceTimePerRequest];
    });
    assert!(compared(&summary, Metric::InstanceTimePerRequest).is_empty());
    let time = |variant: &str| {
        let mut cells = summary.cells.iter();
        let cell = cells.find(|cell| cell.variant == variant).unwrap();
        cell.detail.additional[&Metric::InstanceTimePerRequest].median
    };
    assert_eq!((time("native"), time("embedded")), (0.0, 50.0));
}

#[test]
fn a_summary_that_is_read_again_has_the_same_numbers() {
    let summary = summary(|run| {
        run.spec.additional_measures = vec![Metric::CpuUse, Metric::SystemCpuPerRequest];
    });
    let read = Summary::read(&serde_json::to_string(&summary).unwrap()).unwrap();
    let numbers = |summary: &Summary| {
        let trials = summary.cells.iter().flat_map(|cell| &cell.detail.trials);
        trials
            .map(|trial| trial.metrics.additional.clone())
            .collect::<Vec<_>>()
    };
    assert!(numbers(&summary).iter().any(|found| found.len() == 2));
    assert_eq!(numbers(&read), numbers(&summary));
}
