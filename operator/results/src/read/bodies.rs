//! The answers that one trial saw, by digest.

use std::collections::BTreeMap;

use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::evidence::Evidence;

/// Response bodies: the digest of each, with what else is known of it.
pub type Bodies = BTreeMap<String, Body>;

/// A response body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its beginning, for people.
    pub excerpt: String,
    /// Digest of its value, if it said that it is JSON.
    pub json_sha256: Option<String>,
}

/// Returns the bodies that a probe saw, by digest.
pub fn bodies(evidence: &Evidence) -> Bodies {
    let body = |answer: &Answer| {
        let body = Body {
            excerpt: answer.excerpt.clone(),
            json_sha256: answer.json_sha256.clone(),
        };
        (answer.body_sha256.clone(), body)
    };
    evidence.answers().into_iter().map(body).collect()
}

/// Returns those of the bodies that are not the same as one before them: byte by byte or, if both
/// said that they are JSON, by value.
pub fn different(bodies: &Bodies) -> Bodies {
    let mut kept = Bodies::new();
    for (digest, body) in bodies {
        if !is_among(&kept, digest, body) {
            kept.insert(digest.clone(), body.clone());
        }
    }
    kept
}

/// Whether a body is the same as one of the others.
pub fn is_among(others: &Bodies, digest: &str, body: &Body) -> bool {
    let json = body.json_sha256.as_ref();
    let mut values = others
        .values()
        .filter_map(|other| other.json_sha256.as_ref());
    others.contains_key(digest) || json.is_some_and(|json| values.any(|other| other == json))
}
