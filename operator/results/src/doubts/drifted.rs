//! Facts about the node, an image or a template that changed while the run measured.

use crate::doubts::{Doubt, Evidence, MAX_ITEMS, Reason, listed};
use crate::read::environment::Drift;

pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let item = |drift: &Drift| {
        let values: Vec<&str> = drift.values.iter().take(3).map(String::as_str).collect();
        format!("{}: {}", drift.fact, values.join(" / "))
    };
    Some(super::doubt(
        Reason::EnvironmentDrifted,
        listed(evidence.drift.iter().map(item), MAX_ITEMS, "; ")?,
        "these points are not compared, because trials before and after the change differ: keep the node and the \
         templates of scaled objects as they are and name images by digest, then run again",
    ))
}
