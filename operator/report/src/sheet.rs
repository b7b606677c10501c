//! Tables as lists of columns: each column defines in one place its title and what it shows of a
//! row. The writers for terminals, Markdown, HTML and CSV know nothing about the contents.

use wasmbench_model::units::NOTHING;

use crate::table::{Align, Table};

type Show<'a, T> = Box<dyn Fn(&T) -> Option<String> + 'a>;

struct Column<'a, T> {
    title: String,
    align: Align,
    /// Whether the column is filled only in rows that count.
    is_measured: bool,
    field: Show<'a, T>,
}

/// What a column shows of a row.
pub trait Field {
    /// The text; `None` where there is nothing to show.
    fn text(self) -> Option<String>;
}

impl Field for String {
    fn text(self) -> Option<String> {
        Some(self)
    }
}

impl Field for &str {
    fn text(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl<F: Field> Field for Option<F> {
    fn text(self) -> Option<String> {
        self.and_then(F::text)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Field for $number {
            fn text(self) -> Option<String> {
                Some(self.to_string())
            }
        })*
    };
}

numbers!(u32, u64, f64, bool);

/// Rows, and the columns that show them.
pub struct Sheet<'a, T> {
    rows: Vec<T>,
    columns: Vec<Column<'a, T>>,
    counts: Box<dyn Fn(&T) -> bool + 'a>,
}

impl<'a, T> Sheet<'a, T> {
    /// A sheet of rows without columns yet.
    pub fn new(rows: impl IntoIterator<Item = T>) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            columns: vec![],
            counts: Box::new(|_| true),
        }
    }

    /// Hides measured values in rows that do not count, so that nobody takes them for results.
    pub fn counting(mut self, counts: impl Fn(&T) -> bool + 'a) -> Self {
        self.counts = Box::new(counts);
        self
    }

    /// Adds a column of names and words.
    pub fn left<F: Field>(self, title: impl Into<String>, field: impl Fn(&T) -> F + 'a) -> Self {
        self.with(title.into(), (Align::Left, false), field)
    }

    /// Adds a column of numbers.
    pub fn right<F: Field>(self, title: impl Into<String>, field: impl Fn(&T) -> F + 'a) -> Self {
        self.with(title.into(), (Align::Right, false), field)
    }

    /// Adds a column of measured values.
    pub fn measured<F: Field>(
        self,
        title: impl Into<String>,
        field: impl Fn(&T) -> F + 'a,
    ) -> Self {
        self.with(title.into(), (Align::Right, true), field)
    }

    fn with<F: Field>(
        mut self,
        title: String,
        (align, is_measured): (Align, bool),
        field: impl Fn(&T) -> F + 'a,
    ) -> Self {
        self.columns.push(Column {
            title,
            align,
            is_measured,
            field: Box::new(move |row| field(row).text()),
        });
        self
    }

    /// Adds columns for each of `all` by calling `add`.
    pub fn for_each<I>(
        self,
        all: impl IntoIterator<Item = I>,
        add: impl Fn(Self, I) -> Self,
    ) -> Self {
        all.into_iter().fold(self, add)
    }

    fn shown(&self, row: &T) -> Vec<Option<String>> {
        let counts = (self.counts)(row);
        let columns = self.columns.iter();
        let shown = columns.map(|column| {
            let is_shown = counts || !column.is_measured;
            is_shown.then(|| (column.field)(row)).flatten()
        });
        shown.collect()
    }

    /// The sheet as a table. Columns without a value in any row are left out.
    pub fn table(self) -> Table {
        let titles: Vec<(&str, Align)> = self
            .columns
            .iter()
            .map(|column| (column.title.as_str(), column.align))
            .collect();
        let mut table = Table::new(&titles);
        for row in &self.rows {
            let fields = self
                .shown(row)
                .into_iter()
                .map(|field| field.unwrap_or_else(|| NOTHING.to_owned()));
            table.row(&fields.collect::<Vec<String>>());
        }
        table.drop_columns_of(NOTHING);
        table
    }

    /// The sheet as RFC 4180 text with `\n` line endings and every column; a missing value is an
    /// empty field.
    pub fn csv(self) -> String {
        let line = |fields: Vec<String>| fields.join(",") + "\n";
        let titles = self.columns.iter().map(|column| quoted(&column.title));
        let mut text = line(titles.collect());
        for row in &self.rows {
            let fields = self
                .shown(row)
                .into_iter()
                .map(|field| field.map_or_else(String::new, |field| quoted(&field)));
            text.push_str(&line(fields.collect()));
        }
        text
    }
}

/// The API allows no comma or quote in names, but records come from outside.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
