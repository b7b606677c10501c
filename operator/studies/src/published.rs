//! The published figures: YAML in, checked data out.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::figure::{Figure, Unit};
use crate::printed::Printed;
use crate::reasons::Why;

/// Name and version of the file's schema.
const SCHEMA: &str = "wasmbench.dev/published/v1";

/// Everything in the file.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Published {
    schema: String,
    /// The studies, in the order in which they are shown.
    pub studies: Vec<Study>,
}

/// A document.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Name, which is that of its manifest.
    pub name: String,
    /// Title of the document.
    pub title: String,
    /// Where and with what it was measured.
    pub setting: String,
    /// What it compares.
    pub variants: Vec<Stands>,
    /// The means over several workloads that its figures are of.
    #[serde(default)]
    pub means: Vec<Mean>,
    /// Its figures.
    pub tables: Vec<Table>,
    /// What a reader should take from it.
    pub lessons: Lessons,
    /// Why other figures come out here; numbered from 1 in this order.
    pub why: Vec<Why>,
    /// What a reader has to know before the table.
    #[serde(default)]
    pub note: Option<String>,
    /// What of the document, or of its kind, is not here.
    #[serde(default)]
    pub missing: Vec<Missing>,
}

/// A mean over workloads. Where the name of a workload is expected, its own means the geometric mean over them.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// Its name, which is that of no workload.
    pub name: String,
    /// Names of workloads in the manifest.
    pub of: Vec<String>,
}

/// What is not here.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// What it is.
    pub what: String,
    /// Why it is not here.
    pub why: String,
}

/// What a document teaches those who measure, as sentences.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Lessons {
    /// What it got right.
    pub right: Vec<String>,
    /// Which of its figures its harness made.
    pub harness: Vec<String>,
    /// What nobody should repeat.
    pub avoid: Vec<String>,
}

/// What stands for a variant of the document.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Stands {
    /// Its name in the document.
    pub name: String,
    /// Names of variants in the manifest.
    #[serde(default)]
    pub here: Vec<String>,
    /// Why there are none.
    #[serde(default)]
    pub absent: Option<String>,
}

/// Values of one figure under one workload.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Where in the document it stands.
    pub source: String,
    /// What it is.
    pub figure: Figure,
    /// Name of the workload in the manifest, or of a mean over several.
    pub workload: String,
    /// On which of the document's machines, where it has several.
    #[serde(default)]
    pub machine: Option<String>,
    /// What the values are.
    pub unit: Unit,
    /// The variant that the others are divided by.
    pub base: String,
    /// The workload under which each variant is its own base, where values are by how much it grows.
    #[serde(default)]
    pub under: Option<String>,
    /// The number of connections at which each variant is its own base, where values are by how much it grows with that number.
    #[serde(default)]
    pub from: Option<u32>,
    /// What stands for its variants, where that is not what stands for them elsewhere.
    #[serde(default)]
    pub here: BTreeMap<String, Vec<String>>,
    /// Why no run of the manifest measures some of it; `None` where the runs measure all.
    #[serde(default)]
    pub absent: Option<String>,
    /// The point that stands for the table while nothing of it is measured; default: the first.
    #[serde(default)]
    pub shown: Option<u32>,
    /// Its rows.
    pub points: Vec<Point>,
}

/// Values at one point.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Connections, or pods at once; absent for a mean over all of them.
    #[serde(default)]
    pub at: Option<u32>,
    /// By variant of the document.
    pub values: BTreeMap<String, Printed>,
}

impl Study {
    /// The workloads that a name is of: those of a mean, or the one.
    pub fn workloads<'a>(&'a self, name: &'a str) -> Vec<&'a str> {
        let mean = self.means.iter().find(|mean| mean.name == name);
        mean.map_or_else(
            || vec![name],
            |mean| mean.of.iter().map(String::as_str).collect(),
        )
    }

    /// Whether the page has this figure of this workload, by itself or as part of a mean.
    pub fn shows(&self, figure: Figure, workload: &str) -> bool {
        let tables = self.tables.iter();
        let tables = tables.map(|table| (table.figure, table.workload.as_str()));
        let reasons = self.why.iter().flat_map(|why| &why.shown);
        let reasons = reasons.map(|shown| (shown.figure, shown.workload.as_str()));
        let mut of_figure = tables.chain(reasons).filter(|(one, _)| *one == figure);
        of_figure.any(|(_, name)| self.workloads(name).contains(&workload))
    }

    /// The variants of the manifest that stand for one with a value in a table, or for its base.
    pub fn standing<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = &'a str> {
        let with_value = table.points.iter().flat_map(|point| point.values.keys());
        let names = with_value.chain([&table.base]);
        let here = names.flat_map(move |name| self.here(table, name));
        here.map(String::as_str)
    }

    /// The variants of the manifest that stand for one of the document in a table.
    pub fn here<'a>(&'a self, table: &'a Table, variant: &str) -> &'a [String] {
        let usual = || {
            self.variants
                .iter()
                .find(|stands| stands.name == variant)
                .map(|stands| &stands.here)
        };
        table
            .here
            .get(variant)
            .or_else(usual)
            .map_or(&[], Vec::as_slice)
    }
}

impl Table {
    /// The published value of a variant at a point, as a multiple of the base.
    pub fn ratio(&self, point: &Point, variant: &str) -> Option<Printed> {
        let base = point.values.get(&self.base);
        let base = base.and_then(|value| value.number());
        let value = point.values.get(variant)?;
        value.map(|value| self.unit.ratio(value, base))
    }

    /// Whether each variant is its own base.
    pub fn is_growth(&self) -> bool {
        self.under.is_some() || self.from.is_some()
    }
}

/// The checked content of the file.
pub fn parse(text: &str) -> Result<Published, String> {
    let published: Published = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    if published.schema != SCHEMA {
        return Err(format!("schema must be {SCHEMA}"));
    }
    for study in &published.studies {
        check(study).map_err(|wrong| format!("{}: {wrong}", study.name))?;
    }
    Ok(published)
}

fn check(study: &Study) -> Result<(), String> {
    let known: BTreeSet<&str> = study.variants.iter().map(|v| v.name.as_str()).collect();
    for variant in &study.variants {
        if variant.here.is_empty() != variant.absent.is_some() {
            return Err(format!("{} needs either here or absent", variant.name));
        }
    }
    for table in &study.tables {
        check_table(table, &known).map_err(|wrong| format!("{}: {wrong}", table.source))?;
        let under = table.under.as_deref().map(|name| study.workloads(name));
        if under.is_some_and(|under| under.len() != study.workloads(&table.workload).len()) {
            return Err(format!("{}: `under` is of other workloads", table.source));
        }
    }
    let mut shown = study.why.iter().flat_map(|why| &why.shown);
    if let Some(one) = shown.find(|one| one.sides()[0] == one.sides()[1]) {
        return Err(format!(
            "{} needs over or overAt, and something else than it compares",
            one.what
        ));
    }
    let mut noted = study.why.iter().flat_map(|why| &why.variants);
    match noted.find(|name| !known.contains(name.as_str())) {
        Some(name) => Err(format!("a reason is about {name}, which is no variant")),
        None => Ok(()),
    }
}

fn check_table(table: &Table, known: &BTreeSet<&str>) -> Result<(), String> {
    for point in &table.points {
        let mut names = point
            .values
            .keys()
            .chain([&table.base])
            .chain(table.here.keys());
        if let Some(name) = names.find(|name| !known.contains(name.as_str())) {
            return Err(format!("{name} is no variant"));
        }
        let mut others = point.values.keys().filter(|name| **name != table.base);
        if let Some(name) = others.find(|name| table.ratio(point, name).is_none()) {
            return Err(format!("{name} has no ratio to {}", table.base));
        }
        if table.is_growth() && !table.unit.is_relative() {
            return Err("with `under` or `from`, a value has to be a comparison".into());
        }
        if table.from.is_some() && (table.under.is_some() || point.at.is_none()) {
            return Err("with `from`, a point needs `at`, and a table no `under`".into());
        }
        if point.at.is_none() && !table.unit.is_relative() {
            return Err("a value that is no comparison needs `at`".into());
        }
    }
    let is_there = |at| table.points.iter().any(|point| point.at == Some(at));
    match table.shown {
        Some(at) if !is_there(at) => Err(format!("shown is {at}, which is no point")),
        _ if table.points.is_empty() => Err("no points".into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "
schema: wasmbench.dev/published/v1
studies:
- name: one
  title: t
  setting: s
  variants: [{name: a, here: [x]}, {name: b, absent: none yet}]
  tables:
  - {source: T1, figure: throughput, workload: w, unit: requestsPerSecond, base: a, shown: 10,
     points: [{at: 10, values: {a: 4, b: 1}}]}
  lessons: {right: [], harness: [], avoid: []}
  why:
  - {variants: [b], text: because, shown: [{what: one thing, figure: throughput, workload: w, at: 10, variant: x, over: y}]}
";

    #[test]
    fn a_ratio_is_that_of_the_point() {
        let published = parse(GOOD).unwrap();
        let table = &published.studies[0].tables[0];
        let ratio = table.ratio(&table.points[0], "b");
        assert_eq!(ratio, Some(Printed::Number(0.25)));
        assert_eq!(table.ratio(&table.points[0], "c"), None);
    }

    #[test]
    fn a_bar_without_a_number_has_a_place_and_no_ratio() {
        let published = parse(&GOOD.replace("b: 1", "b: ~")).unwrap();
        let table = &published.studies[0].tables[0];
        assert_eq!(table.ratio(&table.points[0], "b"), Some(Printed::Drawn));
    }

    #[test]
    fn the_name_of_a_mean_is_all_of_its_workloads() {
        let text = GOOD.replace(
            "setting: s",
            "setting: s\n  means: [{name: all, of: [v, w]}]",
        );
        let study = &parse(&text).unwrap().studies[0];
        assert_eq!(study.workloads("all"), ["v", "w"]);
        assert_eq!(study.workloads("w"), ["w"]);
    }

    #[test]
    fn a_figure_is_shown_in_a_table_or_a_reason_by_itself_or_in_a_mean() {
        let text = GOOD.replace(
            "setting: s",
            "setting: s\n  means: [{name: all, of: [v, w]}]",
        );
        let text = text.replace("workload: w, unit", "workload: all, unit");
        let text = text.replace(
            "figure: throughput, workload: w, at",
            "figure: memory, workload: u, at",
        );
        let study = &parse(&text).unwrap().studies[0];
        assert!(study.shows(Figure::Throughput, "v"));
        assert!(study.shows(Figure::Throughput, "w"));
        assert!(study.shows(Figure::Memory, "u"));
        assert!(!study.shows(Figure::Throughput, "u"));
        assert!(!study.shows(Figure::WarmP50, "v"));
    }

    #[test]
    fn a_reason_holds_between_its_ends_and_for_means() {
        let text = GOOD.replace("variants: [b]", "from: 10, until: 20");
        let why = &parse(&text).unwrap().studies[0].why[0];
        let holds = |at| why.is_about((Figure::Throughput, "w", at), "b");
        assert_eq!(
            [9, 10, 20, 21].map(|at| holds(Some(at))),
            [false, true, true, false]
        );
        assert!(holds(None));
    }

    #[test]
    fn a_reason_without_a_test_of_it_is_a_conjecture() {
        let is_conjecture = |text: &str| parse(text).unwrap().studies[0].why[0].is_conjecture();
        assert!(!is_conjecture(GOOD));
        assert!(is_conjecture(
            &GOOD.replace("text: because", "conjecture: true, text: because")
        ));
        let (before, _) = GOOD.split_once(", shown: [").unwrap();
        assert!(is_conjecture(&format!("{before}}}")));
    }

    #[test]
    fn invalid_figures_are_refused_with_their_place() {
        for (good, bad, message) in [
            ("published/v1", "published/v2", "schema must be"),
            ("b: 1", "c: 1", "one: T1: c is no variant"),
            ("base: a", "base: z", "one: T1: z is no variant"),
            ("a: 4, ", "", "one: T1: b has no ratio to a"),
            ("b: 1", "b: 0", "one: T1: b has no ratio to a"),
            ("{at: 10, values", "{values", "needs `at`"),
            ("shown: 10", "shown: 11", "shown is 11"),
            ("base: a", "base: a, under: v", "with `under`"),
            ("base: a", "base: a, from: 1", "with `under` or `from`"),
            (
                "requestsPerSecond, base: a",
                "timesBase, base: a, under: v, from: 1",
                "no `under`",
            ),
            (", absent: none yet", "", "b needs either here or absent"),
            ("variants: [b]", "variants: [q]", "about q"),
            (", over: y", "", "one thing needs over or overAt"),
            ("over: y", "over: x", "one thing needs over or overAt"),
            ("over: y", "overAt: 10", "one thing needs over or overAt"),
            ("setting: s", "settings: s", "settings"),
        ] {
            let wrong = GOOD.replacen(good, bad, 1);
            assert_ne!(wrong, GOOD);
            let refused = parse(&wrong).unwrap_err();
            assert!(refused.contains(message), "{message}: {refused}");
        }
    }
}
