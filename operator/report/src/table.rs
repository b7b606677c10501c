//! Tables whose columns align in a terminal: plain ones and Markdown; and the same as HTML. ASCII
//! only: all other characters are escaped, because their width in a terminal is unknown.

use maud::{Markup, html};

/// The alignment of a column's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells under a header.
#[derive(Clone, Debug)]
pub struct Table {
    header: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub fn new(header: &[(&str, Align)]) -> Self {
        let header = header
            .iter()
            .map(|(title, align)| (ascii(title), *align))
            .collect();
        Self {
            header,
            rows: vec![],
        }
    }

    /// Adds a row. Cells beyond the header are dropped; missing ones are empty.
    pub fn row(&mut self, cells: &[String]) {
        let mut cells: Vec<String> = cells.iter().map(|cell| ascii(cell)).collect();
        cells.resize(self.header.len(), String::new());
        self.rows.push(cells);
    }

    /// The number of rows, without the header.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Removes the columns in which every row has `nothing`.
    pub fn drop_columns_of(&mut self, nothing: &str) {
        let keep: Vec<bool> = (0..self.header.len())
            .map(|column| self.rows.iter().any(|row| row[column] != nothing))
            .collect();
        let mut columns = keep.iter();
        self.header
            .retain(|_| columns.next().copied().unwrap_or_default());
        for row in &mut self.rows {
            let mut columns = keep.iter();
            row.retain(|_| columns.next().copied().unwrap_or_default());
        }
    }

    /// The table for a terminal: two spaces between columns, no lines.
    pub fn plain(&self) -> String {
        let titles = self.titles(str::to_owned);
        let widths = widths(&titles, &self.rows, 0);
        let rows = std::iter::once(&titles).chain(&self.rows);
        lines(
            "",
            rows.map(|row| self.line(row, &widths, "  ").trim_end().to_owned()),
        )
    }

    /// The table in Markdown, also aligned as plain text. Characters that could be Markdown or HTML
    /// in a cell are escaped.
    pub fn markdown(&self) -> String {
        let titles = self.titles(escape);
        let escaped = |row: &Vec<String>| row.iter().map(|cell| escape(cell)).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(escaped).collect();
        // The rule under a title needs three characters.
        let widths = widths(&titles, &rows, 3);
        let columns = self.header.iter().zip(&widths);
        let rule: Vec<String> = columns
            .map(|((_, align), width)| match align {
                Align::Left => "-".repeat(*width),
                Align::Right => "-".repeat(width - 1) + ":",
            })
            .collect();
        let all = [&titles, &rule].into_iter().chain(&rows);
        lines("| ", all.map(|row| self.line(row, &widths, " | ") + " |"))
    }

    /// The table in HTML that is also valid XML, with `caption` above it.
    pub fn html(&self, caption: Option<&str>) -> Markup {
        self.markup(caption, false)
    }

    /// The same as a card for each row where the window is too narrow for a table: nothing of a row is out of
    /// sight.
    pub fn cards(&self, caption: Option<&str>) -> Markup {
        self.markup(caption, true)
    }

    fn markup(&self, caption: Option<&str>, is_cards: bool) -> Markup {
        let title = |title| is_cards.then_some(title);
        let class = |align: Align| match align {
            Align::Left => None,
            Align::Right => Some("n"),
        };
        html! {
            div.table {
                table class=[is_cards.then_some("cards")] {
                    @if let Some(caption) = caption { caption { (caption) } "\n" }
                    thead {
                        tr { @for (title, align) in &self.header { th class=[class(*align)] { (title) } } } "\n"
                    } "\n"
                    tbody {
                        "\n"
                        @for row in &self.rows {
                            tr {
                                @for (cell, (name, align)) in row.iter().zip(&self.header) {
                                    td class=[class(*align)] data-title=[title(name)] { (cell) }
                                }
                            } "\n"
                        }
                    }
                }
            } "\n"
        }
    }

    fn titles(&self, change: impl Fn(&str) -> String) -> Vec<String> {
        self.header.iter().map(|(title, _)| change(title)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize], between: &str) -> String {
        row.iter()
            .zip(&self.header)
            .zip(widths)
            .map(|((cell, (_, align)), width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect::<Vec<_>>()
            .join(between)
    }
}

fn widths(titles: &[String], rows: &[Vec<String>], least: usize) -> Vec<usize> {
    let widest = |(column, title): (usize, &String)| {
        let cells = rows.iter().map(|row| row[column].len());
        cells.chain([title.len(), least]).max().unwrap_or_default()
    };
    titles.iter().enumerate().map(widest).collect()
}

/// Lines of text, each with `before` in front of it and a line break after it.
pub fn lines(before: &str, lines: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    lines.into_iter().fold(String::new(), |mut text, line| {
        text.extend([before, line.as_ref(), "\n"]);
        text
    })
}

/// `text` in printable ASCII on one line: line breaks and tabs become spaces, other characters
/// become their `\u{...}` escapes.
pub fn ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' => ascii.push(c),
            '\n' | '\r' | '\t' => ascii.push(' '),
            other => ascii.extend(other.escape_unicode()),
        }
    }
    ascii
}

/// `text` as one line of literal Markdown: no table edges, markup, links or HTML.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in ascii(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[("NAME", Align::Left), ("RPS", Align::Right)]);
        table.row(&["native".into(), "12.3k".into()]);
        table.row(&["a".into(), "7".into()]);
        table
    }

    #[test]
    fn a_plain_table_aligns_without_trailing_spaces() {
        assert_eq!(
            table().plain(),
            "NAME      RPS\nnative  12.3k\na           7\n"
        );
    }

    #[test]
    fn a_markdown_table_aligns_as_text() {
        let expected =
            "| NAME   |   RPS |\n| ------ | ----: |\n| native | 12.3k |\n| a      |     7 |\n";
        assert_eq!(table().markdown(), expected);
    }

    #[test]
    fn hostile_cells_stay_in_their_cell() {
        let mut table = Table::new(&[("WHAT", Align::Left)]);
        table.row(&["a|b\n<img src=x>`[x](y)\u{202e}\u{e9}".into()]);
        let line = table.markdown().lines().nth(2).unwrap().to_owned();
        assert_eq!(
            line,
            r"| a\|b &lt;img src=x&gt;\`\[x\](y)\\u{202e}\\u{e9} |"
        );
    }

    #[test]
    fn text_from_outside_means_only_itself_in_html() {
        let mut table = Table::new(&[("WHAT", Align::Left), ("N", Align::Right)]);
        table.row(&["<script>\"a\" & 'b'\u{0}".into(), "1".into()]);
        assert!(table.html(Some("it")).0.contains(
            "<tr><td>&lt;script&gt;&quot;a&quot; &amp; 'b'\\u{0}</td><td class=\"n\">1</td></tr>"
        ));
    }

    #[test]
    fn a_cell_of_a_card_has_the_title_of_its_column() {
        let html = table().cards(None).0;
        assert!(html.contains("<table class=\"cards\">"), "{html}");
        let cell = "<td class=\"n\" data-title=\"RPS\">12.3k</td>";
        assert!(html.contains(cell), "{html}");
        assert!(!table().html(None).0.contains("data-title"));
    }

    #[test]
    fn columns_without_content_can_be_left_out() {
        let mut table = Table::new(&[("A", Align::Left), ("B", Align::Left)]);
        table.row(&["-".into(), "1".into()]);
        table.drop_columns_of("-");
        assert_eq!(table.plain(), "B\n1\n");
    }
}
