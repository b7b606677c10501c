//! What leaves the process, all on the standard output: short lines of progress, and at the end one
//! line with the document. The standard error stays empty: a pod's log holds both streams, and the
//! container runtime writes a line above 16 KiB in parts, between which a line of the other stream
//! would tear a document apart. A closed pipe is not a reason to panic.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;
use wasmbench_model::wire::document::LoadDocument;
use wasmbench_model::wire::failure::{Failure, FailureReason};

/// Largest document that is printed, in bytes: a container log and a record must hold it.
pub const MAX_DOCUMENT: usize = 400_000;

/// Prints one line of progress.
pub fn progress(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Prints the document and returns the exit code of the process.
pub fn print(document: &LoadDocument) -> ExitCode {
    let (line, measured) = line(document);
    write_out(&line, measured)
}

/// Prints a document whose size is bounded by the request, and returns the exit code of the
/// process.
pub fn print_plain(document: &impl Serialize, measured: bool) -> ExitCode {
    match serde_json::to_string(document) {
        Ok(json) => write_out(&(json + "\n"), measured),
        Err(error) => {
            progress(&format!("could not write the document: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn write_out(line: &str, measured: bool) -> ExitCode {
    let mut out = io::stdout().lock();
    let printed = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    match printed {
        Ok(()) if measured => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            progress(&format!("could not print the document: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The document as one line, and whether it holds a measurement.
fn line(document: &LoadDocument) -> (String, bool) {
    match serde_json::to_string(document) {
        Ok(json) if json.len() < MAX_DOCUMENT => (json + "\n", document.failure.is_none()),
        Ok(json) => (without_load(document, json.len()), false),
        // Only a map with keys other than strings could fail, and the document has none.
        Err(error) => {
            progress(&format!("could not write the document: {error}"));
            (String::new(), false)
        }
    }
}

/// The generator's output is the only part without a small bound.
fn without_load(document: &LoadDocument, size: usize) -> String {
    let message = format!(
        "the document has {size} bytes and at most {MAX_DOCUMENT} can be stored: the load generator's output \
         is too large; use fewer connections"
    );
    let mut document = document.clone();
    document.failure = Some(Failure {
        reason: FailureReason::LoadFailed,
        message,
    });
    if let Some(timed) = &mut document.timed {
        timed.fortio = Value::Null;
        timed.further.clear();
    }
    serde_json::to_string(&document).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use wasmbench_model::wire::document::TimedWindow;

    use super::*;
    use crate::testing::document;

    fn timed(fortio: Value) -> TimedWindow {
        TimedWindow {
            start_unix_nanoseconds: 1,
            duration_nanoseconds: 2,
            resolution_seconds: 1e-6,
            fortio,
            ..TimedWindow::default()
        }
    }

    #[test]
    fn a_document_is_one_line() {
        let (line, measured) = line(&document());
        assert!(measured);
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with("}\n"));
    }

    #[test]
    fn a_document_too_large_to_store_becomes_a_failure_that_is_small() {
        let mut document = document();
        let half = Value::String("x".repeat(MAX_DOCUMENT / 2));
        document.timed = Some(TimedWindow {
            further: vec![half.clone()],
            ..timed(half)
        });
        let (line, measured) = line(&document);
        assert!(!measured);
        assert!(line.len() < 2000);
        let read: LoadDocument = serde_json::from_str(&line).unwrap();
        assert_eq!(read.failure.unwrap().reason, FailureReason::LoadFailed);
    }
}
