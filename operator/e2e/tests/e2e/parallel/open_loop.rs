//! A load on a schedule: the requested rate, latencies from the schedule in addition to the service times,
//! and a point for which the subject is too slow.

use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::wire::record::Point;

/// The peak of a service that sleeps is limited by its connections rather than by the CPU, which
/// others use too.
const RATES: &str = r"
blocks: 2
seed: 1
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: same, preset: native}
workloads: [{name: sleep, path: '/sleep?ms=5'}]
sweeps:
  openLoop: {ratesPercentOfPeak: [30, 60], connections: 8, durationSeconds: 4, peakSeconds: 2, warmupSeconds: 1}
";

#[tokio::test]
async fn a_load_keeps_its_schedule_and_latencies_are_counted_from_it() {
    with_namespace("open-loop", |client, namespace| async move {
        runs::create(&client, &namespace, "rates", RATES).await;
        let run = runs::finished(&client, &namespace, "rates", 420).await;
        let records = runs::records(&client, &run).await;
        assert_eq!(records.len(), 8);
        let mut metered = 0;
        for record in &records {
            let document = record.load();
            let document = document.unwrap_or_else(|| panic!("{}: no document", record.trial));
            assert_eq!(document.failure, None, "{}", record.trial);
            let timed = document.timed.as_ref().expect("a window");
            let found = timed.open_loop.expect("a schedule");
            println!("{}: {found:?}", record.trial);
            let Point::OpenLoop { percent_of_peak } = record.trial.cell.point else {
                panic!("{}", record.trial);
            };
            let share = found.requested_rps / found.peak.rps;
            assert!((share * 100.0 - f64::from(percent_of_peak)).abs() < 1e-6);
            assert_eq!(
                timed.fortio["RetCodes"]["200"].as_u64(),
                Some(found.requests)
            );
            // Eight connections with responses after at least 5 ms, and much later on a busy
            // machine.
            assert!(found.peak.rps > 0.0 && found.peak.rps < 1600.0, "{found:?}");
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
        assert_eq!(metered, 8, "resources are metered as in every load");
        let status = run.status.as_ref().expect("a status");
        let points = &status.summary[0].open_loop;
        let percents: Vec<u32> = points.iter().map(|point| point.percent_of_peak).collect();
        assert_eq!(percents, [30, 60]);
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
