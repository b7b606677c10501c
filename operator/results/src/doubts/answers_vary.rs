//! Answers of one variant that differ much in size: what is measured is a mixture.

use crate::doubts::{Doubt, Evidence, Reason, note, places};

/// Answers differ from this factor on, and by this many bytes: a counter or a time in an answer
/// changes its size by little.
const DIFFERS: (u64, u64) = (2, 1024);

/// Points whose answers grew, shrank or alternate, from the one before the load on.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let traffic = cell.detail.traffic.as_ref()?;
        // The requests of a mix have answers of their own.
        let bytes = traffic
            .answer_bytes
            .filter(|_| cell.detail.parts.is_empty())?;
        let before = traffic.answer_bytes_before.unwrap_or(bytes.min);
        let (place, min, max) = (cell.place(), bytes.min.min(before), bytes.max.max(before));
        let (factor, difference) = DIFFERS;
        let varies = max >= factor * min && max - min >= difference;
        varies.then(|| format!("{place} ({min} to {max} bytes)"))
    })?;
    Some(note(
        Reason::AnswersVary,
        format!("answers of one workload differ in size: {places}"),
        "the numbers are those of a mixture: give each size a workload of its own, or state the answer with \
         expect.sameAcrossVariants",
    ))
}
