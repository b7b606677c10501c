//! Whether a warm-up has settled: the rate of its last part matches that of the part before. Pure.

/// A rate that differs by more than this from that of the part before still changes. On a small
/// machine, two parts of one second differ by 7 % without a cause.
const MOVES: f64 = 0.10;

/// The rates of a warm-up's parts, one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settling {
    last: Option<f64>,
    moved: Option<f64>,
}

impl Settling {
    /// Adds the rate of one more part, in requests per second.
    pub fn add(&mut self, rps: f64) {
        let before = self.last.replace(rps).filter(|before| *before > 0.0);
        self.moved = before.map(|before| (rps / before - 1.0).abs());
    }

    /// Whether the last two parts agree; `None` with fewer than two.
    pub fn is_settled(&self) -> Option<bool> {
        self.moved.map(|moved| moved <= MOVES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(rates: &[f64]) -> Option<bool> {
        let mut settling = Settling::default();
        for rate in rates {
            settling.add(*rate);
        }
        settling.is_settled()
    }

    #[test]
    fn a_rate_that_rises_or_falls_has_not_settled() {
        assert_eq!(settled(&[100.0, 150.0]), Some(false));
        assert_eq!(settled(&[100.0, 80.0]), Some(false));
        assert_eq!(settled(&[100.0, 150.0, 200.0, 205.0]), Some(true));
    }

    #[test]
    fn only_the_last_two_parts_count() {
        assert_eq!(settled(&[10.0, 100.0, 101.0]), Some(true));
        assert_eq!(settled(&[100.0, 101.0, 50.0]), Some(false));
    }

    #[test]
    fn one_part_or_a_part_without_answers_is_not_enough() {
        assert_eq!(settled(&[]), None);
        assert_eq!(settled(&[100.0]), None);
        assert_eq!(settled(&[0.0, 100.0]), None);
    }
}
