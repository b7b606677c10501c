//! CPU time per request against the bytes of its body: a point for every size of every trial, the medians
//! with their intervals, and the line of each variant. Both axes may be logarithmic, on which a line
//! bends; a body without bytes has a place of its own, left of the axis.

use maud::{Markup, html};
use wasmbench_model::units;
use wasmbench_results::read::payload_trial::MEGABYTE;
use wasmbench_results::statistics::{Line, Spread};

use crate::html::marks::{self, Dot, Look, Points, line, path, px, text, tick};
use crate::html::scale::Scale;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 306.0;
/// Height of the area below the plot.
const FOOT: f64 = 40.0;
/// Room for bodies without bytes, which have no place on a logarithmic axis.
const EMPTY: f64 = 90.0;
/// Space between a size and the end of the axis.
const MARGIN: f64 = 40.0;
/// Room for the number of a size.
const TICK_ROOM: f64 = 56.0;
/// The farthest that two variants at the same size are apart, and all of them together.
const DODGE: (f64, f64) = (9.0, 60.0);
/// Half the length of a median, and of a line where a body has no bytes.
const DASH: f64 = 5.0;
/// Straight pieces of which the bent line consists.
const PIECES: u32 = 64;
/// What the vertical axis shows.
const TIME: &str = "CPU time of the pod per request (us, ms, s)";

/// What the bytes of bodies cost one variant.
#[derive(Clone, Debug)]
pub struct Costs {
    /// Name of the variant.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// Every size of every trial: bytes, and CPU time in microseconds.
    pub dots: Vec<(u32, Dot)>,
    /// The medians of the sizes with their intervals.
    pub medians: Vec<(u32, Spread)>,
    /// The line: microseconds by megabytes.
    pub line: Option<Line>,
}

/// The horizontal axis.
struct Across {
    sizes: Vec<u32>,
    scale: Scale,
}

impl Across {
    fn new(all: &[Costs]) -> Self {
        let dots = all
            .iter()
            .flat_map(|one| &one.dots)
            .map(|(bytes, _)| *bytes);
        let mut sizes: Vec<u32> = dots.collect();
        sizes.sort_unstable();
        sizes.dedup();
        let some: Vec<u32> = sizes.iter().copied().filter(|bytes| *bytes > 0).collect();
        let left = if sizes.len() > some.len() {
            LEFT + EMPTY
        } else {
            LEFT
        };
        Self {
            sizes,
            scale: Scale::connections(&some, (left + MARGIN, RIGHT - MARGIN)),
        }
    }

    fn at(&self, bytes: f64) -> f64 {
        if bytes > 0.0 {
            self.scale.at(bytes)
        } else {
            LEFT + EMPTY / 2.0
        }
    }

    /// The smallest and the largest size with bytes.
    fn ends(&self) -> Option<(f64, f64)> {
        let ticks = &self.scale.ticks;
        Some((*ticks.first()?, *ticks.last()?))
    }

    /// Where the sizes are, each with its number if there is room for it.
    fn ticks(&self) -> Vec<(f64, Option<String>)> {
        let mut free_from = f64::MIN;
        let label = |bytes: &u32| {
            let x = self.at((*bytes).into());
            let has_room = x >= free_from;
            if has_room {
                free_from = x + TICK_ROOM;
            }
            (x, has_room.then(|| tick(&units::bytes((*bytes).into()))))
        };
        self.sizes.iter().map(label).collect()
    }
}

/// A plot of the costs of all variants.
pub fn plot(id: &str, title: &str, all: &[Costs], detail: Points) -> Markup {
    let across = Across::new(all);
    let up = Scale::fit(all.iter().flat_map(values), 1000.0, (BOTTOM, TOP));
    let count = all.len() as f64;
    let step = DODGE.0.min(DODGE.1 / count.max(1.0));
    let body = html! {
        (frame(&across, &up))
        @for (index, costs) in all.iter().enumerate() {
            @let shift = step * (index as f64 - (count - 1.0) / 2.0);
            (drawn(costs, shift, &across, &up, detail)) "\n"
        }
    };
    let what = format!("{title}, one line per variant: {TIME}");
    marks::svg(id, (WIDTH, BOTTOM + FOOT), title, &what, &body)
}

/// All CPU times that are drawn.
fn values(costs: &Costs) -> impl Iterator<Item = f64> {
    let medians = costs.medians.iter();
    let dots = costs.dots.iter().map(|(_, dot)| dot.value);
    dots.chain(medians.flat_map(|(_, spread)| [spread.low, spread.high]))
}

/// The axes, with their numbers and names.
fn frame(across: &Across, up: &Scale) -> Markup {
    let caution = up
        .caution()
        .map_or_else(String::new, |caution| format!(", {caution}"));
    let name = format!(
        "body of a request, sent and sent back (logarithmic axis); vertical: {TIME}{caution}"
    );
    let label = |time: f64| {
        if time > 0.0 {
            tick(&units::micros(time))
        } else {
            "0".to_owned()
        }
    };
    html! {
        @for time in &up.ticks {
            @let y = up.at(*time);
            (line("grid", (LEFT, y), (RIGHT, y)))
            (text("tick end", (LEFT - 6.0, y + 4.0), &label(*time), 12))
        }
        @for (x, label) in across.ticks() {
            (line("grid", (x, TOP), (x, BOTTOM)))
            @if let Some(label) = label { (text("tick middle", (x, BOTTOM + 16.0), &label, 12)) }
        }
        (text("axis middle", (f64::midpoint(LEFT, RIGHT), BOTTOM + 34.0), &name, 160)) "\n"
    }
}

/// A variant's points, medians with intervals, and line.
fn drawn(costs: &Costs, shift: f64, across: &Across, up: &Scale, detail: Points) -> Markup {
    let x = |bytes: u32| across.at(bytes.into()) + shift;
    let dots = costs.dots.iter();
    let places: Vec<_> = dots
        .map(|(bytes, dot)| (x(*bytes), up.at(dot.value), dot))
        .collect();
    html! {
        g.faint { (marks::points(&places, costs.look, detail)) }
        g class=(costs.look.classes()) {
            @if let Some(fitted) = costs.line { (bent(&costs.name, fitted, across, up)) }
            @for (bytes, spread) in &costs.medians {
                @let (x, y) = (x(*bytes), up.at(spread.median));
                (path("bar", &format!("M{} {}V{}", px(x), px(up.at(spread.low)), px(up.at(spread.high)))))
                (line("median", (x - DASH, y), (x + DASH, y)))
            }
        }
    }
}

/// The line of a variant, and its value where a body has no bytes.
fn bent(name: &str, fitted: Line, across: &Across, up: &Scale) -> Markup {
    let Some((least, most)) = across.ends() else {
        return html! {};
    };
    let bytes = |piece: u32| least * libm::pow(most / least, f64::from(piece) / f64::from(PIECES));
    let corner = |bytes: f64| {
        let y = up.at(fitted.at(bytes / MEGABYTE));
        format!("{} {}", px(across.at(bytes)), px(y))
    };
    let corners: Vec<String> = (0..=PIECES).map(|piece| corner(bytes(piece))).collect();
    let (empty, y) = (across.at(0.0), up.at(fitted.start));
    let has_empty = across.sizes.first() == Some(&0);
    html! {
        path class="curve" d={ "M" (corners.join("L")) } { title { (name) } }
        @if has_empty { (line("curve", (empty - 4.0 * DASH, y), (empty + 4.0 * DASH, y))) }
    }
}
