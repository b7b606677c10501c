//! A mix: compared as one workload, with each of its requests shown beside that.

use serde_json::json;
use wasmbench_model::wire::record::Record;
use wasmbench_report::files::report_files_of;

use super::support::with_window;

/// Adds to each window what the generator reports of two requests.
fn mixed(record: &mut Record) {
    let timed = record.load_mut().and_then(|load| load.timed.as_mut());
    let histogram = json!({"Data": [{"Start": 1e-3, "End": 3e-3, "Count": 100}]});
    let part = |name: &str, connections: u32, failed: u32| {
        json!({
            "Name": name, "Connections": connections, "Expected": 100 - failed, "Failed": failed,
            "DurationHistogram": histogram,
        })
    };
    if let Some(timed) = timed {
        timed.fortio["Parts"] = json!([part("page", 7, 0), part("order", 3, 10)]);
    }
}

#[test]
fn each_request_of_a_mix_is_shown_and_only_the_whole_is_compared() {
    let (plain, summary) = (with_window(|_| {}), with_window(mixed));
    assert_eq!(plain.comparisons, summary.comparisons);
    let mut shown = 0;
    for cell in &summary.cells {
        let is_mix = (&*cell.variant, &*cell.workload) == ("embedded", "hello");
        assert_eq!(cell.detail.parts.len(), if is_mix { 2 } else { 0 });
        let Some(order) = cell.detail.parts.get("order") else {
            continue;
        };
        shown += 1;
        assert_eq!(order.connections, 3);
        assert_eq!(order.succeeded, 9 * order.failed, "{order:?}");
        let p50 = order.p50_microseconds.unwrap().median;
        assert!((p50 - 2000.0).abs() < 1.0, "{p50}");
        assert_eq!(order.p99_microseconds, None, "too few requests of it");
    }
    assert!(shown > 0, "no cell of the mix");
    let files = report_files_of(&summary).unwrap();
    for file in ["report.md", "report.html"] {
        assert!(files[file].contains("The requests of mixes"), "{file}");
    }
    let without = report_files_of(&plain).unwrap();
    assert!(!without["report.md"].contains("The requests of mixes"));
}
