//! kubectl plugin: plan, get, report.

fn main() {}
