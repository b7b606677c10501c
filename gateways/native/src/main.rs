//! The gateway as a plain static binary.

fn main() {}
