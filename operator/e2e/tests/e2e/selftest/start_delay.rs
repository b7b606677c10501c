//! A planted start delay must be found, in the steps of the pods and in the report. Run only by
//! `make selftest`.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found as print_figure;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::record::Record;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::{Metric, Unit};

/// Two variants that differ only in the delay, in short trials, so that both run under the same
/// conditions.
fn delayed(image: &str, seed: u32) -> String {
    format!(
        r"
blocks: 6
seed: {seed}
noiseFloor: false
variants:
- {{name: prompt, container: {{image: '{image}', listeningLine: ' listening on '}}}}
- name: tardy
  container: {{image: '{image}', listeningLine: ' listening on ', args: ['--start-delay-ms', '50']}}
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps:
  coldStart: {{samples: 6}}
"
    )
}

/// The most runs of the same kind until the interval is tight enough: on a quiet node one suffices.
const BATCHES: u32 = 6;
/// Half of a 95 % interval that is tight enough to resolve 5 ms.
const TIGHT: f64 = 4.0;

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_start_delay_of_50_milliseconds_is_found_within_5() {
    with_namespace("delay", |client, namespace| async move {
        let image = image(&client, "native").await;
        let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for batch in 1..=BATCHES {
            let name = format!("tardiness-{batch}");
            runs::create(&client, &namespace, &name, &delayed(&image, batch)).await;
            let run = runs::finished(&client, &namespace, &name, 480).await;
            let records = runs::records(&client, &run).await;
            the_report_holds_the_delay(&run, &records);
            for record in records {
                let variant = record.trial.cell.variant.clone();
                times
                    .entry(variant)
                    .or_default()
                    .extend(after_the_start(&record));
            }
            let (found, half_width) = shift(&times["prompt"], &times["tardy"]);
            if half_width <= TIGHT || batch == BATCHES {
                let figure = format!("{found:.1} ms, give or take {half_width:.1}");
                print_figure("50 ms more before listening", &figure, "50 within 5");
                let shown = format!("{found} ms, give or take {half_width}: {times:?}");
                assert!(half_width <= 5.0, "too wide to resolve 5 ms: {shown}");
                assert!((45.0..=55.0).contains(&found), "{shown}");
                return;
            }
        }
    })
    .await;
}

/// Asserts that the report agrees with the pods: the time from create to listening is the median
/// over blocks of each block's median pod. The judgement uses the difference within blocks, which
/// scatters with what happens before the service starts.
fn the_report_holds_the_delay(run: &BenchmarkRun, records: &[Record]) {
    let summary = summarize(&RunInput::new(run, 0), records);
    let check = |variant: &str| {
        let mut cells = summary.cold_starts.iter();
        let cell = cells.find(|cell| cell.variant == variant).expect("a cell");
        let time = cell
            .detail
            .create_to_listening
            .as_ref()
            .expect("it listened");
        let listening = time.p50_microseconds;
        let own = median_of_blocks(records, variant);
        let away = listening.median / own - 1.0;
        assert!(away.abs() < 1e-3, "{variant}: {listening:?} of {own} us");
    };
    check("prompt");
    check("tardy");
    let mut all = summary.comparisons.iter();
    let judged = all.find(|one| one.metric == Metric::ColdStartListening);
    let judged = judged.expect("it is compared");
    let difference = judged.difference.expect("cold starts are judged by it");
    let (low, high) = (
        difference.low.expect("6 blocks"),
        difference.high.expect("6 blocks"),
    );
    print_figure(
        "the same from create, as judged",
        &format!(
            "{}, {}",
            difference.text(Unit::Microseconds),
            judged.verdict.text(judged.metric)
        ),
        "50 ms, starts later",
    );
    // One interval in twenty misses the truth slightly.
    let slack = (high - low) / 4.0;
    assert!(
        (low - slack..=high + slack).contains(&50_000.0),
        "{difference:?}"
    );
    let claims_less = low > 0.0 && judged.verdict != Verdict::Slower;
    assert!(!claims_less, "{judged:?}");
}

/// In microseconds, computed from the pods themselves.
fn median_of_blocks(records: &[Record], variant: &str) -> f64 {
    let of_block = |record: &Record| {
        let document = record.cold_start().expect("a document");
        let counted = document.samples.iter().filter(|sample| sample.counts());
        let pods = counted.flat_map(|sample| &sample.pods);
        let times = pods.filter_map(|pod| pod.since_create(ColdStep::Listening));
        middle(times.map(|time| time as f64 / 1e3).collect())
    };
    let own = records
        .iter()
        .filter(|record| record.trial.cell.variant == variant);
    middle(own.map(of_block).collect())
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 {
        values[half]
    } else {
        f64::midpoint(values[half - 1], values[half])
    }
}

/// Milliseconds from the start of the container's process, according to containerd's event, to
/// listening: the service has no influence on what happens before, which scatters most.
fn after_the_start(record: &Record) -> Vec<f64> {
    let document = record.cold_start().expect("a document");
    let counted = document.samples.iter().filter(|sample| sample.counts());
    let pods = counted.flat_map(|sample| &sample.pods);
    let milliseconds = pods.map(|pod| {
        let at = |step| pod.since_create(step).expect("the step was seen") as f64 / 1e6;
        at(ColdStep::Listening) - at(ColdStep::TaskStarted)
    });
    milliseconds.collect()
}

/// The median of all differences between a value of `first` and one of `second` (Hodges and
/// Lehmann), and half of its 95 % interval, from the same differences (Moses).
fn shift(first: &[f64], second: &[f64]) -> (f64, f64) {
    let pairs = second.iter().flat_map(|b| first.iter().map(move |a| b - a));
    let mut differences: Vec<f64> = pairs.collect();
    differences.sort_by(f64::total_cmp);
    let (n, m) = (first.len() as f64, second.len() as f64);
    let outside = n * m / 2.0 - 1.96 * (n * m * (n + m + 1.0) / 12.0).sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank"
    )]
    let low = outside.max(0.0) as usize;
    let high = differences.len() - 1 - low;
    let half_width = (differences[high] - differences[low]) / 2.0;
    (differences[differences.len() / 2], half_width)
}
