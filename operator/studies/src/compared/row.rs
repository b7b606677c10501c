//! A row: a variant at a point, as the document has it and as it was measured.

use std::fmt;

use crate::figure::Figure;
use crate::values::Ratio;

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
    /// The reasons for the difference; empty where there is none to explain.
    pub why: Vec<Because>,
}

/// A reason of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Because {
    /// Its number on the page, from 1.
    pub number: usize,
    /// Whether no run of ours tests it.
    pub is_conjecture: bool,
}

impl fmt::Display for Because {
    /// `4`, and `4?` for a conjecture.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_conjecture { "?" } else { "" };
        write!(f, "{}{mark}", self.number)
    }
}

/// A number of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The base, as it is.
    Base(String),
    /// A multiple of the base.
    Ratio(Ratio),
    /// A published multiple of which the text has only the lowest and the highest.
    Range(f64, f64),
    /// There is none.
    None,
}

impl Value {
    /// The lowest and the highest multiple of the base that a published value stands for.
    fn published_ends(&self) -> Option<(f64, f64)> {
        match self {
            Self::Ratio(found) => Some((found.ratio, found.ratio)),
            Self::Range(low, high) => Some((*low, *high)),
            Self::Base(_) | Self::None => None,
        }
    }
}

impl Row<'_> {
    /// The measured ratio as a multiple of the published one; of a range, of what in it is nearest.
    pub fn factor(&self) -> Option<f64> {
        let (here, (low, high)) = self.both()?;
        Some(here.ratio / here.ratio.max(low).min(high))
    }

    /// Whether the two ratios are farther apart than [`DIFFERS`].
    pub fn differs(&self) -> bool {
        self.factor()
            .is_some_and(|factor| !(1.0 / DIFFERS..=DIFFERS).contains(&factor))
    }

    /// Whether the whole measured interval is farther than [`DIFFERS`] from the published ratio.
    pub fn surely_differs(&self) -> bool {
        self.interval_compared(|(low, high), there| {
            low > there.1 * DIFFERS || high < there.0 / DIFFERS
        })
    }

    /// Whether the published ratio is outside the measured interval.
    pub fn is_outside(&self) -> bool {
        self.interval_compared(|(low, high), there| low > there.1 || high < there.0)
    }

    /// What was measured, and the ends of what is published.
    fn both(&self) -> Option<(Ratio, (f64, f64))> {
        match &self.measured {
            Value::Ratio(here) => Some((*here, self.published.published_ends()?)),
            Value::Base(_) | Value::Range(..) | Value::None => None,
        }
    }

    /// Whether `is_so` holds for the measured interval and the published ends; not without either.
    fn interval_compared(&self, is_so: impl Fn((f64, f64), (f64, f64)) -> bool) -> bool {
        let both = self.both();
        both.is_some_and(|(here, there)| here.interval.is_some_and(|own| is_so(own, there)))
    }

    /// The workload for people, with the document's machine where it has several.
    pub fn workload(&self) -> String {
        let machine = self.machine.map(|machine| format!(" ({machine})"));
        format!("{}{}", self.workload, machine.unwrap_or_default())
    }
}
