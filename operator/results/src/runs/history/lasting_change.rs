//! A lasting change in a history.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wasmbench_model::units;

use crate::runs::history::line::{Ends, Series};
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
    /// interval.
    pub size: Ends,
    /// The chance of so clear a division if nothing has changed.
    pub p_value: f64,
}

impl LastingChange {
    /// Whether the change is for the worse.
    pub fn is_worse(&self, series: &Series) -> bool {
        match series.metric.measure().better {
            Better::Less => self.size.0 > 1.0,
            Better::More => self.size.0 < 1.0,
        }
    }

    /// Whether the whole interval lies within the smallest effect that matters, a logarithm.
    pub fn is_small(&self, minimum_effect: f64) -> bool {
        let Ends(_, low, high) = self.size;
        let farthest = libm::log(low).abs().max(libm::log(high).abs());
        farthest <= minimum_effect
    }

    /// The change in words: what it is, since when, and with which images.
    pub fn words(&self, series: &Series) -> String {
        let Self {
            run,
            last_before,
            found_with,
            ..
        } = self;
        let Ends(size, low, high) = self.size;
        let size = units::ratio_within(size, Some((low, high)));
        let images = if self.image_before == self.image_after {
            format!("the image is the same ({})", short(&self.image_after))
        } else {
            let (before, after) = (short(&self.image_before), short(&self.image_after));
            format!("image {before} before, {after} since")
        };
        format!(
            "{} as a ratio to the baseline is {size} of what it was, since run {run} (before it {last_before}; found \
             with {found_with}); {images}",
            series.words()
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
