//! Names of all objects. They are derived, never generated: creating the same thing twice conflicts
//! with the first object instead of adding a second one. A hash of the run's uid distinguishes runs
//! of the same name.

use sha2::{Digest, Sha256};

use crate::store::hex;
use crate::validate::ValidatedRun;
use crate::wire::record::{Cell, TrialId};

/// A pod's name is also its host name, whose length Linux limits.
const POD: usize = 63;
/// A Job's pods append a dash and five characters.
const JOB: usize = 57;
/// Cold subjects append two numbers with dashes: sample 0 to 200 and pod 0 to 63.
const COLD_SUBJECT: usize = POD - "-200-63".len();
/// Everything else.
const OBJECT: usize = 253;
/// Characters of the hash.
const HASH: usize = 8;

/// Name of a trial's subject.
pub fn subject(run: &ValidatedRun, trial: &TrialId) -> String {
    of_trial(run, trial, "", POD)
}

/// Prefix of the names of a trial's cold subjects.
pub fn cold_subject(run: &ValidatedRun, trial: &TrialId) -> String {
    of_trial(run, trial, "", COLD_SUBJECT)
}

/// Prefix of the names of the pods of a trial's floor.
pub fn floor(run: &ValidatedRun, trial: &TrialId) -> String {
    let words = format!("floor-{}", trial_words(run, trial));
    fit(&words, COLD_SUBJECT, &format!("{}/{trial}/floor", run.uid))
}

/// Name of a trial's probe Job.
pub fn probe(run: &ValidatedRun, trial: &TrialId) -> String {
    of_trial(run, trial, "probe-", JOB)
}

/// Name of the probe Job that measures a trial once more.
pub fn probe_again(run: &ValidatedRun, trial: &TrialId) -> String {
    let words = format!("probe-{}", trial_words(run, trial));
    fit(&words, JOB, &format!("{}/{trial}/again", run.uid))
}

/// Name of the run's echo server, after so many `restarts`.
pub fn upstream(run: &ValidatedRun, restarts: usize) -> String {
    let identity = match restarts {
        0 => run.uid.clone(),
        again => format!("{}/{again}", run.uid),
    };
    fit(&format!("{}-upstream", run.name), POD, &identity)
}

/// Name of a chunk of records of a variant and workload; chunks are numbered from 0.
pub fn records(run: &ValidatedRun, cell: &Cell, chunk: u32) -> String {
    let Cell {
        variant, workload, ..
    } = cell;
    let words = format!("{}-records-{variant}-{workload}-{chunk}", run.name);
    fit(
        &words,
        OBJECT,
        &format!("{}/{variant}/{workload}/{chunk}", run.uid),
    )
}

/// Name of the report: the one name that people type.
pub fn report(run_name: &str) -> String {
    plain(format!("{run_name}-report"), OBJECT, run_name)
}

/// Name of the history of a schedule, whose own name is short enough.
pub fn history(schedule_name: &str) -> String {
    format!("{schedule_name}-history")
}

/// Name of the claim on a node.
pub fn node_lease(node: &str) -> String {
    plain(format!("wasmbench-node-{node}"), OBJECT, node)
}

/// A run's name as a label value, which is limited to 63 characters.
pub fn label_value(name: &str) -> String {
    plain(name.to_owned(), POD, name)
}

fn of_trial(run: &ValidatedRun, trial: &TrialId, before: &str, limit: usize) -> String {
    let words = format!("{before}{}", trial_words(run, trial));
    fit(&words, limit, &format!("{}/{trial}", run.uid))
}

fn trial_words(run: &ValidatedRun, trial: &TrialId) -> String {
    let Cell {
        variant,
        workload,
        point,
    } = &trial.cell;
    format!("{}-{variant}-{workload}-{point}-b{}", run.name, trial.block)
}

/// `words` as they are if they fit into `limit`, else with a hash.
fn plain(words: String, limit: usize, identity: &str) -> String {
    if words.len() <= limit {
        words
    } else {
        fit(&words, limit, identity)
    }
}

/// `words` cut to `limit`, with a hash of `identity` at the end.
fn fit(words: &str, limit: usize, identity: &str) -> String {
    let hash = hex(&Sha256::digest(identity.as_bytes()))[..HASH].to_owned();
    // Dots are legal in object names but not in pod names that become host names.
    let words: String = words
        .chars()
        .map(|c| if c == '.' { '-' } else { c })
        .collect();
    let cut = words.len().min(limit - HASH - 1);
    format!("{}-{hash}", words[..cut].trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_longer_than_its_limit() {
        for length in 1..300 {
            let name = fit(&"x".repeat(length), POD, "identity");
            assert!(name.len() <= POD, "{name}");
        }
    }

    #[test]
    fn two_long_names_with_a_common_beginning_stay_apart() {
        let words = "x".repeat(200);
        assert_ne!(fit(&words, POD, "one"), fit(&words, POD, "two"));
    }

    #[test]
    fn a_cut_never_leaves_two_dashes() {
        let words = format!("{}-----", "x".repeat(50));
        assert!(!fit(&words, POD, "identity").contains("--"));
    }

    #[test]
    fn the_report_of_a_short_run_has_a_plain_name() {
        assert_eq!(report("gateway-overhead"), "gateway-overhead-report");
    }
}
