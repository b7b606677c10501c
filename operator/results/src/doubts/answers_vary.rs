//! Answers of one variant that differ much in size: what is measured is a mixture.

use crate::doubts::{Doubt, Evidence, Reason, note, places};

/// Answers differ from this factor on, and by this many bytes: a counter or a time in an answer
/// changes its size by little.
const DIFFERS: (u64, u64) = (2, 1024);

/// Points whose answers grew, shrank or alternate.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let bytes = cell.detail.traffic.as_ref()?.answer_bytes?;
        let (factor, difference) = DIFFERS;
        let varies = bytes.max >= factor * bytes.min && bytes.max - bytes.min >= difference;
        let (place, min, max) = (cell.place(), bytes.min, bytes.max);
        varies.then(|| format!("{place} ({min} to {max} bytes)"))
    })?;
    Some(note(
        Reason::AnswersVary,
        format!("answers of one workload differ in size: {places}"),
        "the numbers are those of a mixture: give each size a workload of its own, or state the answer with \
         expect.sameAcrossVariants",
    ))
}
