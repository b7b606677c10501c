//! How much memory a forged history takes, if one is unpacked at all.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::stored::{BOUNDS, MOST_BYTES};

use crate::memory::{shape, taken, taken_in_own_process};

/// The most memory that unpacking may take, in KiB: with it, the operator stays below 64 MiB.
const MOST: u64 = 40 << 10;

/// A setting with as many images as one may have, under the shortest names that differ.
fn setting(images: usize) -> String {
    let image = |at: usize| format!("\"{at}\":\"\"");
    let all: Vec<String> = (0..images).map(image).collect();
    let images = all.join(",");
    format!(r#"{{"node":"","fingerprint":"","baseline":"","images":{{{images}}},"asked":""}}"#)
}

fn list(one: &str, times: usize) -> String {
    vec![one; times].join(",")
}

fn line(numbers: &str) -> String {
    format!(r#"{{"name":"","ended":"2026-01-01T00:00:00Z","setting":0,"numbers":[{numbers}]}}"#)
}

/// As much of one kind as the bounds allow, in the shapes that take the most memory.
fn forged(shape: &str) -> String {
    const NUMBER: &str = "[0,null,0,null,0]";
    let one = r#"{"variant":"","workload":"","metric":"cpuPerRequest","sweep":"warmLatency"}"#;
    let settings = [setting(0), list(&setting(17), 4_000)];
    let (series, settings, runs) = match shape {
        "settings" => (one.to_owned(), &settings[1], line("")),
        "numbers" => (one.to_owned(), &settings[0], line(&list(NUMBER, 66_000))),
        "lines" => (one.to_owned(), &settings[0], list(&line(NUMBER), 33_000)),
        "series" => (list(one, 50_000), &settings[0], line("")),
        "everything" => (one.to_owned(), &settings[1], list(&line(NUMBER), 20_000)),
        other => panic!("no shape {other}"),
    };
    document(&series, settings, &runs)
}

fn document(series: &str, settings: &str, runs: &str) -> String {
    format!(
        r#"{{"schema":"wasmbench.dev/history/v2","series":[{series}],"settings":[{settings}],"runs":[{runs}],"changes":[]}}"#
    )
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    assert!(bytes.len() < MOST_BYTES, "{} bytes", bytes.len());
    bytes
}

/// Not a test of its own: this is the process whose memory is measured.
#[test]
#[ignore = "runs in a process of its own, for the tests below"]
fn a_forged_history_is_unpacked() {
    let shape = shape();
    let (bytes, is_bounded) = match shape.as_str() {
        "bomb" => (packed(&bomb()), false),
        within => (packed(&forged(within)), true),
    };
    let taken = taken(|| {
        let read = History::unpack(&bytes);
        assert_eq!(read.is_ok(), is_bounded, "{:?}", read.map(|_| ()));
    });
    println!("taken: {taken}");
}

/// A hundred kilobytes that unpack to half a million settings.
fn bomb() -> String {
    document("", &list(&setting(1), 464_000), "")
}

#[test]
fn a_forged_history_of_the_worst_shape_takes_less_than_40_mib() {
    let test = "hostile_histories::a_forged_history_is_unpacked";
    for shape in [
        "settings",
        "numbers",
        "lines",
        "series",
        "everything",
        "bomb",
    ] {
        let taken = taken_in_own_process(test, shape);
        println!("{shape}: {taken} KiB");
        assert!(taken < MOST, "{shape}: {taken} KiB");
    }
}

/// The bounds are those of what is unpacked, so the shapes above must be close to them.
#[test]
fn the_forged_histories_are_as_large_as_the_bounds_allow() {
    for shape in ["settings", "numbers", "lines", "series", "everything"] {
        let text = forged(shape);
        assert!(BOUNDS.hold(text.as_bytes()), "{shape}");
        let begins = text.matches([',', '[', '{']).count();
        let is_full = begins * 4 > BOUNDS.values * 3 || text.len() * 4 > BOUNDS.bytes * 3;
        let has_all_settings = text.matches("fingerprint").count() == 4_000;
        assert!(
            is_full || has_all_settings,
            "{shape}: {begins} values, {} bytes",
            text.len()
        );
    }
}
