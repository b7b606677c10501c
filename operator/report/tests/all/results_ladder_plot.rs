//! The plot of a ladder: a synthetic run with a crossing, an open end on either side, an invalid rung and
//! one without a p99.

use std::collections::BTreeSet;

use roxmltree::Document;
use wasmbench_report::html::Points;
use wasmbench_report::html::ladder::{Ladder, plot};
use wasmbench_report::html::marks::{Dot, Look};
use wasmbench_report::html::target::{Crossing, Target};

const RATES: [f64; 5] = [200.0, 300.0, 450.0, 700.0, 1000.0];

/// A rung of a trial that meets or misses the target, or does not count.
fn dot(variant: &str, block: u32, (rate, p99): (f64, f64), counts: bool) -> (f64, Dot) {
    let label = format!("{variant}, block {block}, {rate:.0} requests/s: {p99:.0} us");
    let dot = Dot {
        value: p99,
        label,
        counts,
        is_out_with_its_point: false,
    };
    (rate, dot)
}

/// A variant with these p99s in two blocks, the second of which shifts the ladder by 5 %.
fn ladder(index: usize, name: &str, p99s: &[f64]) -> Ladder {
    let rungs = RATES.iter().zip(p99s);
    let dots = rungs.clone().flat_map(|(rate, p99)| {
        [(1, 1.0), (2, 1.05)].map(|(block, shift)| {
            let is_invalid = name == "late" && *rate > 900.0;
            dot(name, block, (rate * shift, p99 * shift), !is_invalid)
        })
    });
    Ladder {
        name: name.to_owned(),
        look: Look::from_index(index),
        dots: dots.collect(),
        medians: rungs
            .filter(|(_, p99)| p99.is_finite())
            .map(|(rate, p99)| (rate * 1.025, p99 * 1.025))
            .collect(),
    }
}

fn ladders() -> Vec<Ladder> {
    vec![
        ladder(0, "native", &[3e3, 4e3, 9e3, 80e3, 1.5e6]),
        ladder(1, "slow", &[90e3, 700e3]),
        ladder(2, "fast", &[2e3, 2e3, 3e3, 4e3, 6e3]),
        ladder(3, "failing", &[5e3, 6e3, f64::INFINITY, f64::INFINITY]),
        ladder(4, "late", &[4e3, 5e3, 8e3, 30e3, 9e3]),
    ]
}

fn crossing(index: usize, ends: [Option<f64>; 3], words: &str) -> Crossing {
    let [low, at, high] = ends;
    Crossing {
        look: Look::from_index(index),
        at,
        low,
        high,
        words: words.to_owned(),
    }
}

fn target() -> Target {
    let native = [Some(610.0), Some(640.0), Some(665.0)];
    Target {
        value: 50e3,
        words: "target: p99 of 50 ms".to_owned(),
        crossings: vec![
            crossing(0, native, "native: 640 (610 to 665)"),
            crossing(1, [None, None, Some(200.0)], "slow: below 200"),
            crossing(2, [Some(1000.0), None, None], "fast: at least 1.00k"),
        ],
    }
}

fn drawn(detail: Points) -> String {
    let plot = plot("w0-ladder", "p99 by rate", &ladders(), &target(), detail);
    plot.into_string()
}

#[test]
fn plot_of_a_ladder() {
    insta::assert_snapshot!(drawn(Points::Labelled));
}

#[test]
fn every_rung_is_a_point_and_one_that_is_invalid_is_crossed() {
    let svg = drawn(Points::Labelled);
    for ladder in ladders() {
        let points = svg.matches(&format!("{}, block ", ladder.name)).count();
        assert_eq!(points, ladder.dots.len(), "{}", ladder.name);
    }
    assert_eq!(svg.matches("class=\"out c4\"").count(), 2);
}

/// The paths of a class, as the numbers in them.
fn paths(svg: &str, class: &str) -> Vec<Vec<f64>> {
    let document = Document::parse(svg).unwrap();
    let all = document.descendants();
    let of_class = all.filter(|node| node.attribute("class") == Some(class));
    let numbers = of_class.map(|node| {
        let path = node.attribute("d").unwrap();
        let numbers = path.split(['M', 'L', ' ']).filter(|text| !text.is_empty());
        numbers.map(|number| number.parse().unwrap()).collect()
    });
    numbers.collect()
}

#[test]
fn the_target_is_a_line_and_the_crossing_stands_above_the_place_where_the_curve_meets_it() {
    let svg = drawn(Points::None);
    let [target] = &paths(&svg, "target")[..] else {
        panic!("one line: {svg}");
    };
    let [drop] = &paths(&svg, "drop")[..] else {
        panic!("one known crossing: {svg}");
    };
    assert!((target[1] - target[3]).abs() < 1e-9, "it is level");
    assert!((drop[3] - target[1]).abs() < 1e-9, "it ends at the target");
    let native = &paths(&svg, "curve")[0];
    let corners: Vec<(f64, f64)> = native.chunks(2).map(|at| (at[0], at[1])).collect();
    let meets = corners
        .windows(2)
        .find(|two| two[0].1 >= target[1] && two[1].1 < target[1]);
    let [(from, _), (to, _)] = meets.unwrap() else {
        panic!("two corners");
    };
    assert!(*from < drop[0] && drop[0] < *to, "{drop:?} in {corners:?}");
}

#[test]
fn an_open_end_reaches_the_end_of_the_plot_and_has_an_arrow() {
    let svg = drawn(Points::None);
    let ranges = paths(&svg, "range");
    let ends = &paths(&svg, "target")[0];
    assert_eq!(ranges.len(), 3);
    assert!((ranges[1][0] - ends[0]).abs() < 1e-9, "below: {ranges:?}");
    assert!(
        (ranges[2][2] - ends[2]).abs() < 1e-9,
        "at least: {ranges:?}"
    );
    let arrows = paths(&svg, "median");
    assert_eq!(arrows.iter().filter(|path| path.len() == 6).count(), 2);
}

#[test]
fn an_axis_whose_numbers_lie_far_apart_is_logarithmic_and_says_so() {
    let svg = drawn(Points::None);
    assert!(svg.contains("requests per second; vertical: p99"), "{svg}");
    assert!(svg.contains("(us, ms, s), logarithmic axis"), "{svg}");
    for tick in [">50 ms<", ">1k<", ">target: p99 of 50 ms<"] {
        assert!(svg.contains(tick), "{tick}: {svg}");
    }
}

#[test]
fn everything_lies_inside_the_plot() {
    for detail in [Points::Labelled, Points::Plain, Points::None] {
        let svg = drawn(detail);
        let document = Document::parse(&svg).unwrap();
        let size: Vec<f64> = document
            .root_element()
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        let classes: BTreeSet<&str> = ["grid", "target", "range", "drop", "median", "curve"].into();
        for class in classes {
            for path in paths(&svg, class) {
                for at in path.chunks(2) {
                    assert!((0.0..=size[2]).contains(&at[0]), "{class}: {path:?}");
                    assert!((0.0..=size[3]).contains(&at[1]), "{class}: {path:?}");
                }
            }
        }
    }
}

#[test]
fn a_ladder_of_which_nothing_was_measured_is_a_plot_too() {
    let empty = Target {
        crossings: vec![],
        ..target()
    };
    let svg = plot("none", "p99 by rate", &[], &empty, Points::Labelled).into_string();
    assert!(Document::parse(&svg).is_ok(), "{svg}");
    assert!(svg.contains("class=\"target\""), "{svg}");
}
