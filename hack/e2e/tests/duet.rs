//! Duets on a real node: baseline and variant pinned to mirrored CPUs and loaded at the same moment.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

use std::collections::BTreeSet;

use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::status::{Ratio, SummaryRow};
use wasmbench_core::cpu_list::CpuList;
use wasmbench_core::wire::document::LoadDocument;
use wasmbench_core::wire::instrument::PinnedBy;
use wasmbench_core::wire::record::{Outcome, Record};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::images;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found;

fn spec(image: &str) -> String {
    let variant = |name: &str, args: &str| {
        format!("- {{name: {name}, container: {{image: '{image}', args: [{args}]}}}}\n")
    };
    let variants = [
        variant("plain", ""),
        variant("quarter", "--extra-iterations=5000"),
    ];
    format!(
        r"
pairing: Duet
blocks: 6
noiseFloor: true
variants:
{}
workloads: [{{name: compute, path: '/compute?iters=20000', expect: {{sameAcrossVariants: true}}}}]
sweeps:
  warmLatency: {{requests: 1500, warmupRequests: 100}}
  throughput: {{connections: [4], durationSeconds: 3, warmupSeconds: 2}}
",
        variants.concat()
    )
}

fn halves(record: &Record) -> [&LoadDocument; 2] {
    let variant = record.document.as_ref().expect("a document");
    [variant, &variant.duet.as_ref().expect("a duet").baseline]
}

fn lists(half: &LoadDocument) -> (CpuList, CpuList) {
    let cpus = half.cpus.as_ref().expect("CPUs");
    let list = |text: &Option<String>| CpuList::parse(text.as_ref().unwrap()).unwrap();
    (list(&cpus.subject), list(&cpus.generator))
}

fn check_sides(records: &[Record]) {
    let mut subjects = BTreeSet::new();
    for record in records {
        let [one, other] = halves(record).map(lists);
        assert_eq!(one.0.count(), other.0.count(), "{}", record.trial);
        assert_eq!(one.1.count(), other.1.count(), "{}", record.trial);
        let whole = |(subject, generator): &(CpuList, CpuList)| subject.union(generator);
        assert!(whole(&one).is_disjoint(&whole(&other)), "{}", record.trial);
        let duet = record.document.as_ref().unwrap().duet.as_ref().unwrap();
        assert_eq!(duet.cpus.as_ref().unwrap().pinned_by, PinnedBy::Probe);
        assert!(duet.overlap.unwrap() >= 0.9, "{}", record.trial);
        subjects.insert(one.0.to_string());
        let own = record.subject.as_ref().expect("the variant's pod");
        let partner = record.duet_subject.as_ref().expect("the baseline's pod");
        assert_ne!(own.pod_uid, partner.pod_uid);
    }
    assert_eq!(subjects.len(), 2, "the sides change places: {subjects:?}");
}

fn row<'a>(run: &'a BenchmarkRun, variant: &str) -> &'a SummaryRow {
    let rows = &run.status.as_ref().unwrap().summary;
    rows.iter().find(|row| row.variant == variant).unwrap()
}

fn ratio<'a>(run: &'a BenchmarkRun, metric: &str) -> &'a Ratio {
    let mut ratios = row(run, "quarter").versus_baseline.iter();
    ratios.find(|r| r.metric == metric).expect("a ratio")
}

/// Why a variant's load is no part of comparisons, if it is not.
fn invalid<'a>(run: &'a BenchmarkRun, variant: &str) -> Option<&'a str> {
    let load = row(run, variant).throughput.as_ref().expect("a load");
    load.points[0].invalid.as_deref()
}

/// The difference that was planted is in the ratios.
fn check_ratios(run: &BenchmarkRun) {
    for (metric, truth) in [("cpuPerRequest", 1.25), ("throughputRps", 0.8)] {
        let ratio = ratio(run, metric);
        let (low, high) = (ratio.low.unwrap(), ratio.high.unwrap());
        let figure = format!("{:.3}x ({low:.3}-{high:.3})", ratio.ratio);
        found(
            &format!("duet, a quarter more work, {metric}"),
            &figure,
            &truth.to_string(),
        );
        assert!(
            low < truth * 1.1 && truth * 0.9 < high,
            "{metric}: {figure}"
        );
    }
    let cpu = ratio(run, "cpuPerRequest");
    assert!(cpu.low.unwrap() > 1.0, "a quarter more CPU time is seen");
}

#[tokio::test]
async fn a_duet_finds_what_is_planted_on_cpus_that_mirror_each_other() {
    with_namespace("duet", |client, namespace| async move {
        let image = images(&client).await.native;
        let spec = spec(&image);
        let run = runs::finished_on_quiet_node(&client, &namespace, "duet", &spec, 900).await;
        let records = runs::records(&client, &run).await;
        // The quarter and the twin, warm and under load, in six blocks; the baseline has none itself.
        assert_eq!(records.len(), 24, "{:#?}", runs::outcomes(&records));
        let measured = |record: &&Record| record.outcome == Outcome::Measured;
        let all = records.iter().filter(measured).count();
        assert_eq!(all, 24, "{:#?}", runs::outcomes(&records));
        assert!(records.iter().all(|r| r.trial.cell.variant != "plain"));
        check_sides(&records);

        // On a node that was noisy in three attempts nothing is compared, and the points say why.
        let variants = ["plain", "quarter"].iter();
        let spoilt: Vec<&str> = variants.filter_map(|name| invalid(&run, name)).collect();
        if spoilt.is_empty() {
            check_ratios(&run);
        }
        let mut spoilt = spoilt.iter();
        assert!(
            spoilt.all(|reasons| reasons.contains("NodeNoisy")),
            "{:#?}",
            run.status
        );

        let report = r"jsonpath={.data.report\.md}";
        let command = [
            "get",
            "configmap",
            &format!("{}-report", run.name_any()),
            "-n",
            &namespace,
            "-o",
            report,
        ];
        let text = kubectl(&command).await.stdout;
        for expected in [
            "Measured in duets",
            "sides of duets",
            "pinned by the probe",
            "| Beside",
        ] {
            assert!(text.contains(expected), "{expected}:\n{text}");
        }
    })
    .await;
}
