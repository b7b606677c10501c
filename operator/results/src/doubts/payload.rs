//! What speaks against the costs of bytes.

use crate::cells::payload::PayloadCell;
use crate::doubts::{Doubt, NOISY_REMEDY, Reason, doubt, places, throttled};
use crate::read::cpu_limit::CpuLimits;
use crate::read::pod_use::throttled_text;

/// The prefix of places.
const OF: &str = "payload of ";

/// All that speaks against the numbers.
pub(super) fn doubts(limits: &CpuLimits<'_>, cells: &[PayloadCell]) -> Vec<Doubt> {
    let throttled = cells.iter().filter_map(|cell| {
        let (periods, share) = (cell.detail.throttled_periods, cell.detail.throttled_share);
        let text = throttled_text(periods, share);
        let place = || format!("{} ({text})", cell.place());
        cell.detail
            .is_throttled()
            .then(|| (cell.variant.clone(), place()))
    });
    let throttled = throttled::of_places(limits, OF, throttled);
    let errors = errors(cells).into_iter();
    errors.chain(throttled).chain(noisy(cells)).collect()
}

fn errors(cells: &[PayloadCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let failed = cell.detail.errors;
        (failed > 0).then(|| format!("{OF}{} ({failed} failed requests)", cell.place()))
    })?;
    Some(doubt(
        Reason::ErrorsInLoad,
        places,
        "these are not compared: look at the log of the service, and for a limit of its on the size of bodies",
    ))
}

fn noisy(cells: &[PayloadCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let (noisy, blocks) = (cell.detail.noisy_blocks, cell.detail.blocks.len());
        let text = || format!("{OF}{} ({noisy} of {blocks})", cell.place());
        cell.detail.is_noisy().then(text)
    })?;
    let message = format!("the node was noisy while bodies were sent: {places}");
    Some(doubt(Reason::NodeNoisy, message, NOISY_REMEDY))
}
