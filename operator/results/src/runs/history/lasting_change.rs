//! A lasting change in a history.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::runs::history::line::{Ends, Series};
use crate::statistics::Scale;
use crate::vocabulary::measure::{Better, Measured as _};

/// A lasting change of a series.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LastingChange {
    /// Place in the history's series.
    pub series: usize,
    /// Name of the first run after the change.
    pub run: String,
    /// When that run ended.
    pub since: Timestamp,
    /// Name of the last run before the change.
    pub last_before: String,
    /// Name of the run with which the change was found.
    pub found_with: String,
    /// Digest of the variant's image before the change; empty if unknown.
    pub image_before: String,
    /// Digest of the variant's image after the change; empty if unknown.
    pub image_after: String,
    /// The ratio to the baseline after the change as a multiple of the ratio before, with its 95 %
    /// interval; or the difference to the baseline after it minus the difference before, in the
    /// measure's unit, if that is what is judged.
    pub size: Ends,
    /// The chance of so clear a division if nothing has changed.
    pub p_value: f64,
}

impl LastingChange {
    /// Whether the change is for the worse.
    pub fn is_worse(&self, series: &Series) -> bool {
        let size = series.scale().transform(self.size.0);
        match series.metric.measure().better {
            Better::Less => size > 0.0,
            Better::More => size < 0.0,
        }
    }

    /// Whether the whole interval lies within the smallest change that matters, on the scale of the
    /// series.
    pub fn is_small(&self, series: &Series, smallest: f64) -> bool {
        let Ends(_, low, high) = self.size;
        let [low, high] = [low, high].map(|end| series.scale().transform(end).abs());
        low.max(high) <= smallest
    }

    /// The size with its interval: `1.10x (1.05-1.14)`, or `+12 ms (+8 ms to +15 ms)`.
    pub fn size_text(&self, series: &Series) -> String {
        let Ends(size, low, high) = self.size;
        series.number_text(size, Some((low, high)))
    }

    /// The change in words: what it is, since when, and with which images.
    pub fn text(&self, series: &Series) -> String {
        let Self {
            run,
            last_before,
            found_with,
            ..
        } = self;
        let (what, size) = (series.text(), self.size_text(series));
        let changed = match series.scale() {
            Scale::Ratio => format!("{what} as a ratio to the baseline is {size} of what it was"),
            Scale::Difference => {
                format!("{what} as a difference to the baseline changed by {size}")
            }
        };
        let images = if self.image_before == self.image_after {
            format!("the image is the same ({})", short(&self.image_after))
        } else {
            let (before, after) = (short(&self.image_before), short(&self.image_after));
            format!("image {before} before, {after} since")
        };
        format!(
            "{changed}, since run {run} (before it {last_before}; found with {found_with}); {images}"
        )
    }
}

/// The part of a digest by which people recognise it.
fn short(image: &str) -> String {
    let digest = image.rsplit("sha256:").next().unwrap_or_default();
    match (image.is_empty(), digest.len() < image.len()) {
        (true, _) => "unknown".to_owned(),
        (false, true) => format!("sha256:{}", digest.chars().take(12).collect::<String>()),
        (false, false) => image.to_owned(),
    }
}
