//! Published and measured, row by row, both as ratios to the same base. Pure.

use std::collections::BTreeSet;

use crate::figure::Figure;
use crate::measured::{Measured, Without};
use crate::published::{Point, Study, Table};
use crate::values::{Ratio, Values};

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
    /// The document's machine, where it has several.
    pub machine: Option<&'a str>,
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

    /// Whether the whole measured interval is farther than [`DIFFERS`] from the published ratio.
    pub fn surely_differs(&self) -> bool {
        let (Value::Ratio(here), Value::Ratio(there)) = (&self.measured, &self.published) else {
            return false;
        };
        let outside =
            |(low, high): (f64, f64)| low > there.ratio * DIFFERS || high < there.ratio / DIFFERS;
        here.interval.is_some_and(outside)
    }

    /// The workload for people, with the document's machine where it has several.
    pub fn workload(&self) -> String {
        let machine = self.machine.map(|machine| format!(" ({machine})"));
        format!("{}{}", self.workload, machine.unwrap_or_default())
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
            without: measured.map(Measured::without).unwrap_or_default(),
        };
        for point in shown(table, &found.values) {
            rows.extend(Place::new(study, table, point, &found).rows());
        }
    }
    rows
}

/// One variant and point as a multiple of another, where one run measured both: a figure under a workload.
pub fn ratio(
    measured: &Measured,
    (figure, workload): (Figure, &str),
    over: (&str, u32),
    under: (&str, u32),
) -> Option<Ratio> {
    let values = Values::under(workload, figure, Some(measured));
    values.ratio_of_places(over, (&values, under))
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

/// A point of a table, and what was measured there.
struct Place<'a, 'f> {
    study: &'a Study,
    table: &'a Table,
    point: &'a Point,
    found: &'f Found<'a>,
    /// The variant of the manifest that the others are multiples of.
    base: Option<&'a str>,
}

impl<'a, 'f> Place<'a, 'f> {
    fn new(study: &'a Study, table: &'a Table, point: &'a Point, found: &'f Found<'a>) -> Self {
        let stand = study.here(table, &table.base).iter();
        let mut measured = stand.map(String::as_str);
        Self {
            study,
            table,
            point,
            found,
            base: measured.find(|name| found.values.is_measured(name, None)),
        }
    }

    /// The base, the document's variants, and those that are not in the document.
    fn rows(&self) -> Vec<Row<'a>> {
        let mut rows = vec![self.base_row()];
        rows.extend(self.document_rows());
        rows.extend(self.further_rows());
        rows.into_iter()
            .map(|row| explained(self.study, row))
            .collect()
    }

    fn base_row(&self) -> Row<'a> {
        if let Some(workload) = &self.table.under {
            let one = Value::Base("1".into());
            return self.row(Some(workload), None, one.clone(), one);
        }
        let stand = self.study.here(self.table, &self.table.base).first();
        let measured = |base| Value::Base(self.found.values.shown(base, self.point.at));
        self.row(
            self.base.or(stand.map(String::as_str)),
            Some(&self.table.base),
            Value::Base(published_base(self.table, self.point)),
            self.base.map_or(Value::None, measured),
        )
    }

    fn document_rows(&self) -> Vec<Row<'a>> {
        let (table, study) = (self.table, self.study);
        let mut rows = vec![];
        for stands in &study.variants {
            if table.under.is_none() && stands.name == table.base {
                continue;
            }
            let Some(ratio) = table.ratio(self.point, &stands.name) else {
                continue;
            };
            let published = Value::Ratio(Ratio {
                ratio,
                interval: None,
                is_doubted: false,
            });
            let here = study.here(table, &stands.name);
            if here.is_empty() {
                rows.push(self.row(None, Some(&stands.name), published.clone(), Value::None));
            }
            let shown = here.iter().filter(|name| !self.is_elsewhere(name));
            rows.extend(shown.map(|variant| {
                let measured = self.measured(variant).map_or(Value::None, Value::Ratio);
                self.row(
                    Some(variant),
                    Some(&stands.name),
                    published.clone(),
                    measured,
                )
            }));
        }
        rows
    }

    fn further_rows(&self) -> impl Iterator<Item = Row<'a>> {
        let standing: BTreeSet<&str> = self.study.standing().collect();
        let variants = self.found.values.variants().into_iter();
        let further = variants.filter(move |variant| !standing.contains(variant));
        further.filter_map(|variant| {
            let measured = Value::Ratio(self.measured(variant)?);
            Some(self.row(Some(variant), None, Value::None, measured))
        })
    }

    /// Whether the variant was to be measured at other points of the table only: a row for it would be empty.
    fn is_elsewhere(&self, variant: &str) -> bool {
        let values = &self.found.values;
        let mut without = self.found.without.iter();
        values.is_measured(variant, None)
            && !values.is_measured(variant, self.point.at)
            && !without.any(|one| one.variant == variant)
    }

    fn measured(&self, variant: &str) -> Option<Ratio> {
        let values = &self.found.values;
        let base = match &self.found.under {
            Some(under) => (under, variant),
            None => (values, self.base?),
        };
        values.ratio(variant, base, self.point.at)
    }

    fn per_core(&self, variant: Option<&str>) -> Value {
        let (Some(cpu), Some(variant), Some(base)) = (&self.found.cpu, variant, self.base) else {
            return Value::None;
        };
        if variant == base {
            return Value::Base(cpu.per_core(base, self.point.at));
        }
        // The less CPU time, the more requests.
        let ratio = cpu.ratio(base, (cpu, variant), self.point.at);
        ratio.map_or(Value::None, Value::Ratio)
    }

    fn row(
        &self,
        here: Option<&'a str>,
        there: Option<&'a str>,
        published: Value,
        measured: Value,
    ) -> Row<'a> {
        Row {
            figure: self.table.figure,
            workload: &self.table.workload,
            machine: self.table.machine.as_deref(),
            at: self.point.at,
            here,
            there,
            published,
            measured,
            per_core: self.per_core(here),
            why: vec![],
        }
    }
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
    let place = (row.figure, row.workload, row.at);
    let why = study
        .why
        .iter()
        .zip(1..)
        .filter(|(why, _)| why.is_about(place, there))
        .map(|(_, number)| number)
        .collect();
    Row { why, ..row }
}

/// What was measured of a table.
struct Found<'a> {
    values: Values<'a>,
    /// The same under the workload of which the table's are multiples.
    under: Option<Values<'a>>,
    /// CPU time per request, of a table of rates.
    cpu: Option<Values<'a>>,
    /// Variants that lack a value somewhere, and why.
    without: Vec<&'a Without>,
}

#[cfg(test)]
mod tests;
