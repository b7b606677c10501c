//! The output of fortio, and the same output on a slower machine.

use serde_json::{Value, json};

/// One of the golden files.
pub fn fortio(name: &str) -> Value {
    let text = match name {
        "ok" => include_str!("../../fixtures/fortio/ok.json"),
        "errors" => include_str!("../../fixtures/fortio/errors.json"),
        "refused" => include_str!("../../fixtures/fortio/refused.json"),
        _ => include_str!("../../fixtures/fortio/exactly.json"),
    };
    serde_json::from_str(text).expect("a golden file")
}

/// The same window on a machine that is `factor` times as slow.
pub fn slower(mut fortio: Value, factor: f64) -> Value {
    let nanoseconds = fortio["ActualDuration"].as_i64().expect("a duration") as f64;
    #[allow(clippy::cast_possible_truncation)]
    let stretched = (nanoseconds * factor) as i64;
    fortio["ActualDuration"] = json!(stretched);
    for histogram in ["DurationHistogram", "ErrorsDurationHistogram"] {
        if let Some(sum) = fortio[histogram]["Sum"].as_f64() {
            fortio[histogram]["Sum"] = json!(sum * factor);
        }
        for bucket in fortio[histogram]["Data"]
            .as_array_mut()
            .into_iter()
            .flatten()
        {
            for edge in ["Start", "End"] {
                bucket[edge] = json!(bucket[edge].as_f64().expect("an edge") * factor);
            }
        }
    }
    fortio
}
