//! Go's benchmark format, and how the real benchstat reads it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use wasmbench_report::export::benchstat::benchstat;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;

use super::support::{mixed, records, with_a_lost_trial, with_blocks};
use crate::results_support::cold_starts::{input, records as cold_starts};
use crate::results_support::{all_measured, run, slow};

/// Path of the pinned benchstat; `WASMBENCH_BENCHSTAT` in the environment selects another one.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(path) = std::env::var_os("WASMBENCH_BENCHSTAT") {
            return path.into();
        }
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hack/tool");
        let found = Command::new(tool).arg("benchstat").output().unwrap();
        let complaint = String::from_utf8_lossy(&found.stderr);
        assert!(
            found.status.success(),
            "{complaint}; or set WASMBENCH_BENCHSTAT"
        );
        String::from_utf8(found.stdout).unwrap().trim().into()
    })
}

/// The output of benchstat for these runs. Asserts that benchstat has no complaints.
fn read(arguments: &[&str], runs: &[(&str, &Summary)]) -> String {
    let directory = TempDir::new().unwrap();
    let file = |(name, summary): &(&str, &Summary)| {
        let path = directory.path().join(name);
        std::fs::write(&path, benchstat(summary)).unwrap();
        format!("{name}={}", path.display())
    };
    let files: Vec<String> = runs.iter().map(file).collect();
    let output = Command::new(program())
        .args(arguments)
        .args(&files)
        .output()
        .unwrap();
    let complaints = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{complaints}");
    assert_eq!(complaints, "");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn benchstat_of_a_mixed_run() {
    insta::assert_snapshot!(benchstat(&mixed()));
}

#[test]
fn what_speaks_against_numbers_stands_before_them_and_ends_behind_them() {
    let text = benchstat(&with_a_lost_trial());
    let lines: Vec<&str> = text.lines().collect();
    let place = |line: &str| lines.iter().position(|one| *one == line).unwrap();
    let between = &lines[place("untrusted: TrialsFailed") + 1..place("untrusted:")];
    let is_of_lost =
        |line: &&str| line.starts_with("BenchmarkHello/variant=embedded/sweep=warmLatency 1 ");
    assert_eq!(between.len(), 4);
    assert!(between.iter().all(is_of_lost), "{between:#?}");
}

#[test]
fn the_real_benchstat_compares_variants() {
    let run = with_blocks(10);
    let summary = summarize(&run, &records(&run));
    let arguments = ["-col", "/variant@(native embedded)"];
    insta::assert_snapshot!(read(&arguments, &[("run", &summary)]));
}

#[test]
fn the_real_benchstat_compares_runs() {
    let mut run = run();
    run.spec.blocks = 10;
    let before = summarize(&run, &all_measured(&run));
    let mut slowed = all_measured(&run);
    slow(&mut slowed, |trial| {
        (trial.cell.variant == "embedded").then_some(1.3)
    });
    let after = summarize(&run, &slowed);
    let only = ["-filter", ".unit:(req/s OR p50-ns)"];
    insta::assert_snapshot!(read(&only, &[("before", &before), ("after", &after)]));
}

#[test]
fn the_real_benchstat_keeps_untrusted_numbers_apart() {
    let summary = with_a_lost_trial();
    let text = read(&["-filter", ".unit:p50-ns"], &[("run", &summary)]);
    let (trusted, untrusted) = text.split_once("untrusted: TrialsFailed\n").unwrap();
    assert!(trusted.contains("Hello/variant=native/"), "{text}");
    assert!(!trusted.contains("Hello/variant=embedded/"), "{text}");
    assert!(untrusted.contains("Hello/variant=embedded/"), "{text}");
}

#[test]
fn the_real_benchstat_reads_cold_starts() {
    let summary = summarize(&input(), &cold_starts());
    let text = read(&["-col", "/variant"], &[("run", &summary)]);
    assert!(text.contains("Greet/podsAtOnce=4"), "{text}");
    assert!(text.contains("listening-sec"), "{text}");
}
