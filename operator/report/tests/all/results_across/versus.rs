//! A run and the earlier run that its spec names.

use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus, conditions};
use wasmbench_model::twin::with_twin;
use wasmbench_report::across::{Versus, earlier};
use wasmbench_results::summary::collect::{RunInput, summarize};

use super::support::{changed, named};
use crate::results_support::all_measured;

/// A finished run as stored in the API.
fn finished(input: &RunInput) -> BenchmarkRun {
    let mut run = BenchmarkRun::new(&input.name, input.spec.clone());
    run.metadata.uid = Some(input.uid.clone());
    let done = conditions::yes(conditions::FINISHED, "Completed", "");
    run.status = Some(BenchmarkRunStatus {
        seed: Some(42),
        conditions: conditions::merge(&[], vec![done], Some(1), jiff::Timestamp::UNIX_EPOCH),
        ..BenchmarkRunStatus::default()
    });
    run
}

#[test]
fn a_named_run_that_cannot_be_compared_is_reported_as_the_reason() {
    let reason = |run: Option<&BenchmarkRun>| earlier("before", run).err().unwrap_or_default();
    assert!(reason(None).contains("there is no BenchmarkRun 'before'"));
    let mut run = finished(&named("before"));
    assert_eq!(reason(Some(&run)), "");
    run.status = run.status.map(|status| BenchmarkRunStatus {
        seed: None,
        ..status
    });
    assert!(reason(Some(&run)).contains("measured nothing"));
    run.status = None;
    assert!(reason(Some(&run)).contains("was not finished"));
    let (after, records) = (named("after"), all_measured(&named("after")));
    let summary = summarize(&after, &records);
    let versus = Versus::new(
        "before",
        Err("it is gone".to_owned()),
        (&after.spec, &summary),
    );
    assert_eq!(versus.text(), "Not compared with before: it is gone.\n");
    assert!(!versus.status().compared);
}

#[test]
fn a_comparison_with_a_named_run_counts_what_is_worse_in_the_status() {
    let (before, after) = (named("before"), named("after"));
    let input = earlier("before", Some(&finished(&before)));
    assert_eq!(
        input.map(|input| input.name).ok().as_deref(),
        Some("before")
    );
    let one = summarize(&before, &all_measured(&before));
    let other = summarize(&after, &changed(&after, 1.3));
    // The operator holds the later spec with the twin, if there is one.
    let mut spec = after.spec.clone();
    spec.noise_floor = Some(true);
    let spec = with_twin(&spec);
    let versus = Versus::new("before", Ok((&before.spec, &one)), (&spec, &other));
    let status = versus.status();
    assert!(status.compared, "{status:?}");
    assert_eq!((status.worse, status.better), (6, 0), "{status:?}");
    assert!(
        status
            .message
            .starts_with("6 of 18 numbers are worse, none is better; most: embedded")
    );
    assert!(
        versus
            .text()
            .contains("image of embedded: sha256:embedded -> sha256:changed")
    );
}
