//! JUnit XML, which continuous integration shows as tests: whether the numbers are trustworthy,
//! each expectation, and each primary comparison. A slower variant is a finding and fails nothing;
//! requirements belong in expectations.

use maud::{Markup, PreEscaped, html};
use wasmbench_model::units::truncate;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::expectations::{Decision, Fulfilment};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::trust::{self, Trust, trust};

use crate::left_out::{LeftOut, left_out};
use crate::markup::{empty_element, printable};
use crate::table::ascii;

/// Longest message in an attribute, in characters; the element contains the whole message.
const MAX_ATTRIBUTE_CHARS: usize = 300;

/// The outcome of a test case, with its message.
enum CaseResult {
    Passed(String),
    Skipped(String),
    /// The gate is closed by it.
    Failed {
        kind: &'static str,
        message: String,
    },
    /// The test could not run: nothing is known about its subject.
    Broken {
        kind: &'static str,
        message: String,
    },
}

struct Case {
    /// The group in which the case is shown.
    class: &'static str,
    name: String,
    outcome: CaseResult,
}

const DECLARATION: PreEscaped<&str> = PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");

/// The whole document, well-formed for any names and messages.
pub fn junit(summary: &Summary) -> String {
    let cases = cases(summary);
    let count =
        |is_so: fn(&CaseResult) -> bool| cases.iter().filter(|case| is_so(&case.outcome)).count();
    let failures = count(|outcome| matches!(outcome, CaseResult::Failed { .. }));
    let errors = count(|outcome| matches!(outcome, CaseResult::Broken { .. }));
    let skipped = count(|outcome| matches!(outcome, CaseResult::Skipped(_)));
    let class = format!("{}.{}", summary.run.namespace, summary.run.name);
    let (period, tests) = (summary.period, cases.len());
    // The format has no time zone.
    let started = period.map(|period| period.started_at.strftime("%Y-%m-%dT%H:%M:%S"));
    let document = html! {
        (DECLARATION)
        testsuites name="wasmbench" tests=(tests) failures=(failures) errors=(errors) {
            "\n"
            testsuite name=(class) tests=(tests) failures=(failures) errors=(errors) skipped=(skipped)
                timestamp=[started.map(|started| started.to_string())] time=[period.map(|period| period.seconds)] {
                "\n"
                (properties(summary)) "\n"
                @for case in &cases { (case.element(&class)) "\n" }
                system-out { (summary.verdict) } "\n"
            } "\n"
        } "\n"
    };
    printable(&document).into_string()
}

fn properties(summary: &Summary) -> Markup {
    let (run, environment) = (&summary.run, &summary.environment);
    let versions: Vec<&str> = environment
        .operator_versions
        .iter()
        .map(String::as_str)
        .collect();
    let properties = [
        ("run", Some(format!("{}/{}", run.namespace, run.name))),
        ("uid", Some(run.uid.clone())),
        ("seed", Some(summary.seed.to_string())),
        ("baseline", Some(summary.baseline.clone())),
        ("plannedBaseline", summary.planned_baseline.clone()),
        ("node", environment.node.clone()),
        ("fingerprint", environment.fingerprint.clone()),
        (
            "version",
            Some(versions.join(", ")).filter(|all| !all.is_empty()),
        ),
    ];
    let known = properties
        .iter()
        .filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    html! {
        properties {
            "\n"
            @for (name, value) in known { (empty_element("property", &[("name", name), ("value", value)])) "\n" }
        }
    }
}

fn cases(summary: &Summary) -> Vec<Case> {
    let expectations = summary
        .expectations
        .iter()
        .map(|decision| expectation(summary, decision));
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    let compared = primary.map(|one| comparison(summary, one));
    let left_out = left_out(summary);
    let uncompared = left_out.iter().map(not_compared);
    let all = std::iter::once(trusted(summary)).chain(expectations);
    all.chain(compared).chain(uncompared).collect()
}

/// An error rather than a failure: nothing is known to be wrong with what was measured.
fn trusted(summary: &Summary) -> Case {
    let outcome = match trust(summary) {
        Trust::Yes(message) => CaseResult::Passed(message),
        Trust::No { reason, message } => CaseResult::Broken {
            kind: reason,
            message,
        },
        Trust::NoNumbers => CaseResult::Broken {
            kind: "NoResult",
            message: summary.verdict.clone(),
        },
    };
    Case {
        class: "trust",
        name: "the numbers are trustworthy".to_owned(),
        outcome,
    }
}

fn expectation(summary: &Summary, decision: &Decision) -> Case {
    let message = decision.message.clone();
    let outcome = match (decision.outcome, summary.trustworthy) {
        (Fulfilment::NotMet, _) => CaseResult::Failed {
            kind: "ExpectationNotMet",
            message,
        },
        // It closes the gate as well: whoever reads this file alone must not see a pass.
        (Fulfilment::Undecided, _) => CaseResult::Failed {
            kind: "undecided",
            message: format!("undecided: {message}"),
        },
        (Fulfilment::Met, Some(true)) => CaseResult::Passed(message),
        (Fulfilment::Met, Some(false) | None) => CaseResult::Skipped(format!(
            "met, but the numbers are not trustworthy: {message}"
        )),
    };
    Case {
        class: "expectations",
        name: decision.name.clone(),
        outcome,
    }
}

fn comparison(summary: &Summary, one: &Comparison) -> Case {
    let found = if one.verdict.is_decided() {
        format!("{}, {}", one.judged_text(), one.verdict_text())
    } else {
        format!("undecided: {}", one.judged_text())
    };
    let reasons: Vec<&str> = one
        .untrusted
        .iter()
        .copied()
        .chain(trust::of_run(summary))
        .map(Into::into)
        .collect();
    let outcome = if !reasons.is_empty() {
        CaseResult::Skipped(format!("untrusted ({}): {found}", reasons.join(", ")))
    } else if one.verdict.is_decided() {
        CaseResult::Passed(found)
    } else {
        CaseResult::Skipped(found)
    };
    Case {
        class: "comparisons",
        name: format!("{} versus {}", one.subject(), summary.baseline),
        outcome,
    }
}

fn not_compared(one: &LeftOut<'_>) -> Case {
    Case {
        class: "comparisons",
        name: format!("{} on {}", one.variant, one.workload),
        outcome: CaseResult::Skipped(format!("not compared: {}", one.reason)),
    }
}

impl Case {
    fn element(&self, class: &str) -> Markup {
        html! {
            testcase classname={ (class) "." (self.class) } name=(self.name) time="0" { (self.outcome.element()) }
        }
    }
}

impl CaseResult {
    /// A message is both the attribute that some programs show and the content that others show.
    fn element(&self) -> Markup {
        match self {
            Self::Passed(message) => html! { system-out { (message) } },
            Self::Skipped(message) => html! { skipped message=(short(message)) { (message) } },
            Self::Failed { kind, message } => html! {
                failure type=(kind) message=(short(message)) { (message) }
            },
            Self::Broken { kind, message } => html! {
                error type=(kind) message=(short(message)) { (message) }
            },
        }
    }
}

/// A message for an attribute, on one line.
fn short(message: &str) -> String {
    ascii(&truncate(message, MAX_ATTRIBUTE_CHARS))
}
