//! The numbers of one climb of a ladder of rates: a document in, rungs out.

use wasmbench_model::noise::{self, Noise};
use wasmbench_model::wire::document::{LoadDocument, Rung, TimedWindow};

/// What a summary needs from one record of a climb.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClimbTrial {
    /// The rungs that were tried, in ascending order.
    pub rungs: Vec<Rung>,
    /// CPUs of the node, if they are known.
    pub cpus: Option<u32>,
}

/// The numbers of a document.
pub fn from_document(document: &LoadDocument) -> ClimbTrial {
    let list = document.environment.facts.get("cpus");
    ClimbTrial {
        rungs: document.rungs.clone(),
        cpus: list.and_then(|list| noise::cpus(list)),
    }
}

impl ClimbTrial {
    /// How noisy the node was on a rung.
    pub fn noise(&self, rung: &Rung) -> Noise {
        let window = rung.window.as_ref().zip(self.cpus);
        window.map_or_else(Noise::default, |(window, cpus)| {
            Noise::from_window(window, cpus)
        })
    }
}

/// CPU time of the subject per request of a window, in microseconds.
pub fn cpu_microseconds_per_request(window: &TimedWindow) -> Option<f64> {
    let requests = window.open_loop?.requests;
    let nanoseconds = window.subject.as_ref()?.cpu_nanoseconds;
    (requests > 0).then(|| nanoseconds as f64 / 1e3 / requests as f64)
}

/// The share (0 to 1) of the periods of a CPU limit in which it stopped the subject; `None` without a
/// limit.
pub fn throttled_share_of_periods(window: &TimedWindow) -> Option<f64> {
    let meter = window.subject.as_ref()?;
    let periods = meter.limit_periods.filter(|periods| *periods > 0)?;
    Some(meter.throttled_periods? as f64 / periods as f64)
}

/// Memory of the subject at the end of a window, in bytes, by the best counter that there is.
pub fn memory_bytes(window: &TimedWindow) -> Option<f64> {
    let meter = window.subject.as_ref()?;
    let held = meter.memory_held_bytes.or(meter.memory_working_set_bytes);
    Some(held.unwrap_or(meter.memory_bytes) as f64)
}

#[cfg(test)]
mod tests {
    use wasmbench_model::wire::document::Meter;

    use super::*;

    #[test]
    fn a_limit_is_seen_in_the_share_of_its_periods_and_a_subject_without_one_has_none() {
        let window = |throttled, periods| TimedWindow {
            subject: Some(Meter {
                throttled_periods: throttled,
                limit_periods: periods,
                ..Meter::default()
            }),
            ..TimedWindow::default()
        };
        let share = |throttled, periods| throttled_share_of_periods(&window(throttled, periods));
        assert_eq!(share(Some(25), Some(100)), Some(0.25));
        assert_eq!(share(Some(0), Some(0)), None);
        assert_eq!(share(Some(3), None), None);
    }
}
