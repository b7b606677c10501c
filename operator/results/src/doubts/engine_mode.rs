//! Variants that ran in another mode than their name implies.

use crate::doubts::{Doubt, Evidence, MAX_ITEMS, Reason, listed};

pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let item = |(variant, how): (&&str, &&str)| format!("{variant}: {how}");
    Some(super::doubt(
        Reason::EngineModeMismatch,
        listed(evidence.engines.iter().map(item), MAX_ITEMS, "; ")?,
        "these points are not compared: they measure another mode than their name says; look at the \
         images in the chart's values",
    ))
}
