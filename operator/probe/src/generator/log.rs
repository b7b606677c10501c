//! The generator's request log, one line of JSON per request, in an in-memory file: the container's file
//! system is read-only, and a disk would become part of what is measured.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::os::fd::AsRawFd;

use nix::sys::memfd::{MFdFlags, memfd_create};
use serde::Deserialize;
use wasmbench_model::open_loop::Sent;

/// The log of one run.
#[derive(Debug)]
pub struct RequestLog(File);

/// The fields that are read from a line.
#[derive(Deserialize)]
struct Line {
    /// Seconds, with six decimal places.
    latency: f64,
    /// Nanoseconds since the Unix epoch.
    timestamp: i64,
    thread: u32,
    iter: u32,
    /// Whether the answer was complete and of the expected status.
    ok: bool,
}

impl RequestLog {
    /// An empty log, which the next child inherits.
    pub fn create() -> io::Result<Self> {
        let fd = memfd_create(c"requests", MFdFlags::empty())?;
        Ok(Self(File::from(fd)))
    }

    /// The log's path, as the child sees it.
    pub fn path(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    /// The requests, for a schedule that began at `start_unix_nanoseconds`.
    pub fn read(mut self, start_unix_nanoseconds: i64) -> io::Result<Vec<Sent>> {
        self.0.rewind()?;
        let lines = BufReader::with_capacity(1 << 20, self.0).lines();
        lines
            .map(|line| parse(&line?, start_unix_nanoseconds))
            .collect()
    }
}

fn parse(line: &str, start_unix_nanoseconds: i64) -> io::Result<Sent> {
    let line: Line = serde_json::from_str(line)?;
    let after = line.timestamp.saturating_sub(start_unix_nanoseconds);
    Ok(Sent {
        connection: line.thread,
        round: line.iter,
        at_nanoseconds: after as f64,
        service_nanoseconds: line.latency * 1e9,
        as_expected: line.ok,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const LINE: &str = r#"{"latency":0.017873,"timestamp":1795268003386244302,"thread":47,"iter":3,"ok":true,"details":"200"}"#;

    #[test]
    fn the_log_of_a_child_is_read() {
        let log = RequestLog::create().unwrap();
        let status = Command::new("/bin/sh")
            .args([
                "-c",
                "printf '%s\n' \"$1\" \"$1\" >> \"$2\"",
                "sh",
                LINE,
                &log.path(),
            ])
            .status()
            .unwrap();
        assert!(status.success());
        let sent = log.read(1_795_268_003_386_000_000).unwrap();
        assert_eq!(sent.len(), 2);
        assert_eq!((sent[0].connection, sent[0].round), (47, 3));
        assert!(sent[0].as_expected);
        assert!((sent[0].at_nanoseconds - 244_302.0).abs() < 1e-6);
        assert!((sent[0].service_nanoseconds - 17_873_000.0).abs() < 1.0);
    }

    #[test]
    fn a_truncated_line_is_an_error() {
        assert!(parse(&LINE[..40], 0).is_err());
    }
}
