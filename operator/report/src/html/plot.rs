//! A plot on the page.

use maud::Markup;

/// A plot with the text around it.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What it shows.
    pub title: &'static str,
    /// The plot.
    pub svg: Markup,
    /// What it does not show.
    pub notes: Vec<String>,
    /// Whether the colours need a legend because there are no names next to them.
    pub has_legend: bool,
}
