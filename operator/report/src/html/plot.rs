//! A plot on the page.

/// A plot with what stands around it.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What it shows.
    pub title: &'static str,
    /// The plot.
    pub svg: String,
    /// What it does not show.
    pub notes: Vec<String>,
    /// Whether colours need a legend, because names do not stand beside them.
    pub has_legend: bool,
}
