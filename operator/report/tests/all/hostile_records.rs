//! How much memory forged records take, if they are unpacked at all.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use wasmbench_model::store;
use wasmbench_results::summary::collect::Collector;

use crate::memory::{shape, taken, taken_in_own_process};
use crate::results_support::{measured, run, trials};

/// The most memory that the operator may use for the largest forgery, in KiB.
const MOST: u64 = 64 << 10;

/// As many values as an entry may have, in the shapes that take the most memory per value.
fn forged(shape: &str) -> String {
    match shape {
        "numbers" => format!("[0{}]", ",0".repeat(190_000)),
        "nested" => format!(
            "[{}0]",
            format!("{}0{},", "[".repeat(90), "]".repeat(90)).repeat(2_000)
        ),
        "objects" => {
            let field = |at: usize| format!("\"{at}\":0,");
            format!("{{{}\"x\":0}}", (0..190_000).map(field).collect::<String>())
        }
        "text" => json!("x".repeat(2 << 20)).to_string(),
        other => panic!("no shape {other}"),
    }
}

fn entry(record: &Value, shape: &str) -> Vec<u8> {
    let mut record = record.clone();
    record["document"]["timed"]["fortio"] = json!("@");
    let text = record.to_string().replacen("\"@\"", &forged(shape), 1);
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Not a test of its own: this is the process whose memory is measured.
#[test]
#[ignore = "runs in a process of its own, for the test below"]
fn forged_records_are_unpacked() {
    let shape = shape();
    let run = run();
    let trial = trials(&run).remove(0);
    let bytes = entry(&serde_json::to_value(measured(trial, 0)).unwrap(), &shape);
    let taken = taken(|| {
        let mut collector = Collector::new(run);
        for _ in 0..60 {
            collector.add(&store::decode(&bytes).expect("within all bounds"));
        }
    });
    println!("taken: {taken}");
}

#[test]
fn sixty_forged_records_of_the_worst_shape_take_less_than_64_mib() {
    for shape in ["numbers", "nested", "objects", "text"] {
        let taken = taken_in_own_process("hostile_records::forged_records_are_unpacked", shape);
        assert!(taken < MOST, "{shape}: {taken} KiB");
    }
}
