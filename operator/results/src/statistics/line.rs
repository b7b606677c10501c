//! A straight line through numbers that scatter by a share of their size. Simulated in
//! report/tests/all/payload_simulation.rs.

/// A line: `start + slope * x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its value at 0.
    pub start: f64,
    /// By how much it grows per unit.
    pub slope: f64,
}

impl Line {
    /// The line that lies closest to these points, each by its relative distance: least squares with
    /// the weights `1/y^2`, because a number of twice the size scatters twice as far. `None` unless
    /// points at two places are positive and finite.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let usable = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite() && *y > 0.0;
        let points = points.iter().filter(usable);
        let weighted: Vec<(f64, f64, f64)> = points.map(|(x, y)| (*x, *y, 1.0 / (y * y))).collect();
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            weighted.iter().map(|(x, y, w)| w * of(*x, *y)).sum()
        };
        let all = sum(&|_, _| 1.0);
        let (middle_x, middle_y) = (sum(&|x, _| x) / all, sum(&|_, y| y) / all);
        let spread = sum(&|x, _| (x - middle_x).powi(2));
        let slope = sum(&|x, y| (x - middle_x) * (y - middle_y)) / spread;
        let line = Self {
            start: middle_y - slope * middle_x,
            slope,
        };
        (line.start.is_finite() && slope.is_finite()).then_some(line)
    }

    /// Its value at `x`.
    pub fn at(self, x: f64) -> f64 {
        self.start + self.slope * x
    }

    /// The largest distance of these points from the line, as a share of each.
    pub fn farthest(self, points: &[(f64, f64)]) -> f64 {
        let distances = points.iter().map(|(x, y)| (self.at(*x) / y - 1.0).abs());
        distances.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_found_again() {
        let points = [(0.0, 30.0), (0.5, 180.0), (1.0, 330.0)];
        let line = Line::fit(&points).unwrap();
        assert!((line.start - 30.0).abs() < 1e-9 && (line.slope - 300.0).abs() < 1e-9);
        assert!(line.farthest(&points) < 1e-12);
    }

    #[test]
    fn an_error_of_the_largest_number_hardly_moves_the_start() {
        let line = Line::fit(&[(0.0, 30.0), (0.001, 33.0), (1.0, 3300.0)]).unwrap();
        assert!((line.start - 30.0).abs() < 0.2, "{line:?}");
        assert!(line.farthest(&[(0.0, 60.0)]) > 0.49);
    }

    #[test]
    fn one_place_makes_no_line() {
        for points in [
            &[][..],
            &[(1.0, 2.0)],
            &[(1.0, 2.0), (1.0, 3.0)],
            &[(0.0, 0.0), (1.0, 1.0)],
        ] {
            assert_eq!(Line::fit(points), None, "{points:?}");
        }
    }

    proptest! {
        #[test]
        fn hostile_numbers_give_no_nan(
            points in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..9)
        ) {
            if let Some(line) = Line::fit(&points) {
                prop_assert!(line.start.is_finite() && line.slope.is_finite());
            }
        }
    }
}
