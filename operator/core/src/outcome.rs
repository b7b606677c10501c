//! What a probe printed -> how its trial ended. Everything in a probe's log may be influenced by
//! the subject's answers, so it is parsed with care and never assumed to be well-formed.

use serde::de::DeserializeOwned;
use wasmbench_model::quote::quotation;
use wasmbench_model::waiting::{crash_remedy, not_executable};
use wasmbench_model::wire::cold_start::{COLD_START_SCHEMA, ColdStartDocument};
use wasmbench_model::wire::density::{DENSITY_SCHEMA, DensityDocument};
use wasmbench_model::wire::document::LoadDocument;
use wasmbench_model::wire::evidence::Evidence;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::{Outcome, Point};
use wasmbench_model::wire::scout::{SCOUT_SCHEMA, ScoutDocument};

use crate::observed::PodState;

/// Longest quotation of a log in a message.
const QUOTE: usize = 200;

/// The document at the end of a probe's log, and how its trial at `point` ended. `subject` is the
/// pod under test of a load.
pub fn read(
    point: Point,
    log: &str,
    probe: &PodState,
    subject: Option<&PodState>,
) -> (Option<Evidence>, Outcome) {
    let read = match point {
        Point::ColdStart { .. } => read_cold_start(log),
        Point::Density => read_density(log),
        Point::Scout => read_scout(log, subject),
        Point::WarmLatency
        | Point::Throughput { .. }
        | Point::OpenLoop { .. }
        | Point::Capacity
        | Point::Payload => read_load(log, subject),
    };
    match read {
        Some((evidence, outcome)) => (Some(evidence), outcome),
        None => (None, failed(no_document(last_line(log), probe))),
    }
}

fn read_scout(log: &str, subject: Option<&PodState>) -> Option<(Evidence, Outcome)> {
    let read: Option<ScoutDocument> = last_document(log);
    let document = read.filter(|document| document.schema == SCOUT_SCHEMA)?;
    let outcome = match &document.failure {
        Some(failure) => explained(failure, subject.and_then(crash_of)),
        None if !document.workloads.is_empty() => Outcome::Measured,
        None => failed(no_result()),
    };
    Some((document.into(), outcome))
}

fn read_load(log: &str, subject: Option<&PodState>) -> Option<(Evidence, Outcome)> {
    let document: LoadDocument = last_document(log)?;
    let outcome = judge(&document, subject.and_then(crash_of));
    Some((document.into(), outcome))
}

fn read_cold_start(log: &str) -> Option<(Evidence, Outcome)> {
    let read: Option<ColdStartDocument> = last_document(log);
    let document = read.filter(|document| document.schema == COLD_START_SCHEMA)?;
    // Samples of the wrong class are a measurement too: they show that the class did not hold.
    let counted = document.samples.iter().any(|sample| !sample.discarded);
    let outcome = match &document.failure {
        Some(failure) => failed(failure.clone()),
        None if counted => Outcome::Measured,
        None => failed(no_result()),
    };
    Some((document.into(), outcome))
}

fn read_density(log: &str) -> Option<(Evidence, Outcome)> {
    let read: Option<DensityDocument> = last_document(log);
    let document = read.filter(|document| document.schema == DENSITY_SCHEMA)?;
    let outcome = match &document.failure {
        Some(failure) => failed(failure.clone()),
        None if !document.steps.is_empty() => Outcome::Measured,
        None => failed(no_result()),
    };
    Some((document.into(), outcome))
}

/// The last line that is a document. The probe prints nothing after it; what a crash prints goes
/// through standard error and may reach the log later.
fn last_document<T: DeserializeOwned>(log: &str) -> Option<T> {
    let mut lines = log.lines().rev().filter(|line| line.starts_with('{'));
    lines.find_map(|line| serde_json::from_str(line).ok())
}

fn last_line(log: &str) -> &str {
    let mut lines = log.lines().rev();
    lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

fn no_result() -> Failure {
    Failure::new(
        FailureReason::ProbeFailed,
        "the probe reports neither a measurement nor a failure: operator and probe image do not match",
    )
}

/// A trial that failed for this reason.
pub fn failed(failure: Failure) -> Outcome {
    Outcome::Failed {
        reason: failure.reason,
        message: failure.message,
    }
}

fn judge(document: &LoadDocument, crash: Option<Failure>) -> Outcome {
    let Some(failure) = &document.failure else {
        let is_measured =
            document.timed.is_some() || !document.rungs.is_empty() || !document.sizes.is_empty();
        return if is_measured {
            Outcome::Measured
        } else {
            failed(no_result())
        };
    };
    explained(failure, crash)
}

/// A subject that ended explains whatever the probe saw, except a request that the probe did not
/// understand.
fn explained(failure: &Failure, crash: Option<Failure>) -> Outcome {
    match crash.filter(|_| failure.reason != FailureReason::BadRequest) {
        Some(crash) => failed(crash),
        None => failed(failure.clone()),
    }
}

/// Why an ended subject failed, from the state of its container.
pub fn crash_of(state: &PodState) -> Option<Failure> {
    let PodState::Ended {
        exit_code,
        reason,
        message,
    } = state
    else {
        return None;
    };
    let code = exit_code.map_or_else(String::new, |code| format!(" with exit code {code}"));
    let detail = if message.is_empty() {
        String::new()
    } else {
        format!(": {}", quotation(message))
    };
    let (kind, remedy) = match not_executable(message) {
        Some(remedy) => (FailureReason::SubjectNotStarted, remedy),
        None => (FailureReason::SubjectCrashed, crash_remedy(reason)),
    };
    let text = format!("the container ended{code} ({reason}){detail}: {remedy}");
    Some(Failure::new(kind, text))
}

fn no_document(last: &str, probe: &PodState) -> Failure {
    let how = match probe {
        PodState::Ended {
            exit_code: Some(code),
            reason,
            ..
        } => {
            format!(" with exit code {code} ({reason})")
        }
        PodState::Ended { reason, .. } => format!(" ({reason})"),
        PodState::Pending(_) | PodState::Running => String::new(),
    };
    let quote: String = last
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(QUOTE)
        .collect();
    let last = if quote.is_empty() {
        "nothing".to_owned()
    } else {
        format!("'{quote}'")
    };
    Failure::new(
        FailureReason::ProbeFailed,
        format!("the probe ended{how} without a result; the last thing it printed was {last}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmbench_model::wire::cold_start::ColdSample;
    use wasmbench_model::wire::document::LOAD_SCHEMA;
    use wasmbench_model::wire::document::TimedWindow;

    fn document(failure: Option<FailureReason>) -> LoadDocument {
        LoadDocument {
            schema: LOAD_SCHEMA.into(),
            probe_version: "0.1.0".into(),
            fortio_version: "1.68.2".into(),
            failure: failure.map(|reason| Failure {
                reason,
                message: "as it was".into(),
            }),
            ..LoadDocument::default()
        }
    }

    fn ended(code: i32) -> PodState {
        PodState::Ended {
            exit_code: Some(code),
            reason: "Error".into(),
            message: String::new(),
        }
    }

    fn reason_of(outcome: &Outcome) -> &str {
        match outcome {
            Outcome::Measured => "Measured",
            Outcome::Failed { reason, .. } | Outcome::Skipped { reason, .. } => reason.as_str(),
        }
    }

    #[test]
    fn the_document_is_the_last_line() {
        let failure = Some(FailureReason::NeverListened);
        let json = serde_json::to_string(&document(failure)).unwrap();
        let (read, outcome) = read(
            Point::WarmLatency,
            &format!("waiting\n{json}\n\n"),
            &ended(1),
            None,
        );
        assert!(read.is_some());
        assert_eq!(reason_of(&outcome), "NeverListened");
    }

    #[test]
    fn late_progress_lines_do_not_hide_the_document() {
        let json = serde_json::to_string(&document(None)).unwrap();
        assert!(
            read(
                Point::WarmLatency,
                &format!("{json}\nsample 5 of 5\n"),
                &ended(0),
                None
            )
            .0
            .is_some()
        );
    }

    fn cold_start(samples: &[bool], failure: Option<FailureReason>) -> String {
        let sample = |discarded: &bool| ColdSample {
            discarded: *discarded,
            ..ColdSample::default()
        };
        let document = ColdStartDocument {
            schema: COLD_START_SCHEMA.into(),
            probe_version: "0.1.0".into(),
            failure: failure.map(|reason| Failure {
                reason,
                message: "as it was".into(),
            }),
            samples: samples.iter().map(sample).collect(),
            ..ColdStartDocument::default()
        };
        serde_json::to_string(&document).unwrap()
    }

    #[test]
    fn cold_starts_are_measured_when_a_sample_counts() {
        let point = Point::ColdStart { concurrency: 1 };
        let reason = |log: &str| reason_of(&read(point, log, &ended(0), None).1).to_owned();
        assert_eq!(reason(&cold_start(&[true, false], None)), "Measured");
        assert_eq!(reason(&cold_start(&[true], None)), "ProbeFailed");
        let failure = Some(FailureReason::ImageUnavailable);
        assert_eq!(reason(&cold_start(&[true], failure)), "ImageUnavailable");
        assert_eq!(reason("Killed"), "ProbeFailed");
    }

    #[test]
    fn a_scout_is_measured_once_a_workload_was_answered() {
        let scout = |failure: &str, workloads: &str| {
            format!(
                "{{\"schema\":\"{SCOUT_SCHEMA}\",\"probeVersion\":\"0\",{failure}\"workloads\":[{workloads}],\
                 \"readiness\":{{\"waitedMicroseconds\":1,\"attempts\":1}},\"environment\":{{\"facts\":{{}}}}}}"
            )
        };
        let reason = |log: &str, subject: Option<&PodState>| {
            reason_of(&read(Point::Scout, log, &ended(1), subject).1).to_owned()
        };
        let greet = "{\"workload\":\"greet\",\"answers\":[]}";
        assert_eq!(reason(&scout("", greet), None), "Measured");
        assert_eq!(reason(&scout("", ""), None), "ProbeFailed");
        let deaf = "\"failure\":{\"reason\":\"NeverListened\",\"message\":\"\"},";
        assert_eq!(reason(&scout(deaf, greet), None), "NeverListened");
        let crashed = reason(&scout(deaf, greet), Some(&ended(139)));
        assert_eq!(crashed, "SubjectCrashed");
    }

    #[test]
    fn a_subject_that_crashed_explains_what_the_probe_saw() {
        let failure = Some(FailureReason::NoSuccessfulRequest);
        let json = serde_json::to_string(&document(failure)).unwrap();
        let (_, outcome) = read(Point::WarmLatency, &json, &ended(1), Some(&ended(139)));
        assert_eq!(reason_of(&outcome), "SubjectCrashed");
    }

    #[test]
    fn a_subject_that_the_node_cannot_execute_did_not_start() {
        let ended = PodState::Ended {
            exit_code: Some(255),
            reason: "Error".into(),
            message: "exec /app: exec format error".into(),
        };
        let Failure { reason, message } = crash_of(&ended).unwrap();
        assert_eq!(reason, FailureReason::SubjectNotStarted);
        assert!(message.contains("kubernetes.io/arch"), "{message}");
    }

    #[test]
    fn a_subject_that_needs_more_memory_is_given_more_and_any_other_is_looked_at() {
        let remedied = |reason: &str| {
            let ended = PodState::Ended {
                exit_code: Some(137),
                reason: reason.into(),
                message: "loading".into(),
            };
            crash_of(&ended).unwrap().message
        };
        let killed = remedied("OOMKilled");
        assert!(
            killed.ends_with("(OOMKilled): \"loading\": raise the memory limit"),
            "{killed}"
        );
        assert!(remedied("Error").ends_with("see why it does not keep serving"));
    }

    #[test]
    fn a_document_with_a_window_is_a_measurement() {
        let measured = LoadDocument {
            timed: Some(TimedWindow::default()),
            ..document(None)
        };
        let json = serde_json::to_string(&measured).unwrap();
        assert_eq!(
            reason_of(&read(Point::WarmLatency, &json, &ended(0), None).1),
            "Measured"
        );
    }

    #[test]
    fn a_log_without_a_document_is_a_failed_probe_and_is_quoted_on_one_line() {
        let (read, outcome) = read(
            Point::WarmLatency,
            "exec format error\u{7}",
            &ended(1),
            None,
        );
        assert!(read.is_none());
        let Outcome::Failed { reason, message } = outcome else {
            panic!("not failed")
        };
        assert_eq!(reason, FailureReason::ProbeFailed);
        assert!(message.contains("'exec format error '"), "{message}");
    }

    #[test]
    fn a_document_with_neither_measurement_nor_failure_is_not_a_measurement() {
        let json = serde_json::to_string(&document(None)).unwrap();
        assert_eq!(
            reason_of(&read(Point::WarmLatency, &json, &ended(0), None).1),
            "ProbeFailed"
        );
    }
}
