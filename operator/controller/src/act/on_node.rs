//! A run on its node, as the steps that store records need it.

use wasmbench_core::validate::ValidatedRun;

use crate::context::Context;

/// A run, and the node on which it measures.
#[derive(Clone, Copy)]
pub(super) struct OnNode<'a> {
    pub context: &'a Context,
    pub run: &'a ValidatedRun,
    /// The name of the node.
    pub node: &'a str,
}
