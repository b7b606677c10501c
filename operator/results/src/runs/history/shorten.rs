//! Shortens a history that is too long: two lines of the same setting become one.

use std::collections::{BTreeMap, BTreeSet};

use crate::runs::history::document::History;
use crate::runs::history::line::{Ends, Line, Number, Series};
use crate::statistics::Scale;

/// The newest lines, which are never folded because changes are looked for in them.
const NEWEST: usize = 100;

impl History {
    /// Folds the older half of the lines before the newest ones, where neighbours have the same
    /// setting and no change lies between them. If nothing can be folded, the oldest line is
    /// dropped and counted, unless it is the only one. Returns whether the history became shorter.
    pub(super) fn shorten(&mut self) -> bool {
        let older = self.runs.len().saturating_sub(NEWEST).div_ceil(2);
        let mut newer = self.runs.split_off(older);
        let before = self.runs.len();
        let mut folded: Vec<Line> = vec![];
        let mut is_open = false;
        for line in std::mem::take(&mut self.runs) {
            let begins_change = self.changes.iter().any(|found| found.run == line.name);
            match folded.last_mut() {
                Some(last) if is_open && last.setting == line.setting && !begins_change => {
                    self.folded_until = Some(line.ended);
                    *last = both(last, &line, &self.series);
                    is_open = false;
                }
                _ => {
                    folded.push(line);
                    is_open = true;
                }
            }
        }
        let mut is_less = folded.len() < before;
        folded.append(&mut newer);
        if !is_less && folded.len() > 1 {
            let oldest = folded.remove(0);
            self.forgotten += oldest.runs;
            self.folded_until = Some(oldest.ended);
            is_less = true;
        }
        self.runs = folded;
        self.drop_unused_settings();
        is_less
    }

    /// Drops the settings that no line refers to any more.
    fn drop_unused_settings(&mut self) {
        let used: BTreeSet<usize> = self.runs.iter().map(|line| line.setting).collect();
        let settings = std::mem::take(&mut self.settings).into_iter().enumerate();
        let kept = settings.filter(|(place, _)| used.contains(place));
        self.settings = kept.map(|(_, setting)| setting).collect();
        let places: BTreeMap<usize, usize> = used.into_iter().zip(0..).collect();
        for line in &mut self.runs {
            line.setting = places[&line.setting];
        }
    }
}

/// Two lines as one. If only one of them has a trusted number of a measure, that number counts.
fn both(one: &Line, other: &Line, series: &[Series]) -> Line {
    let mut numbers = one.numbers.clone();
    let weights = (f64::from(one.runs), f64::from(other.runs));
    for number in &other.numbers {
        match numbers
            .iter_mut()
            .find(|known| known.series == number.series)
        {
            None => numbers.push(*number),
            Some(known) if known.trusted && !number.trusted => {}
            Some(known) if !known.trusted && number.trusted => *known = *number,
            Some(known) => {
                let scale = series[number.series].scale();
                *known = between(*known, *number, weights, scale);
            }
        }
    }
    Line {
        name: one.name.clone(),
        ended: other.ended,
        runs: one.runs + other.runs,
        setting: one.setting,
        numbers,
    }
}

fn between(one: Number, other: Number, (weight, other_weight): (f64, f64), scale: Scale) -> Number {
    let mean = |one: Option<Ends>, two| match (one, two) {
        (Some(one), Some(two)) => Some(one.between(weight, two, other_weight, scale)),
        (one, two) => one.or(two),
    };
    Number {
        versus_baseline: mean(one.versus_baseline, other.versus_baseline),
        value: mean(one.value, other.value),
        blocks: one.blocks.min(other.blocks),
        ..one
    }
}
