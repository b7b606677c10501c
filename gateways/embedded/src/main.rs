//! The gateway with each answer passed through a Wasm module in an embedded Wasmtime.

fn main() {}
