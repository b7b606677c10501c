//! A load on a schedule: one rate for all variants, and latencies from the schedule in addition to
//! the service times.

use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::Record;

/// Two variants of different speed: the answers of a service that sleeps are limited by its
/// connections rather than by the CPU, which others use too.
const VARIANTS: &str = r"
blocks: 1
seed: 1
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: sleep, path: '/sleep?ms=5'}]
";

const RATES: &str = "sweeps:
  openLoop: {rates: [200, 50], connections: 8, durationSeconds: 4, warmupSeconds: 1}
";

const SHARES: &str = "sweeps:
  openLoop: {ratesPercentOfPeak: [30], connections: 8, durationSeconds: 1, peakSeconds: 1, warmupSeconds: 1}
";

/// The requested rate of a record, in requests per second.
fn requested(record: &Record) -> f64 {
    let timed = record
        .load()
        .and_then(|document| document.timed.as_ref())
        .unwrap_or_else(|| panic!("{}: no window", record.trial));
    timed.open_loop.expect("a schedule").requested_rps
}

#[tokio::test]
async fn a_load_keeps_its_schedule_and_latencies_are_counted_from_it() {
    with_namespace("open-loop", |client, namespace| async move {
        runs::create(&client, &namespace, "rates", &format!("{VARIANTS}{RATES}")).await;
        let run = runs::finished(&client, &namespace, "rates", 420).await;
        let records = runs::records(&client, &run).await;
        assert_eq!(records.len(), 4);
        let mut metered = 0;
        for record in &records {
            let document = record.load();
            let document = document.unwrap_or_else(|| panic!("{}: no document", record.trial));
            assert_eq!(document.failure, None, "{}", record.trial);
            let timed = document.timed.as_ref().expect("a window");
            let found = timed.open_loop.expect("a schedule");
            println!("{}: {found:?}", record.trial);
            let Some(Rate::Rps(rps)) = record.trial.cell.point.rate() else {
                panic!("{}", record.trial);
            };
            assert!((found.requested_rps - f64::from(rps)).abs() < 1e-9);
            assert_eq!(
                timed.fortio["RetCodes"]["200"].as_u64(),
                Some(found.requests)
            );
            assert!(found.service.p50_microseconds > 5000.0, "{found:?}");
            let (service, scheduled) = (found.service, found.from_schedule);
            assert!(
                scheduled.p50_microseconds >= service.p50_microseconds,
                "{found:?}"
            );
            assert!(
                scheduled.p99_microseconds >= service.p99_microseconds,
                "{found:?}"
            );
            metered += usize::from(timed.subject.is_some());
        }
        assert_eq!(metered, 4, "resources are metered as in every load");
        let status = run.status.as_ref().expect("a status");
        for row in &status.summary {
            let points = row.open_loop.iter();
            let rates: Vec<f64> = points.map(|point| point.requested_rps).collect();
            assert_eq!(rates, [50.0, 200.0], "{}", row.variant);
        }
        let shown = kubectl(&["wasmbench", "get", "rates", "-n", &namespace]).await;
        assert!(shown.stdout.contains("FROM SCHEDULE"), "{}", shown.stdout);
        println!("{}", shown.stdout);
        let report = kubectl(&["wasmbench", "report", "rates", "-n", &namespace]).await;
        assert!(report.stdout.contains("## Open loop"), "{}", report.stdout);
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn shares_are_those_of_the_baselines_peak_and_the_same_for_all_variants() {
    with_namespace("open-loop-shares", |client, namespace| async move {
        let spec = format!("{VARIANTS}{SHARES}");
        runs::create(&client, &namespace, "shares", &spec).await;
        let run = runs::finished(&client, &namespace, "shares", 420).await;
        let records = runs::records(&client, &run).await;
        assert_eq!(records.len(), 2);
        let rates: Vec<f64> = records.iter().map(requested).collect();
        println!("{rates:?}");
        // Eight connections with responses after at least 5 ms, and much later on a busy machine.
        assert!(rates[0] > 0.0 && rates[0] < 0.3 * 1600.0, "{rates:?}");
        assert!(
            rates.iter().all(|rate| (rate - rates[0]).abs() < 1e-9),
            "{rates:?}"
        );
    })
    .await;
}
