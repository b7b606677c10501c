//! Published and measured, row by row, both as ratios to the same base. Pure.

mod row;

use std::collections::BTreeSet;

use crate::figure::Figure;
use crate::measured::{Measured, Without};
use crate::printed::Printed;
use crate::published::{Point, Study, Table};
use crate::values::{FromRun, Ratio, Values};

pub use row::{Because, DIFFERS, Row, Value};

/// All rows of a study, table by table.
pub fn rows<'a>(study: &'a Study, measured: Option<&'a Measured>) -> Vec<Row<'a>> {
    let mut rows = vec![];
    for table in &study.tables {
        let values = |workload, figure| Values::under(&study.workloads(workload), figure, measured);
        let is_rate = table.figure == Figure::Throughput && table.from.is_none();
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

/// One variant and point as a multiple of another, where one run measured both: a figure under a workload, or the mean over
/// several.
pub fn ratio(
    measured: &Measured,
    place: (Figure, &[&str]),
    over: (&str, u32),
    under: (&str, u32),
) -> Option<Ratio> {
    ratio_with_run(measured, place, over, under).map(|found| found.ratio)
}

/// The same with the run that it is from.
pub fn ratio_with_run<'a>(
    measured: &'a Measured,
    (figure, workloads): (Figure, &[&str]),
    over: (&str, u32),
    under: (&str, u32),
) -> Option<FromRun<'a>> {
    let values = Values::under(workloads, figure, Some(measured));
    values.ratio_with_run(over, (&values, under))
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
        if let Some(from) = self.table.from {
            let one = Value::Base("1".into());
            let row = self.row(Some("each variant"), None, one.clone(), one);
            return Row {
                at: Some(from),
                ..row
            };
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
            if !table.is_growth() && stands.name == table.base {
                continue;
            }
            let Some(printed) = table.ratio(self.point, &stands.name) else {
                continue;
            };
            let published = published(printed);
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

    /// Measured variants of which no table of this figure and workload has a value.
    fn further_rows(&self) -> impl Iterator<Item = Row<'a>> {
        let place = |table: &Table| (table.figure, table.workload.clone());
        let tables = self.study.tables.iter();
        let same = tables.filter(|table| place(table) == place(self.table));
        let standing: BTreeSet<&str> = same.flat_map(|table| self.study.standing(table)).collect();
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
        if let (Some(from), Some(at)) = (self.table.from, self.point.at) {
            return values.ratio_of_places((variant, at), (values, (variant, from)));
        }
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
    let value = point.values.get(&table.base);
    let number = value
        .and_then(|value| value.number())
        .filter(|_| !table.unit.is_relative());
    number.map_or_else(|| "1".into(), |value| table.unit.shown(value))
}

/// A published multiple of the base.
fn published(printed: Printed) -> Value {
    match printed {
        Printed::Number(ratio) => Value::Ratio(Ratio {
            ratio,
            interval: None,
            is_doubted: false,
        }),
        Printed::Range([low, high]) => Value::Range(low, high),
        Printed::Drawn => Value::None,
    }
}

/// The row with the reasons that are about it, where it differs.
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
        .map(|(why, number)| Because {
            number,
            is_conjecture: why.is_conjecture(),
        })
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
