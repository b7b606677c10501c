//! Tables as lists of columns: each says in one place what it is called and what of a row it shows.
//! The writers for terminals, Markdown, HTML and CSV know nothing of what they write.

use wasmbench_core::units::NOTHING;

use crate::table::{Align, Table};

type Show<'a, T> = Box<dyn Fn(&T) -> Option<String> + 'a>;

struct Column<'a, T> {
    title: String,
    align: Align,
    /// Whether it stands only in rows that count.
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

impl Field for u32 {
    fn text(self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Field for Option<String> {
    fn text(self) -> Option<String> {
        self
    }
}

/// Rows, and what is shown of each.
pub struct Sheet<'a, T> {
    rows: Vec<T>,
    columns: Vec<Column<'a, T>>,
    counts: Box<dyn Fn(&T) -> bool + 'a>,
}

impl<'a, T> Sheet<'a, T> {
    /// Rows of which nothing is shown yet.
    pub fn of(rows: impl IntoIterator<Item = T>) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            columns: vec![],
            counts: Box::new(|_| true),
        }
    }

    /// Of rows that do not count nothing measured is shown, so that nobody takes it for a result.
    pub fn counting(mut self, counts: impl Fn(&T) -> bool + 'a) -> Self {
        self.counts = Box::new(counts);
        self
    }

    /// With a column of names and words.
    pub fn left<F: Field>(self, title: impl Into<String>, field: impl Fn(&T) -> F + 'a) -> Self {
        self.with(title.into(), (Align::Left, false), field)
    }

    /// With a column of numbers.
    pub fn right<F: Field>(self, title: impl Into<String>, field: impl Fn(&T) -> F + 'a) -> Self {
        self.with(title.into(), (Align::Right, false), field)
    }

    /// With a column of what was measured.
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

    /// With the columns of each of `all`, as `add` adds them.
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

    /// As a table. Columns that show nothing of any row are left out.
    pub fn table(self) -> Table {
        let titles = self.columns.iter();
        let titles: Vec<(&str, Align)> = titles
            .map(|column| (column.title.as_str(), column.align))
            .collect();
        let mut table = Table::new(&titles);
        for row in &self.rows {
            let fields = self.shown(row).into_iter();
            let fields = fields.map(|field| field.unwrap_or_else(|| NOTHING.to_owned()));
            table.row(&fields.collect::<Vec<String>>());
        }
        table.drop_columns_of(NOTHING);
        table
    }

    /// As RFC 4180 text with `\n` line ends, every column in it; nothing is an empty field.
    pub fn csv(self) -> String {
        let line = |fields: Vec<String>| fields.join(",") + "\n";
        let titles = self.columns.iter().map(|column| quoted(&column.title));
        let mut text = line(titles.collect());
        for row in &self.rows {
            let fields = self.shown(row).into_iter();
            let fields = fields.map(|field| field.map_or_else(String::new, |field| quoted(&field)));
            text.push_str(&line(fields.collect()));
        }
        text
    }
}

/// The API allows no comma or quote in names, but a record is read from outside.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
