//! The answers that one trial saw, by digest.

use std::collections::BTreeMap;

use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::evidence::Evidence;

/// Response bodies: the digest of each, with its beginning for people.
pub type Bodies = BTreeMap<String, String>;

/// Returns the bodies that a probe saw, by digest.
pub fn bodies(evidence: &Evidence) -> Bodies {
    let body = |answer: &Answer| (answer.body_sha256.clone(), answer.excerpt.clone());
    evidence.answers().into_iter().map(body).collect()
}
