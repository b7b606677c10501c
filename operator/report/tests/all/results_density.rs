//! Density: from climbs to slopes, verdicts and sentences.

use serde_json::json;
use wasmbench_api::run::TWIN;
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::density::{DensityMemory, DensityStopReason, DensityStopped};
use wasmbench_model::wire::document::{NodeCpu, TimedWindow};
use wasmbench_model::wire::record::{Cell, Point, Record, TrialId};
use wasmbench_report::cost::cost_text;
use wasmbench_report::files::report_files;
use wasmbench_results::cells::density::DensityCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::summary::cost::Costs;
use wasmbench_results::summary::node_price::NodePrice;
use wasmbench_results::vocabulary::doubt::{Doubt, Reason};
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::climbs::{climbs, windows};
use crate::results_support::{facts, measured, run_with};

const MIB: u64 = 1 << 20;
const LADDER: [u32; 4] = [1, 2, 5, 10];

/// The bytes that an instance takes itself: `heavy` takes about twice as much as `light`, varying
/// by up to a percent from block to block.
fn own(trial: &TrialId) -> u64 {
    let own = if trial.cell.variant == "heavy" {
        24
    } else {
        10
    };
    own * MIB + u64::from(trial.block) * MIB / 100
}

/// Five blocks; memory that all instances share is not part of the slope.
fn records() -> (RunInput, Vec<Record>) {
    let run = run_with(json!({
        "blocks": 5, "noiseFloor": false,
        "variants": [{"name": "light", "preset": "native"}, {"name": "heavy", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"density": {"instances": LADDER}},
    }));
    let mut records = climbs(&run, |trial, instances| DensityMemory {
        pods_bytes: 30 * MIB + u64::from(instances) * own(trial),
        outside_anonymous_bytes: Some(u64::from(instances) * 4 * MIB),
        ..DensityMemory::default()
    });
    for record in &mut records {
        let per = own(&record.trial) + 6 * MIB;
        for step in &mut record.density_mut().unwrap().steps {
            let instances = u64::from(step.instances);
            step.node_available_bytes = Some(8000 * MIB - instances * per);
        }
    }
    (run, records)
}

fn cell_of<'a>(summary: &'a Summary, variant: &str) -> &'a DensityCell {
    let mut cells = summary.density.iter();
    cells.find(|cell| cell.variant == variant).unwrap()
}

fn heavys_ratio(summary: &Summary) -> Option<&Comparison> {
    summary.comparison(cell_of(summary, "heavy").any(), Metric::MemoryPerInstance)
}

#[test]
fn the_slope_is_what_one_more_instance_takes_not_what_all_share() {
    let (run, records) = records();
    let summary = summarize(&run, &records);
    let light = cell_of(&summary, "light")
        .detail
        .bytes_per_instance
        .unwrap()
        .median
        / MIB as f64;
    assert!(
        (light - 14.03).abs() < 0.01,
        "{light}: 10.03 and 4 of the shim"
    );
    let node = cell_of(&summary, "light")
        .detail
        .node_bytes_per_instance
        .unwrap()
        .median
        / MIB as f64;
    assert!((node - 16.03).abs() < 0.01, "{node}");
}

#[test]
fn an_idle_instance_costs_what_one_more_takes_with_its_shim() {
    let (run, records) = records();
    let summary = summarize(&run, &records);
    let node = NodePrice {
        per_hour: 0.10,
        vcpus: 4.0,
        memory_bytes: 16.0 * 1024.0 * MIB as f64,
        cpu_utilisation: 1.0,
    };
    let costs = Costs::new(&summary, node, None);
    let heavy = &costs.instance_month[1];
    assert_eq!(
        (heavy.variant, heavy.metric),
        ("heavy", Metric::MemoryPerInstance)
    );
    let expected = 73.0 * 28.03 / (16.0 * 1024.0);
    let found = heavy.cost.unwrap().median;
    assert!((found / expected - 1.0).abs() < 1e-3, "{found}");
    let ratio = heavy.versus_baseline.unwrap().estimate.ratio;
    assert!((ratio - 2.0).abs() < 0.01, "{ratio}");
    // Without a load, the cost of a request is unknown.
    let requests = &costs.million_requests[1];
    assert_eq!(requests.missing.as_deref(), Some("not measured"));
    let text = cost_text(&summary, &costs);
    assert!(!text.contains("sweep density"), "{text}");
}

#[test]
fn twice_the_memory_per_instance_is_called_larger() {
    let (run, records) = records();
    let summary = summarize(&run, &records);
    let found = heavys_ratio(&summary).unwrap();
    assert!((found.estimate.ratio - 2.0).abs() < 0.01, "{found:?}");
    assert_eq!(found.verdict, Verdict::Larger);
    assert!(
        summary.verdict.contains("heavy: 2.00x"),
        "{}",
        summary.verdict
    );
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    let report = &report_files(&run, &records).unwrap()["report.md"];
    assert!(report.contains("## Density"), "{report}");
}

#[test]
fn a_slope_is_judged_with_a_p_value_and_a_noise_floor_like_a_load() {
    let (mut run, mut all) = records();
    run.spec.noise_floor = Some(true);
    let mut twins: Vec<Record> = all
        .iter()
        .filter(|r| r.trial.cell.variant == "light")
        .cloned()
        .collect();
    for twin in &mut twins {
        TWIN.clone_into(&mut twin.trial.cell.variant);
    }
    all.extend(twins);
    let summary = summarize(&run, &all);
    let found = heavys_ratio(&summary).unwrap();
    assert_eq!(found.noise_floor, Some(1.0));
    let rows = status_rows(&summary);
    let judged = rows[1].density.as_ref().unwrap().judged.as_ref().unwrap();
    assert_eq!(
        (judged.noise_floor, judged.blocks),
        (Some(1.0), found.estimate.blocks)
    );
    assert!(found.adjusted_p_value < 0.01, "{found:?}");
    let files = report_files(&run, &all).unwrap();
    assert!(files["report.html"].contains("memory per instance"));
    let row = "heavy,hello,memoryPerInstance,density,,true,1.9";
    let csv = &files["comparisons.csv"];
    assert!(csv.contains(row) && csv.contains(",Larger"), "{csv}");
    let row = "\nheavy,hello,density,,true,";
    assert!(files["summary.csv"].contains(row));
}

#[test]
fn the_page_shows_every_climb_as_a_point_and_the_tables_beneath() {
    let (run, records) = records();
    let page = &report_files(&run, &records).unwrap()["report.html"];
    let title = "Density: memory of one more instance";
    assert!(page.contains(title), "{page}");
    let blocks = run.spec.blocks;
    for block in 1..=blocks {
        let point = format!("heavy, block {block}, up to ");
        assert_eq!(page.matches(&point).count(), 1, "{point}");
    }
    assert!(page.contains("Density, medians of the steps"), "{page}");
}

#[test]
fn a_climb_that_stopped_counts_up_to_there_and_is_reported() {
    let (run, mut records) = records();
    for record in records
        .iter_mut()
        .filter(|r| r.trial.cell.variant == "heavy")
    {
        let document = record.density_mut().unwrap();
        document.steps.truncate(3);
        document.stopped = Some(DensityStopped {
            at: 10,
            reason: DensityStopReason::NoRoom,
            message: "Unschedulable: Insufficient memory".into(),
        });
    }
    let summary = summarize(&run, &records);
    let heavy = cell_of(&summary, "heavy");
    assert_eq!((heavy.counts.valid, heavy.counts.failed), (5, 0));
    assert_eq!(
        (
            heavy.detail.stopped[0].reached,
            heavy.detail.stopped[0].trials
        ),
        (5, 5)
    );
    let report = &report_files(&run, &records).unwrap()["report.md"];
    assert!(
        report.contains("stopped at 5 of 10 instances in 5 block(s)"),
        "{report}"
    );
}

#[test]
fn steps_without_memory_have_no_slope_and_keep_the_rest() {
    let (run, mut records) = records();
    for record in &mut records {
        for step in &mut record.density_mut().unwrap().steps {
            (step.memory, step.node_available_bytes) = (None, None);
        }
    }
    let summary = summarize(&run, &records);
    let light = cell_of(&summary, "light");
    assert_eq!(light.detail.bytes_per_instance, None);
    assert_eq!(heavys_ratio(&summary), None);
    assert_eq!(light.detail.steps.len(), 4);
    assert!(light.detail.steps[0].first_p50_microseconds.is_some());
}

#[test]
fn a_variant_in_the_wrong_engine_mode_has_no_density_ratio() {
    let (mut run, mut records) = records();
    let sweeps = json!({"warmLatency": {}, "density": {"instances": LADDER}});
    run.spec.sweeps = serde_json::from_value(sweeps).unwrap();
    let cell = Cell {
        variant: "heavy".into(),
        workload: "hello".into(),
        point: Point::WarmLatency,
    };
    let mut load = measured(TrialId { cell, block: 1 }, 99);
    load.load_mut().unwrap().engine = Some(facts(&[("engine", "wasmtime")]));
    records.push(load);
    let summary = summarize(&run, &records);
    let heavy = cell_of(&summary, "heavy");
    assert_eq!(heavy.invalid_because, [Reason::EngineModeMismatch]);
    assert_eq!(heavys_ratio(&summary), None);
    assert!(heavy.detail.bytes_per_instance.is_some(), "it is shown");
    assert!(cell_of(&summary, "light").ranked);
}

#[test]
fn points_of_density_that_drifted_are_not_compared() {
    let (run, mut changed) = records();
    let document = changed[0].density_mut().unwrap();
    document.environment.before = facts(&[("governor", "powersave")]);
    let summary = summarize(&run, &changed);
    assert_eq!(summary.density.len(), 2);
    for cell in &summary.density {
        assert_eq!(cell.invalid_because, [Reason::EnvironmentDrifted]);
        assert!(cell.detail.bytes_per_instance.is_some(), "it is shown");
    }
    assert_eq!(summary.comparisons, []);
    let report = &report_files(&run, &changed).unwrap()["report.md"];
    assert!(
        report.contains("| INVALID: EnvironmentDrifted |"),
        "{report}"
    );

    // An image is a fact about one variant; without a valid `heavy` there is nothing to compare.
    let (run, mut changed) = records();
    for record in changed.iter_mut().filter(|r| r.trial.block == 3) {
        if record.trial.cell.variant == "heavy" {
            record.subject.as_mut().unwrap().image_id = Some("sha256:other".into());
        }
    }
    let summary = summarize(&run, &changed);
    assert!(cell_of(&summary, "light").ranked);
    let heavy = cell_of(&summary, "heavy");
    assert_eq!(heavy.invalid_because, [Reason::EnvironmentDrifted]);
    assert_eq!(heavys_ratio(&summary), None);
}

/// The summary if `change` is applied to the third step of `heavy` in these blocks.
fn with_third_step(blocks: &[u32], change: fn(&mut TimedWindow)) -> (Summary, String) {
    let (run, mut records) = records();
    let is_changed = |trial: &TrialId| {
        let of_heavy = trial.cell.variant == "heavy";
        of_heavy && blocks.contains(&trial.block)
    };
    windows(&mut records, 2, is_changed).for_each(change);
    let report = report_files(&run, &records).unwrap()["report.md"].clone();
    (summarize(&run, &records), report)
}

fn noisy(window: &mut TimedWindow) {
    window.duration_nanoseconds = 1_000_000_000;
    window.node = Some(NodeCpu {
        busy_nanoseconds: 2_000_000_000,
        ..NodeCpu::default()
    });
}

fn doubt(summary: &Summary, reason: Reason) -> &Doubt {
    let mut doubts = summary.doubts.iter();
    doubts.find(|doubt| doubt.reason == reason).unwrap()
}

#[test]
fn a_step_with_a_saturated_generator_is_noted_and_memory_counts() {
    let (summary, _) = with_third_step(&[3], |window| {
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 10);
        window.generator_cpu_limit = Some(0.11);
    });
    let heavy = cell_of(&summary, "heavy");
    assert_eq!(heavy.invalid_because, []);
    assert!(heavys_ratio(&summary).is_some());
    let doubt = doubt(&summary, Reason::LoadGeneratorSaturated);
    let place = "heavy on hello (at 5 instances in 1 block(s), 91 % of the CPUs it may use)";
    assert!(
        !doubt.breaks_trust && doubt.message.contains(place),
        "{doubt:?}"
    );
}

#[test]
fn a_noisy_node_is_named_at_its_steps_and_memory_is_still_compared() {
    let (summary, report) = with_third_step(&[1, 2, 3, 4, 5], noisy);
    let ratio = heavys_ratio(&summary).unwrap();
    assert_eq!(
        (ratio.estimate.blocks, &*ratio.untrusted),
        (5, [].as_slice())
    );
    let is_noisy = |doubt: &&Doubt| doubt.reason == Reason::NodeNoisy;
    assert_eq!(summary.doubts.iter().find(is_noisy), None);
    let message = "heavy: the node was noisy at 5 instances in 5 block(s), 89 % used by others";
    assert!(report.contains(message), "{report}");
}

#[test]
fn one_throttled_step_keeps_a_slope_out_of_comparisons_like_a_load() {
    let (summary, report) = with_third_step(&[2], |window| {
        window.subject.as_mut().unwrap().throttled_periods = Some(4);
    });
    let heavy = cell_of(&summary, "heavy");
    assert_eq!(heavy.invalid_because, [Reason::Throttled]);
    assert_eq!(heavys_ratio(&summary), None);
    let message = &doubt(&summary, Reason::Throttled).message;
    assert!(
        message.contains("at 5 instances in 1 block(s), 4 periods"),
        "{message}"
    );
    assert!(
        report.contains("a CPU limit stopped the first instance at 5"),
        "{report}"
    );
}

#[test]
fn a_climb_under_a_limit_of_the_run_is_compared_and_reports_its_throttled_time() {
    let (mut run, mut records) = records();
    run.spec.resources = serde_json::from_value(json!({"limits": {"cpu": "1"}})).unwrap();
    let of_heavy = |trial: &TrialId| trial.cell.variant == "heavy" && trial.block == 2;
    for window in windows(&mut records, 2, of_heavy) {
        let meter = window.subject.as_mut().unwrap();
        meter.throttled_periods = Some(4);
        meter.throttled_nanoseconds = Some(window.duration_nanoseconds / 4);
    }
    let summary = summarize(&run, &records);
    assert_eq!(cell_of(&summary, "heavy").invalid_because, []);
    assert!(heavys_ratio(&summary).is_some());
    let note = doubt(&summary, Reason::Throttled);
    let place = "heavy on hello (at 5 instances in 1 block(s), 4 periods, for 25 % of the window)";
    assert!(
        !note.breaks_trust && note.message.contains(place),
        "{note:?}"
    );
}

#[test]
fn memory_that_differs_by_little_is_equivalent_whatever_its_share() {
    let (mut run, records) = records();
    assert_eq!(
        heavys_ratio(&summarize(&run, &records)).unwrap().verdict,
        Verdict::Larger
    );
    let smallest = json!({ "memoryKibibytes": 64 * 1024 });
    run.spec.minimum_difference = Some(serde_json::from_value(smallest).unwrap());
    let summary = summarize(&run, &records);
    let found = heavys_ratio(&summary).unwrap();
    assert_eq!(
        found.verdict,
        Verdict::Equivalent,
        "twice as much: {found:?}"
    );
}
