//! What one response costs in each mode of the engine:
//! `cargo run --release -p gateway-embedded --example per_call -- "$(hack/wasm build transform)"`
//!
//! Prints the time to compile the module and, over 20 batches of 2,000 calls, the time per call in
//! the fastest, the median and the slowest batch.

use gateway_embedded::{Allocator, Memory, Mode, Sandbox};
use gateway_http::Transform;
use std::io::Write;
use std::time::Instant;

const BATCHES: usize = 20;
const CALLS: u32 = 2_000;

/// Response lengths: `hello`, a page, and enough that copying dominates.
const BODY_BYTES: [usize; 3] = [5, 4 * 1024, 256 * 1024];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: per_call MODULE.wasm")?;
    let bytes = std::fs::read(path)?;
    let mut output = std::io::stdout();
    writeln!(
        output,
        "allocator  memory  compile ms  body bytes  us per call: min  median  max"
    )?;
    for (allocator, memory) in [
        (Allocator::OnDemand, Memory::Mapped),
        (Allocator::OnDemand, Memory::Heap),
        (Allocator::Pooling, Memory::Mapped),
    ] {
        let mode = Mode::new(allocator, memory).ok_or("not a mode")?;
        let start = Instant::now();
        let mut sandbox = Sandbox::new(mode, &bytes)?;
        let compile = start.elapsed().as_secs_f64() * 1e3;
        for length in BODY_BYTES {
            let [min, median, max] = batches(&mut sandbox, length)?;
            let (allocator, memory) = (allocator.name(), memory.name());
            writeln!(
                output,
                "{allocator:9}  {memory:6}  {compile:10.1}  {length:10}  {min:16.2}  {median:6.2}  {max:.2}"
            )?;
        }
    }
    Ok(())
}

/// Microseconds per call in the fastest, the median and the slowest batch.
fn batches(sandbox: &mut Sandbox, length: usize) -> Result<[f64; 3], Box<dyn std::error::Error>> {
    let input = vec![b'x'; length];
    let mut body = Vec::new();
    let mut times = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..CALLS {
            body.clear();
            body.extend_from_slice(&input);
            sandbox.apply(&mut body)?;
        }
        times.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
        if body.len() != length + 5 {
            return Err("the module did not prepend its five bytes".into());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok([times[0], times[BATCHES / 2], times[BATCHES - 1]])
}
