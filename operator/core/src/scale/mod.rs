//! Objects that are there already, and whose scale makes the pods of a variant: which ones may be
//! scaled ([`target`]), what was seen of one and what follows from that ([`observed`]), and whether its
//! owner offers it ([`offer`]). Pure.

mod observed;
mod offer;
mod target;

pub use observed::{ObservedTarget, Return, Scaled};
pub use offer::{
    Autoscaler, is_settling, obstacle, selector, set_by_other, stuck, template_labels, without_pods,
};
pub use target::{ScaleConfig, ScaleResource, Target};
