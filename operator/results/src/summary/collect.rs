//! Records to a summary. Records are added one by one and reduced to what a summary needs, so that
//! a caller never has to hold all raw results of a run in memory.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_model::points::points_of;
use wasmbench_model::store::entry_key;
use wasmbench_model::twin;
use wasmbench_model::variants::{engine, not_applicable};
use wasmbench_model::wire::document::LoadDocument;
use wasmbench_model::wire::record::{Point, Record, TrialId};

use crate::cells::Cells;
use crate::cells::variant_validity::{VariantValidity, wrong_engines};
use crate::cells::{coldstart, density, load, recorded};
use crate::doubts::{self, Evidence};
use crate::judge::{compare, expectations, precision};
use crate::read::answer_sizes::answer_sizes;
use crate::read::answers;
use crate::read::cpu_limit::CpuLimit;
use crate::read::environment::{self, Facts};
use crate::read::observation::{Observation, observe};
use crate::read::period::Period;
use crate::read::scout::{self, ScoutSummary};
use crate::summary::{RunName, SUMMARY_SCHEMA, Summary};
use crate::summary::{failures, sandbox, shim_use, trust, verdict, words};
use crate::vocabulary::counts::TrialCounts;

/// The run that records belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInput {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Seed of the order of its trials.
    pub seed: i64,
    /// Its spec.
    pub spec: BenchmarkRunSpec,
}

impl RunInput {
    /// The input for `run`, whose order was shuffled with `seed`.
    pub fn new(run: &BenchmarkRun, seed: i64) -> Self {
        Self {
            namespace: run.metadata.namespace.clone().unwrap_or_default(),
            name: run.metadata.name.clone().unwrap_or_default(),
            uid: run.metadata.uid.clone().unwrap_or_default(),
            seed,
            spec: run.spec.clone(),
        }
        .without_mutable_fields()
    }

    /// Removes the fields that may change after creation: a report must not change because a run
    /// expires sooner.
    #[must_use]
    pub fn without_mutable_fields(mut self) -> Self {
        self.spec.suspend = false;
        self.spec.ttl_seconds_after_finished = None;
        self
    }

    /// Name of the variant with which the others are compared.
    pub fn baseline(&self) -> &str {
        self.spec.baseline_name()
    }
}

/// Collects records in any order and computes the summary.
#[derive(Clone, Debug)]
pub struct Collector {
    run: RunInput,
    /// The spec with the baseline's twin, if one is measured.
    measured: BenchmarkRunSpec,
    /// Keys of the entries that trials of the run may have, over all variants and workloads.
    keys: BTreeSet<String>,
    observations: BTreeMap<TrialId, Observation>,
    scouts: BTreeMap<TrialId, ScoutSummary>,
    facts: Vec<Facts>,
}

impl Collector {
    /// A collector for the records of `run`.
    pub fn new(run: RunInput) -> Self {
        let blocks = 1..=run.spec.most_blocks();
        let points = points_of(&run.spec).into_iter();
        Self {
            measured: twin::with_twin(&run.spec),
            keys: points
                .flat_map(|point| blocks.clone().map(move |block| entry_key(point, block)))
                .chain([entry_key(Point::Scout, 0)])
                .collect(),
            run: RunInput {
                spec: twin::without_twin(&run.spec),
                ..run
            },
            observations: BTreeMap::new(),
            scouts: BTreeMap::new(),
            facts: vec![],
        }
    }

    /// Whether an entry with this key may belong to a trial of the run. Other entries are not even
    /// unpacked.
    pub fn wants(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// Adds a record. Records of other runs, of unknown workloads and of blocks beyond the maximum
    /// are ignored. Of two records of one trial the one that was stored first counts.
    pub fn add(&mut self, record: &Record) {
        let TrialId { cell, block } = &record.trial;
        let workload = self
            .run
            .spec
            .workloads
            .iter()
            .find(|w| w.name == cell.workload);
        let is_known = workload.is_some() || record.trial.is_scout();
        if !is_known || record.run_uid != self.run.uid {
            return;
        }
        let known = self.observations.get(&record.trial);
        let is_later = known.is_some_and(|known| known.recorded_at <= record.recorded_at);
        if is_later || *block > self.run.spec.most_blocks() {
            return;
        }
        let status = workload.map_or_else(u16::default, |workload| workload.expect.status);
        let facts = self.index_of(Facts::of(record));
        let mut observation = observe(record, status, facts);
        let document = record.load();
        observation.engine_contradiction = self.engine_contradiction(&cell.variant, document);
        let scout = scout::of_record(record);
        self.scouts
            .extend(scout.map(|seen| (record.trial.clone(), seen)));
        self.observations.insert(record.trial.clone(), observation);
    }

    fn index_of(&mut self, facts: Facts) -> usize {
        let known = self.facts.iter().position(|known| *known == facts);
        known.unwrap_or_else(|| {
            self.facts.push(facts);
            self.facts.len() - 1
        })
    }

    fn engine_contradiction(&self, name: &str, document: Option<&LoadDocument>) -> Option<String> {
        let mut variants = self.measured.variants.iter();
        let variant = variants.find(|variant| variant.name == name)?;
        engine::contradiction(variant, document?.engine.as_ref()?)
    }

    /// The summary of the records so far.
    pub fn finish(&self) -> Summary {
        let Self {
            run,
            measured,
            observations,
            scouts,
            facts,
            keys: _,
        } = self;
        let baseline = run.baseline().to_owned();
        let blocks = precision::blocks(measured, observations);
        let with_blocks = |spec: &BenchmarkRunSpec| BenchmarkRunSpec {
            blocks,
            ..spec.clone()
        };
        let (measured, asked) = (&with_blocks(measured), &with_blocks(&run.spec));
        let mismatches = answers::mismatches(measured, &baseline, observations);
        let wrong: BTreeSet<(String, String)> = mismatches
            .iter()
            .map(|m| (m.variant.clone(), m.workload.clone()))
            .collect();
        let engines = wrong_engines(observations);
        let environment = environment::environment(run.seed, measured, observations, facts);
        let against = VariantValidity {
            answers: &wrong,
            engines: &engines,
            drift: &environment.drift,
        };
        let cells = self.cells(measured, against);
        let compared = compare::comparisons(measured, &baseline, &cells);
        let precision = precision::reached(measured, &baseline, observations, |spec| {
            let cells = self.cells(spec, against);
            let compared = compare::comparisons(spec, &baseline, &cells).with_baseline;
            precision::widths(&compared)
        });
        let cpu_limit = CpuLimit::of(asked, observations);
        let evidence = Evidence {
            spec: asked,
            cpu_limit: &cpu_limit,
            cells: &cells,
            mismatches: &mismatches,
            answer_sizes: &answer_sizes(observations),
            engines: &engines,
            drift: &environment.drift,
            comparisons: &compared.with_baseline,
            noise_floors: &compared.noise_floors,
        };
        let mut doubts = doubts::doubts(&evidence);
        trust::weigh(&mut doubts, &compared.with_baseline);
        let mut trials = TrialCounts::default();
        cells.all().for_each(|cell| trials.add(cell.counts));
        let (failures, failures_not_listed) = failures::failures(measured, observations);
        let mut summary = Summary {
            schema: SUMMARY_SCHEMA.to_owned(),
            run: RunName {
                namespace: run.namespace.clone(),
                name: run.name.clone(),
                uid: run.uid.clone(),
            },
            seed: run.seed,
            baseline,
            verdict: String::new(),
            trustworthy: trust::trustworthy(trials, &doubts),
            doubts,
            trials,
            period: Period::of(measured_at(observations)),
            precision,
            expectations: expectations::decisions(measured, &compared.with_baseline),
            comparisons: compared.with_baseline,
            noise_floors: compared.noise_floors,
            shims: shim_use::shims(&run.spec, &cells.loads),
            sandboxes: sandbox::sandboxes(&run.spec, &cells.loads),
            cells: cells.loads,
            cold_starts: cells.cold_starts,
            harness_floors: coldstart::floors(observations),
            density: cells.density,
            not_applicable: not_applicable::list(measured),
            scouts: scouts.values().cloned().collect(),
            failures,
            failures_not_listed,
            environment,
            spec: environment::shown(&run.spec),
            compared: words::compared(measured),
        };
        summary.verdict = verdict::verdict(&summary);
        summary
    }

    /// The cells of all sweeps, with the reasons why they are invalid.
    fn cells(&self, spec: &BenchmarkRunSpec, against: VariantValidity<'_>) -> Cells {
        let ceilings = load::ceilings(&self.observations);
        let recorded = recorded::recorded(spec, &self.observations);
        let each = || recorded.iter();
        let loads = each().filter_map(|one| load::cell(spec, one, against, &ceilings));
        let cold_starts = each().filter_map(|one| coldstart::cell(spec, one, against));
        let density = each().filter_map(|one| density::cell(spec, one, against));
        Cells {
            loads: loads.collect(),
            cold_starts: cold_starts.collect(),
            density: density.collect(),
        }
    }
}

/// What was observed, without the look before the first block.
fn measured_at(
    observations: &BTreeMap<TrialId, Observation>,
) -> impl Iterator<Item = &Observation> + Clone {
    let trials = observations.iter().filter(|(trial, _)| !trial.is_scout());
    trials.map(|(_, seen)| seen)
}

/// The summary of a run's records, in any order.
pub fn summarize(run: &RunInput, records: &[Record]) -> Summary {
    let mut collector = Collector::new(run.clone());
    for record in records {
        collector.add(record);
    }
    collector.finish()
}
