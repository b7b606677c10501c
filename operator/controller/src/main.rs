//! The operator: observes, acts and reports. The only crate of the operator with a client.

fn main() {}
