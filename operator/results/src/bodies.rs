//! The answers that one trial saw, by digest.

use std::collections::BTreeMap;

use wasmbench_core::wire::document::{Answer, LoadDocument};

/// What a body was: its digest, and its beginning for people.
pub type Bodies = BTreeMap<String, String>;

/// The bodies that a document saw, by digest.
pub fn bodies(document: &LoadDocument) -> Bodies {
    let answers = document.answer_before.iter().chain(&document.answer_after);
    answers
        .map(
            |Answer {
                 body_sha256,
                 excerpt,
                 ..
             }| (body_sha256.clone(), excerpt.clone()),
        )
        .collect()
}
