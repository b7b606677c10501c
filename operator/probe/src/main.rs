//! Measures one subject from its own node: load by fortio, resources from cgroups.

fn main() {}
