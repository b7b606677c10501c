//! A WASI module: stdin to stdout with a prefix.

fn main() {}
