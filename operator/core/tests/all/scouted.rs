//! What follows from what scouts saw.

use jiff::Timestamp;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Exclusion, Stage, Step, incomparable, plan, requested_rps};
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::store::Ended;
use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::open_loop::Peak;
use wasmbench_model::wire::record::TrialId;
use wasmbench_model::wire::scout::{AfterAnswer, BodyFraming, Scouted, ScoutedAnswer};

use crate::common;

pub fn answer(body: &str) -> ScoutedAnswer {
    ScoutedAnswer {
        answer: Answer {
            status: 200,
            body_bytes: body.len() as u64,
            body_sha256: format!("{body:0>64}"),
            json_sha256: None,
            excerpt: body.to_owned(),
        },
        framing: BodyFraming::Length,
        connection: AfterAnswer::Kept,
    }
}

pub fn right(workload: &str, body: &str) -> Scouted {
    Scouted {
        workload: workload.to_owned(),
        answers: vec![answer(body), answer(body)],
        failure: None,
        not_asked: None,
        peak: None,
        no_peak: None,
    }
}

pub fn wrong(workload: &str, reason: &str) -> Scouted {
    Scouted {
        failure: Some(Failure {
            reason: reason.into(),
            message: "as the scout said".to_owned(),
        }),
        ..right(workload, "goodbye")
    }
}

/// A run in which all variants must give the same answer to `greet`.
fn run() -> ValidatedRun {
    let mut run = common::parse(common::RUN);
    run.spec.noise_floor = Some(true);
    run.spec.workloads.truncate(1);
    run.spec.workloads[0].expect.same_across_variants = true;
    validate(&run, &common::config()).unwrap()
}

fn observed(scouted: &[(&str, Scouted)]) -> Observed {
    let entry = |(variant, saw): &(&str, Scouted)| ((*variant).to_owned(), vec![saw.clone()]);
    Observed {
        scouted: scouted.iter().map(entry).collect(),
        ..Observed::default()
    }
}

/// The same, once the run holds a node and its scouts have been recorded.
fn measuring(run: &ValidatedRun, scouted: &[(&str, Scouted)]) -> Observed {
    let scouts = run.order.iter().filter(|trial| trial.is_scout());
    Observed {
        nodes: vec![common::node("bench-1")],
        leases: vec![common::lease("bench-1", Some(run.uid.clone()))],
        runtime_classes: ["spin".to_owned()].into(),
        records: scouts
            .map(|trial| (trial.clone(), Ended::Measured))
            .collect(),
        ..observed(scouted)
    }
}

/// Who is not compared under `greet`, and why.
fn left_out(run: &ValidatedRun, scouted: &[(&str, Scouted)]) -> Vec<(String, String)> {
    let observed = observed(scouted);
    let found = incomparable(run, &observed).into_iter();
    found
        .map(|found| (found.variant.to_owned(), found.failure.reason.to_string()))
        .collect()
}

fn pair(variant: &str, reason: &str) -> (String, String) {
    (variant.to_owned(), reason.to_owned())
}

#[test]
fn an_answer_unlike_the_baselines_is_left_out_where_all_must_agree() {
    let mut run = run();
    let scouted = [
        ("tortoise", right("greet", "hello")),
        ("hare", right("greet", "hallo")),
        ("mine", right("greet", "hello")),
    ];
    let expected = [pair("hare", "ResponseMismatch")];
    assert_eq!(left_out(&run, &scouted), expected);
    let observed = observed(&scouted);
    let message = incomparable(&run, &observed).remove(0).failure.message;
    assert!(
        message.contains("hare answered 5 bytes, 'hallo'"),
        "{message}"
    );
    assert!(
        message.contains("tortoise answered 5 bytes, 'hello'"),
        "{message}"
    );
    // Before the baseline's scout, it is unknown.
    assert_eq!(left_out(&run, &scouted[1..]), []);
    run.spec.workloads[0].expect.same_across_variants = false;
    assert_eq!(left_out(&run, &scouted), []);
}

#[test]
fn wrong_or_changing_answers_are_left_out_together_with_the_twins() {
    let run = run();
    let scouted = [
        ("tortoise", wrong("greet", "WrongAnswer")),
        ("hare", wrong("greet", "AnswerChanged")),
        ("mine", right("greet", "hello")),
    ];
    let expected = [
        pair("tortoise", "WrongAnswer"),
        pair("hare", "AnswerChanged"),
        pair("baseline-twin", "WrongAnswer"),
    ];
    assert_eq!(left_out(&run, &scouted), expected);
}

#[test]
fn a_variant_that_did_not_answer_its_scout_in_time_is_still_tried() {
    let run = run();
    for reason in ["AnswerTooSlow", "NeverListened"] {
        let scouted = [
            ("tortoise", right("greet", "hello")),
            ("hare", wrong("greet", reason)),
        ];
        assert_eq!(left_out(&run, &scouted), [], "{reason}");
    }
}

#[test]
fn failed_requests_are_not_compared_where_some_may_fail() {
    let run = run();
    let mut hare = right("greet", "hello");
    hare.answers[0].answer.status = 503;
    hare.answers[0].answer.body_sha256 = "busy".into();
    let scouted = [("tortoise", right("greet", "hello")), ("hare", hare)];
    assert_eq!(left_out(&run, &scouted), []);
}

#[test]
fn the_status_reports_what_is_left_out_while_the_run_lasts() {
    let run = run();
    let mut observed = measuring(&run, &[("hare", wrong("greet", "WrongAnswer"))]);
    let message = |observed: &Observed| {
        let plan = plan(&run, observed, Timestamp::UNIX_EPOCH);
        let Stage::Measuring { message, .. } = plan.stage else {
            panic!("{plan:?}");
        };
        message
    };
    let skipping = message(&observed);
    let expected =
        "skipping variant hare under workload greet: before the first block: as the scout said";
    assert!(skipping.starts_with(expected), "{skipping}");
    for trial in run.order.iter().filter(|one| one.cell.variant == "hare") {
        let skipped = Ended::Skipped("WrongAnswer".into());
        observed.records.entry(trial.clone()).or_insert(skipped);
    }
    let going_on = message(&observed);
    let end = "; not measured: hare under greet (WrongAnswer)";
    assert!(going_on.ends_with(end), "{going_on}");
}

/// A run with an open loop under `greet`, and what its scouts found: all have been recorded.
fn open_loop(sweep: &serde_json::Value, baseline: Scouted) -> (ValidatedRun, Observed) {
    let mut run = common::parse(common::RUN);
    run.spec.workloads.truncate(1);
    run.spec.sweeps = serde_json::from_value(serde_json::json!({"openLoop": sweep})).unwrap();
    let run = validate(&run, &common::config()).unwrap();
    // The other variants may be faster or slower: their peaks play no part.
    let observed = measuring(&run, &[("tortoise", baseline), ("hare", with_peak(9000.0))]);
    (run, observed)
}

fn with_peak(rps: f64) -> Scouted {
    Scouted {
        peak: Some(Peak {
            rps,
            ..Peak::default()
        }),
        ..right("greet", "hello")
    }
}

/// The rates of all trials of the first block, by point, each as often as there are variants.
fn rates(run: &ValidatedRun, observed: &Observed) -> Vec<(String, Vec<f64>)> {
    let is_first = |trial: &&TrialId| trial.block == 1;
    let mut rates: Vec<(String, Vec<f64>)> = run
        .order
        .iter()
        .filter(is_first)
        .map(|trial| {
            (
                trial.cell.point.to_string(),
                requested_rps(run, observed, trial),
            )
        })
        .collect();
    rates.sort_by(|one, other| one.0.cmp(&other.0));
    rates
}

#[test]
fn all_variants_get_the_same_rate_whatever_their_own_peaks_are() {
    let shares = serde_json::json!({"ratesPercentOfPeak": [50, 90]});
    let (run, observed) = open_loop(&shares, with_peak(1000.0));
    let many = run.variants.len();
    let expected = |low: (&str, f64), high: (&str, f64)| {
        let each = |(point, rps): (&str, f64)| vec![(point.to_owned(), vec![rps]); many];
        [each(low), each(high)].concat()
    };
    let of_peak = expected(("open-p50", 500.0), ("open-p90", 900.0));
    assert_eq!(rates(&run, &observed), of_peak);
    let stated = serde_json::json!({"rates": [500, 200]});
    let (run, observed) = open_loop(&stated, right("greet", "hello"));
    let as_stated = expected(("open-r200", 200.0), ("open-r500", 500.0));
    assert_eq!(rates(&run, &observed), as_stated);
}

#[test]
fn a_ladder_is_that_around_the_baselines_peak_or_as_stated_and_the_same_for_all_variants() {
    let of_peak = serde_json::json!({"target": {"p99": "50ms"}});
    let (run, observed) = open_loop(&of_peak, with_peak(1000.0));
    let climbs = rates(&run, &observed);
    assert_eq!(climbs.len(), run.variants.len(), "one point");
    let (point, first) = &climbs[0];
    assert_eq!((point.as_str(), first.len()), ("capacity", 8));
    assert!((first[0] - 300.0).abs() < 1e-9 && (first[7] - 1300.0).abs() < 1e-9);
    assert!(climbs.iter().all(|(_, rungs)| rungs == first));
    let stated = serde_json::json!({"target": {"p99": "50ms"}, "rates": [300, 200]});
    let (run, observed) = open_loop(&stated, right("greet", "hello"));
    assert_eq!(rates(&run, &observed)[0].1, [200.0, 300.0]);
}

/// What the plan skips.
fn skipped(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    let steps = plan(run, observed, Timestamp::UNIX_EPOCH).steps;
    steps.into_iter().find_map(|step| {
        if let Step::RecordSkipped(exclusion) = step {
            Some(exclusion)
        } else {
            None
        }
    })
}

#[test]
fn a_ladder_whose_lowest_rung_takes_longer_than_allowed_is_skipped_with_a_remedy() {
    let sweep = serde_json::json!({"target": {"p99": "50ms"}, "durationSeconds": 10});
    let of_peak = |rps: f64| {
        let (mut run, observed) = open_loop(&sweep, with_peak(rps));
        run.longest_window_seconds = 60;
        skipped(&run, &observed)
    };
    let found = of_peak(10.0).expect("an exclusion").failure;
    assert_eq!(found.reason, FailureReason::PeakTooLow);
    for part in [
        "peak of tortoise under greet",
        "s at 3 requests/s",
        "openLoop.rates",
    ] {
        let message = &found.message;
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(of_peak(100.0), None);
}

#[test]
fn without_the_baselines_peak_shares_of_it_are_skipped_with_a_remedy() {
    let without = Scouted {
        no_peak: Some("no request at the peak was answered as expected: 503".into()),
        ..right("greet", "hello")
    };
    let (run, mut observed) = open_loop(&serde_json::json!({}), without.clone());
    let found = skipped(&run, &observed).expect("an exclusion");
    assert_eq!(found.failure.reason, FailureReason::PeakUnknown);
    for part in ["peak of tortoise under greet", ": 503", "openLoop.rates"] {
        let message = &found.failure.message;
        assert!(message.contains(part), "{part}: {message}");
    }
    let open = run.planned(0).iter().filter(|trial| !trial.is_scout());
    assert_eq!(found.trials.len(), open.count());
    // A scout that failed found none either; before its end, nothing is known.
    observed.scouted.clear();
    let found = skipped(&run, &observed).expect("an exclusion");
    assert!(found.failure.message.contains("saw nothing"), "{found:?}");
    observed.records.clear();
    assert_eq!(skipped(&run, &observed), None);
    // Rates in requests per second need no peak.
    let (run, observed) = open_loop(&serde_json::json!({"rates": [200]}), without);
    assert_eq!(skipped(&run, &observed), None);
}
