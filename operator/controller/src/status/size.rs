//! Keeps a status small: it is sent with every change of its run to everyone who watches. What is
//! left out is counted, and the report has it.

use serde::Serialize;

/// Length of `value` as JSON.
pub fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// The first of `all`, as far as they fit into `bytes` of JSON, and the number left out.
pub fn fitting<T: Clone + Serialize>(all: &[T], bytes: usize) -> (Vec<T>, u32) {
    let mut used = 0;
    let fitting = all.iter().take_while(|one| {
        // With its comma.
        used += json_bytes(one) + 1;
        used <= bytes
    });
    let kept: Vec<T> = fitting.cloned().collect();
    let omitted = u32::try_from(all.len() - kept.len()).unwrap_or(u32::MAX);
    (kept, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_do_not_fit_are_counted() {
        let all: Vec<String> = ["one", "two", "three"].map(ToOwned::to_owned).into();
        assert_eq!(fitting(&all, 20), (all.clone(), 0));
        assert_eq!(fitting(&all, 19), (all[..2].to_vec(), 1));
        assert_eq!(fitting(&all, 0), (vec![], 3));
    }
}
