//! What was used last, and no more: a dashboard that is open for weeks must not keep the records of every run that
//! anybody ever looked at.

use std::collections::VecDeque;

/// How many values are kept. As many pages as a browser can follow at a time.
const KEPT: usize = 8;

/// Values by name, the one that was used last at the end.
pub struct Recent<T>(VecDeque<(String, T)>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(VecDeque::with_capacity(KEPT + 1))
    }
}

impl<T: Clone> Recent<T> {
    /// The value of this name; if there is none any more, `new` makes one.
    pub fn value(&mut self, name: &str, new: impl FnOnce() -> T) -> T {
        let known = self
            .0
            .iter()
            .position(|(known, _)| known == name)
            .and_then(|place| self.0.remove(place));
        let value = known.map_or_else(new, |(_, value)| value);
        self.0.push_back((name.to_owned(), value.clone()));
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_used_values_are_kept_and_the_others_dropped() {
        let mut recent = Recent::default();
        let mut made = 0;
        let mut ask = |name: usize| {
            recent.value(&name.to_string(), || {
                made += 1;
                made
            })
        };
        let first = ask(0);
        for name in 1..KEPT {
            ask(name);
            assert_eq!(ask(0), first);
        }
        ask(KEPT);
        // The second one was used the longest time ago.
        assert_eq!(ask(0), first);
        assert_eq!(ask(2), 3);
        assert_eq!(ask(1), KEPT + 2);
        assert_eq!(recent.0.len(), KEPT);
    }
}
