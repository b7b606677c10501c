//! Names that fit: one that is too long is truncated and gets a hash. The name of a report is here because
//! people and the report itself name it.

use sha2::{Digest, Sha256};

use crate::store::hex;

/// The longest name of most objects.
pub const OBJECT: usize = 253;
/// Characters of the hash.
const HASH: usize = 8;

/// Name of the report: the one name that people type.
pub fn report(run_name: &str) -> String {
    plain(format!("{run_name}-report"), OBJECT, run_name)
}

/// Name of the history of a schedule, whose own name is short enough.
pub fn history(schedule_name: &str) -> String {
    format!("{schedule_name}-history")
}

/// `words` as they are if they fit into `limit`, else with a hash.
pub fn plain(words: String, limit: usize, identity: &str) -> String {
    if words.len() <= limit {
        words
    } else {
        fit(&words, limit, identity)
    }
}

/// `words` truncated to `limit`, with a hash of `identity` at the end.
pub fn fit(words: &str, limit: usize, identity: &str) -> String {
    let hash = hex(&Sha256::digest(identity.as_bytes()))[..HASH].to_owned();
    // Dots are legal in object names but not in pod names that become host names.
    let words: String = words
        .chars()
        .map(|c| if c == '.' { '-' } else { c })
        .collect();
    let end = words.len().min(limit - HASH - 1);
    format!("{}-{hash}", words[..end].trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As for a pod.
    const POD: usize = 63;

    #[test]
    fn a_name_is_never_longer_than_its_limit() {
        for length in 1..300 {
            let name = fit(&"x".repeat(length), POD, "identity");
            assert!(name.len() <= POD, "{name}");
        }
    }

    #[test]
    fn long_names_with_a_common_prefix_stay_distinct() {
        let words = "x".repeat(200);
        assert_ne!(fit(&words, POD, "one"), fit(&words, POD, "two"));
    }

    #[test]
    fn truncation_never_leaves_two_dashes() {
        let words = format!("{}-----", "x".repeat(50));
        assert!(!fit(&words, POD, "identity").contains("--"));
    }

    #[test]
    fn the_report_of_a_short_run_has_a_plain_name() {
        assert_eq!(report("gateway-overhead"), "gateway-overhead-report");
    }
}
