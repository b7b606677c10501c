//! What our runs show about a reason, as lines of a page below it. Pure.

use wasmbench_report::table::{escape, lines};

use crate::compared::{Value, ratio};
use crate::measured::Measured;
use crate::published::Study;
use crate::reasons::{Experiment, Why};
use crate::terminal::value;

/// Of a conjecture on which no run bears.
const CONJECTURE: &str = "*A conjecture: no run here tests it.*";
/// Of a conjecture with pairs.
const UNTESTED: &str = "*A conjecture: these runs do not test it.*";

/// What shows a reason, with the size of its effect.
pub fn list(study: &Study, why: &Why, measured: Option<&Measured>) -> String {
    let shown = why.shown.iter().map(|one| experiment(study, one, measured));
    let mark = if why.shown.is_empty() {
        CONJECTURE
    } else {
        UNTESTED
    };
    let mark = why.is_conjecture().then(|| mark.to_owned());
    lines("   - ", shown.chain(mark))
}

fn experiment(study: &Study, one: &Experiment, measured: Option<&Measured>) -> String {
    let figure = one.figure;
    let [(variant, at), (over, over_at)] = one.sides();
    let workloads = study.workloads(&one.workload);
    let place = (figure, &workloads[..]);
    let found =
        measured.and_then(|measured| ratio(measured, place, (variant, at), (over, over_at)));
    let effect = found.map_or_else(
        || "not measured yet".into(),
        |found| escape(&value(&Value::Ratio(found))),
    );
    let base = if variant == over {
        figure.at(over_at)
    } else {
        format!("`{over}`")
    };
    format!(
        "{}: {} of `{}`, {}, `{variant}` compared with {base}: **{effect}**",
        one.what,
        figure.noun(),
        one.workload,
        figure.at(at),
    )
}
