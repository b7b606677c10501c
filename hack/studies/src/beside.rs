//! Published and measured, row by row, both as ratios to the same base. Pure.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_results::statistics::{Interval, paired_ratios};

use crate::figure::Figure;
use crate::measured::Measured;
use crate::published::{Point, Study, Table};

/// Ratios that are this factor apart differ: below it, two machines do without any reason that could
/// be named.
pub const DIFFERS: f64 = 2.0;

/// A variant at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// What it is.
    pub figure: Figure,
    /// Name of the workload.
    pub workload: &'a str,
    /// Connections or pods at once; absent for a mean over all of them.
    pub at: Option<u32>,
    /// The variant of the manifest; absent when none stands for the document's.
    pub here: Option<&'a str>,
    /// The variant of the document; absent when it has none.
    pub there: Option<&'a str>,
    /// What the document prints.
    pub published: Value,
    /// What was measured.
    pub measured: Value,
    /// Of throughput, the same for requests per core of the subject's CPU time, of which the load generator has no part.
    pub per_core: Value,
    /// Numbers of the reasons for the difference; empty where there is none to explain.
    pub why: Vec<usize>,
}

/// A number of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The base, as it is.
    Base(String),
    /// A multiple of the base.
    Ratio(Ratio),
    /// There is none.
    None,
}

/// A multiple of the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// Its 95 % interval over blocks, from two blocks on.
    pub interval: Option<(f64, f64)>,
}

impl Row<'_> {
    /// The measured ratio as a multiple of the published one.
    pub fn factor(&self) -> Option<f64> {
        match (&self.measured, &self.published) {
            (Value::Ratio(here), Value::Ratio(there)) => Some(here.ratio / there.ratio),
            _ => None,
        }
    }

    /// Whether the two ratios are farther apart than [`DIFFERS`].
    pub fn differs(&self) -> bool {
        self.factor()
            .is_some_and(|factor| !(1.0 / DIFFERS..=DIFFERS).contains(&factor))
    }
}

/// All rows of a study, table by table.
pub fn rows<'a>(study: &'a Study, measured: Option<&'a Measured>) -> Vec<Row<'a>> {
    let mut rows = vec![];
    for table in &study.tables {
        let values = |workload, figure| Values::under(workload, figure, measured);
        let is_rate = table.figure == Figure::Throughput;
        let found = Found {
            values: values(&table.workload, table.figure),
            under: table
                .under
                .as_deref()
                .map(|other| values(other, table.figure)),
            cpu: is_rate.then(|| values(&table.workload, Figure::CpuPerRequest)),
        };
        for point in shown(table, &found.values) {
            rows.extend(of_point(study, table, point, &found));
        }
    }
    rows
}

/// `over` as a multiple of `under`, where both were measured: a figure under a workload at a number of connections or pods.
pub fn ratio(
    measured: &Measured,
    (figure, workload, at): (Figure, &str, u32),
    over: &str,
    under: &str,
) -> Option<Ratio> {
    let values = Values::under(workload, figure, Some(measured));
    values.ratio(over, (&values, under), Some(at))
}

/// The points of a table that were measured; while there are none, the one that stands for it.
fn shown<'a>(table: &'a Table, values: &Values<'_>) -> Vec<&'a Point> {
    let points = table.points.iter();
    let found: Vec<&Point> = points.filter(|point| values.has(point.at)).collect();
    if !found.is_empty() {
        return found;
    }
    let stands = table.points.iter().find(|point| point.at == table.shown);
    stands.or(table.points.first()).into_iter().collect()
}

fn of_point<'a>(
    study: &'a Study,
    table: &'a Table,
    point: &'a Point,
    found: &Found<'a>,
) -> Vec<Row<'a>> {
    let (values, cpu) = (&found.values, found.cpu.as_ref());
    let base = study.here(table, &table.base);
    let base = base.iter().find(|name| values.is_measured(name));
    let row = |here: Option<&'a str>, there: Option<&'a str>, published, measured| Row {
        figure: table.figure,
        workload: &table.workload,
        at: point.at,
        here,
        there,
        published,
        measured,
        per_core: match (here, base, cpu) {
            (Some(here), Some(base), Some(cpu)) if here == base => {
                Value::Base(cpu.per_core(here, point.at))
            }
            // The less CPU time, the more requests.
            (Some(here), Some(base), Some(cpu)) => {
                let ratio = cpu.ratio(base, (cpu, here), point.at);
                ratio.map_or(Value::None, Value::Ratio)
            }
            _ => Value::None,
        },
        why: vec![],
    };
    let measured = |variant: &str| match &found.under {
        Some(under) => values.ratio(variant, (under, variant), point.at),
        None => values.ratio(variant, (values, base?), point.at),
    };
    let mut rows = vec![match &table.under {
        Some(workload) => {
            let one = Value::Base("1".into());
            row(Some(workload), None, one.clone(), one)
        }
        None => row(
            base.or(study.here(table, &table.base).first())
                .map(String::as_str),
            Some(&table.base),
            Value::Base(published_base(table, point)),
            base.map_or(Value::None, |base| {
                Value::Base(values.shown(base, point.at))
            }),
        ),
    }];
    for stands in &study.variants {
        let Some(ratio) = table
            .ratio(point, &stands.name)
            .filter(|_| table.under.is_some() || stands.name != table.base)
        else {
            continue;
        };
        let published = Value::Ratio(Ratio {
            ratio,
            interval: None,
        });
        let here = study.here(table, &stands.name);
        if here.is_empty() {
            rows.push(row(
                None,
                Some(&stands.name),
                published.clone(),
                Value::None,
            ));
        }
        for variant in here {
            let found = measured(variant).map_or(Value::None, Value::Ratio);
            rows.push(row(
                Some(variant),
                Some(&stands.name),
                published.clone(),
                found,
            ));
        }
    }
    let standing: BTreeSet<&str> = study.standing().collect();
    for variant in values.variants() {
        if !standing.contains(variant)
            && let Some(found) = measured(variant)
        {
            rows.push(row(Some(variant), None, Value::None, Value::Ratio(found)));
        }
    }
    rows.into_iter().map(|row| explained(study, row)).collect()
}

fn published_base(table: &Table, point: &Point) -> String {
    let value = point
        .values
        .get(&table.base)
        .filter(|_| !table.unit.is_relative());
    value.map_or_else(|| "1".into(), |value| table.unit.shown(*value))
}

/// The row with the numbers of the reasons that are about it, where it differs.
fn explained<'a>(study: &Study, row: Row<'a>) -> Row<'a> {
    let Some(there) = row.there.filter(|_| row.differs()) else {
        return row;
    };
    let about = study.why.iter().zip(1..);
    let about = about.filter(|(why, _)| why.is_about(row.figure, there));
    let why = about.map(|(_, number)| number).collect();
    Row { why, ..row }
}

/// What was measured of a table.
struct Found<'a> {
    values: Values<'a>,
    /// The same under the workload of which the table's are multiples.
    under: Option<Values<'a>>,
    /// CPU time per request, of a table of rates.
    cpu: Option<Values<'a>>,
}

/// The values of a figure under a workload, by variant and point.
struct Values<'a> {
    figure: Figure,
    by_variant: BTreeMap<&'a str, BTreeMap<u32, &'a BTreeMap<u32, f64>>>,
}

impl<'a> Values<'a> {
    fn under(workload: &str, figure: Figure, measured: Option<&'a Measured>) -> Self {
        let mut by_variant: BTreeMap<&str, BTreeMap<u32, _>> = BTreeMap::new();
        let points = measured.map(|measured| measured.points(figure, workload));
        for point in points.into_iter().flatten() {
            let variant = by_variant.entry(point.variant.as_str()).or_default();
            variant.insert(point.at, &point.values);
        }
        Self { figure, by_variant }
    }

    fn variants(&self) -> impl Iterator<Item = &'a str> {
        self.by_variant.keys().copied()
    }

    fn is_measured(&self, variant: &str) -> bool {
        self.by_variant.contains_key(variant)
    }

    /// Whether anything was measured at the point, or at all.
    fn has(&self, at: Option<u32>) -> bool {
        let mut variants = self.by_variant.values();
        match at {
            Some(at) => variants.any(|points| points.contains_key(&at)),
            None => variants.next().is_some(),
        }
    }

    /// `variant` as a multiple of a base among other values of the same run, at a point. Over all points: in each block
    /// the geometric mean of the ratios at those that both have.
    fn ratio(&self, variant: &str, base: (&Self, &str), at: Option<u32>) -> Option<Ratio> {
        let (others, base) = base;
        let (variant, base) = (self.by_variant.get(variant)?, others.by_variant.get(base)?);
        let ratios = match at {
            Some(at) => paired_ratios(variant.get(&at)?, base.get(&at)?),
            None => mean_ratios(variant, base),
        };
        let interval = Interval::of(&ratios)?;
        Some(Ratio {
            ratio: interval.estimate.exp(),
            interval: interval
                .low()
                .zip(interval.high())
                .map(|(low, high)| (low.exp(), high.exp())),
        })
    }

    /// The middle of the values of `variant` at a point, for people.
    fn shown(&self, variant: &str, at: Option<u32>) -> String {
        let median = self.median(variant, at);
        median.map_or_else(|| "1".into(), |median| self.figure.shown(median))
    }

    /// Requests per second of one core, of CPU time per request.
    fn per_core(&self, variant: &str, at: Option<u32>) -> String {
        let median = self.median(variant, at);
        let shown = |microseconds: f64| Figure::Throughput.shown(1e6 / microseconds);
        median.map_or_else(|| "1".into(), shown)
    }

    fn median(&self, variant: &str, at: Option<u32>) -> Option<f64> {
        let values = self.by_variant.get(variant)?.get(&at?)?;
        wasmbench_results::statistics::median(values.values().copied())
    }
}

type Points<'a> = BTreeMap<u32, &'a BTreeMap<u32, f64>>;

fn mean_ratios(variant: &Points<'_>, base: &Points<'_>) -> Vec<f64> {
    let mut logs: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (at, values) in variant {
        for (block, value) in *values {
            if let Some(base) = base.get(at).and_then(|values| values.get(block)) {
                logs.entry(*block).or_default().push((value / base).ln());
            }
        }
    }
    let means = logs.values();
    means
        .map(|logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        .collect()
}

#[cfg(test)]
mod tests;
