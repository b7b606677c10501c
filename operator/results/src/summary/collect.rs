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
use crate::cells::coldstart;
use crate::cells::variant_validity::{VariantValidity, wrong_engines};
use crate::doubts::{self, Evidence};
use crate::judge::compare::{self, Comparisons};
use crate::judge::expectations;
use crate::judge::precision::{self, Course, Precision};
use crate::read::answer_sizes::answer_sizes;
use crate::read::answers;
use crate::read::cpu_limit::CpuLimits;
use crate::read::environment::{self, Environment, Facts};
use crate::read::observation::{Observation, observe};
use crate::read::period::Period;
use crate::read::scout::{self, ScoutSummary};
use crate::summary::{RunName, SUMMARY_SCHEMA, Summary};
use crate::summary::{failures, sandbox, shim_use, trust, verdict, words};
use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Doubt;

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
        let facts = self.index_of(Facts::from_record(record));
        let mut observation = observe(record, status, facts);
        let document = record.load();
        observation.engine_contradiction = self.engine_contradiction(&cell.variant, document);
        let scout = scout::from_record(record);
        self.scouts
            .extend(scout.map(|observed| (record.trial.clone(), observed)));
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

    /// The summary of the records so far: through the storeys, from the lowest to the highest.
    pub fn finish(&self) -> Summary {
        let (run, baseline, observations) = (&self.run, self.run.baseline(), &self.observations);
        let blocks = precision::blocks(&self.measured, observations);
        let [measured, requested] = [&self.measured, &run.spec].map(|spec| BenchmarkRunSpec {
            blocks,
            ..spec.clone()
        });

        // Read.
        let mismatches = answers::mismatches(&measured, baseline, observations);
        let environment = environment::environment(run.seed, &measured, observations, &self.facts);

        // Cells.
        let validity = VariantValidity {
            answers: &mismatches,
            engines: &wrong_engines(observations),
            drift: &environment.drift,
        };
        let cells = Cells::new(&measured, observations, validity);

        // Judge.
        let (compared, precision) = self.judge(&measured, validity, &cells);
        let compared = compared.with_order_effects(&measured, observations, &cells);

        // Doubts.
        let mut doubts = self.doubts(&requested, validity, &cells, &compared);

        // Summary.
        trust::weigh(&mut doubts, &compared.with_baseline);
        let found = Found {
            environment,
            cells,
            compared,
            precision,
            doubts,
        };
        let mut summary = self.summary(&measured, found);
        summary.verdict = verdict::verdict(&summary);
        summary
    }

    /// The comparisons, and how precise they are. If the first blocks of the run chose how many it
    /// has, the primary comparisons have their degrees of freedom.
    fn judge(
        &self,
        measured: &BenchmarkRunSpec,
        validity: VariantValidity<'_>,
        cells: &Cells,
    ) -> (Comparisons, Option<Precision>) {
        let baseline = self.run.baseline();
        let course = Course {
            spec: measured,
            baseline,
            pilot: self.measured.fewest_blocks(),
            observations: &self.observations,
            is_bounded: cells.all().any(|cell| cell.is_bounded()),
        };
        let compared = compare::comparisons(measured, baseline, cells, None);
        let plan = course.plan(&precision::widths(&compared.with_baseline), |spec| {
            let cells = Cells::new(spec, &self.observations, validity);
            let compared = compare::comparisons(spec, baseline, &cells, None);
            precision::widths(&compared.with_baseline)
        });
        let pilot = plan
            .as_ref()
            .and_then(|plan| plan.pilot_of(measured.blocks));
        let compared = if pilot.is_some() {
            compare::comparisons(measured, baseline, cells, pilot)
        } else {
            compared
        };
        let widths = precision::widths(&compared.with_baseline);
        let precision = course.precision(plan.as_ref(), widths);
        (compared, precision)
    }

    /// What speaks against the numbers of a run with the `requested` spec.
    fn doubts(
        &self,
        requested: &BenchmarkRunSpec,
        validity: VariantValidity<'_>,
        cells: &Cells,
        compared: &Comparisons,
    ) -> Vec<Doubt> {
        doubts::doubts(&Evidence {
            spec: requested,
            cpu_limits: &CpuLimits::new(requested, &self.observations),
            cells,
            mismatches: validity.answers,
            answer_sizes: &answer_sizes(&self.observations),
            engines: validity.engines,
            drift: validity.drift,
            comparisons: &compared.with_baseline,
            order_effects: &compared.order_effects,
        })
    }

    /// What was found, as a summary that has no verdict yet.
    fn summary(&self, measured: &BenchmarkRunSpec, found: Found) -> Summary {
        let Found {
            environment,
            cells,
            compared,
            precision,
            doubts,
        } = found;
        let (run, observations) = (&self.run, &self.observations);
        let mut trials = TrialCounts::default();
        cells.all().for_each(|cell| trials.add(cell.counts));
        let (failures, failures_not_listed) = failures::failures(measured, observations);
        Summary {
            schema: SUMMARY_SCHEMA.to_owned(),
            run: RunName {
                namespace: run.namespace.clone(),
                name: run.name.clone(),
                uid: run.uid.clone(),
            },
            seed: run.seed,
            baseline: run.baseline().to_owned(),
            planned_baseline: None,
            verdict: String::new(),
            trustworthy: trust::trustworthy(trials, &doubts),
            doubts,
            trials,
            period: Period::from_observations(measured_at(observations)),
            precision,
            expectations: expectations::decisions(measured, &compared.with_baseline),
            comparisons: compared.with_baseline,
            noise_floors: compared.noise_floors,
            shims: shim_use::shims(&run.spec, &cells.loads),
            sandboxes: sandbox::sandboxes(&run.spec, &cells.loads),
            cells: cells.loads,
            capacity: cells.capacity,
            payload: cells.payload,
            cold_starts: cells.cold_starts,
            harness_floors: coldstart::floors(observations),
            density: cells.density,
            not_applicable: not_applicable::list(measured),
            scouts: self.scouts.values().cloned().collect(),
            failures,
            failures_not_listed,
            environment,
            spec: environment::shown(&run.spec),
            compared: words::compared(measured),
        }
    }
}

/// What the storeys below found.
struct Found {
    environment: Environment,
    cells: Cells,
    compared: Comparisons,
    precision: Option<Precision>,
    doubts: Vec<Doubt>,
}

/// What was observed, without the look before the first block.
fn measured_at(
    observations: &BTreeMap<TrialId, Observation>,
) -> impl Iterator<Item = &Observation> + Clone {
    let trials = observations.iter().filter(|(trial, _)| !trial.is_scout());
    trials.map(|(_, observed)| observed)
}

/// The summary of a run's records, in any order.
pub fn summarize(run: &RunInput, records: &[Record]) -> Summary {
    let mut collector = Collector::new(run.clone());
    for record in records {
        collector.add(record);
    }
    collector.finish()
}
