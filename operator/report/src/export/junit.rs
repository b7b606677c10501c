//! JUnit XML, which continuous integration shows as tests: whether the numbers are trustworthy,
//! each expectation, and each primary comparison. A slower variant is a finding and fails nothing;
//! requirements belong in expectations.

use std::fmt::Write as _;

use wasmbench_model::units::cut;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::expectations::{Decision, Fulfilment};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::trust::{self, Trust, trust};

use crate::left_out::{LeftOut, left_out};
use crate::table::{escape_html, lines};

/// Longest message in an attribute, in characters; the element contains the whole message.
const MAX_ATTRIBUTE_CHARS: usize = 300;

/// The outcome of a test case, with its message.
enum CaseResult {
    Passed(String),
    Skipped(String),
    Failed(String),
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

/// The whole document, well-formed for any names and messages.
pub fn junit(summary: &Summary) -> String {
    let cases = cases(summary);
    let count =
        |is_so: fn(&CaseResult) -> bool| cases.iter().filter(|case| is_so(&case.outcome)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(|outcome| matches!(outcome, CaseResult::Failed(_))),
        count(|outcome| matches!(outcome, CaseResult::Broken { .. })),
    );
    let skipped = count(|outcome| matches!(outcome, CaseResult::Skipped(_)));
    let class = format!("{}.{}", summary.run.namespace, summary.run.name);
    let elements: String = cases.iter().map(|case| case.element(&class)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"wasmbench\" {counts}>\n\
         <testsuite name=\"{}\" {counts} skipped=\"{skipped}\"{}>\n{}{elements}<system-out>{}</system-out>\n\
         </testsuite>\n</testsuites>\n",
        escape_html(&class),
        when(summary),
        properties(summary),
        escape_html(&summary.verdict),
    )
}

fn when(summary: &Summary) -> String {
    let period = summary.period.map(|period| {
        // The format has no time zone.
        let started = period.started_at.strftime("%Y-%m-%dT%H:%M:%S");
        format!(" timestamp=\"{started}\" time=\"{}\"", period.seconds)
    });
    period.unwrap_or_default()
}

fn properties(summary: &Summary) -> String {
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
        ("node", environment.node.clone()),
        ("fingerprint", environment.fingerprint.clone()),
        (
            "version",
            Some(versions.join(", ")).filter(|all| !all.is_empty()),
        ),
    ];
    let known = properties.into_iter().filter_map(|(name, value)| {
        let value = escape_html(&value?);
        Some(format!("<property name=\"{name}\" value=\"{value}\"/>"))
    });
    format!("<properties>\n{}</properties>\n", lines("", known))
}

fn cases(summary: &Summary) -> Vec<Case> {
    let expectations = summary.expectations.iter();
    let expectations = expectations.map(|decision| expectation(summary, decision));
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    let compared = primary.map(|one| comparison(summary, one));
    let left_out = left_out(summary);
    let left_out = left_out.iter().map(not_compared);
    let all = std::iter::once(trusted(summary)).chain(expectations);
    all.chain(compared).chain(left_out).collect()
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
        (Fulfilment::NotMet, _) => CaseResult::Failed(message),
        (Fulfilment::Undecided, _) => CaseResult::Skipped(format!("undecided: {message}")),
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
        format!("{}, {}", one.judged_words(), one.verdict_words())
    } else {
        format!("undecided: {}", one.judged_words())
    };
    let against: Vec<&str> = one
        .untrusted
        .iter()
        .copied()
        .chain(trust::of_run(summary))
        .map(Into::into)
        .collect();
    let outcome = if !against.is_empty() {
        CaseResult::Skipped(format!("untrusted ({}): {found}", against.join(", ")))
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
    fn element(&self, class: &str) -> String {
        let mut element = format!(
            "<testcase classname=\"{}.{}\" name=\"{}\" time=\"0\">",
            escape_html(class),
            self.class,
            escape_html(&self.name)
        );
        let _ = match &self.outcome {
            CaseResult::Passed(said) => write!(element, "<system-out>{}</system-out>", text(said)),
            CaseResult::Skipped(message) => write!(element, "<skipped {}</skipped>", told(message)),
            CaseResult::Failed(message) => {
                let told = told(message);
                write!(
                    element,
                    "<failure type=\"ExpectationNotMet\" {told}</failure>"
                )
            }
            CaseResult::Broken { kind, message } => {
                write!(element, "<error type=\"{kind}\" {}</error>", told(message))
            }
        };
        element + "</testcase>\n"
    }
}

/// A message both as the attribute that some programs show and as the content that others show.
fn told(message: &str) -> String {
    let short = escape_html(&cut(message, MAX_ATTRIBUTE_CHARS));
    format!("message=\"{short}\">{}", text(message))
}

/// Lines of text as the content of an element.
fn text(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escape_html).collect();
    lines.join("\n")
}
