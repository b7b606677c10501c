//! The upstream that the proxy workload forwards to.

fn main() {}
