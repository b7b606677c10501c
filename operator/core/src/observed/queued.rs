//! What the queue knows of each run, and what a waiting run learns from the queue: its turn.

use jiff::{SignedDuration, Timestamp};

use super::{Demands, ObservedLease};

/// A place or a time is shown until it is wrong by this share of the wait: the last place changes
/// with every run that ends, and nobody waits more precisely than that.
const SHARE: u32 = 4;
/// A time is never shown more precisely than by so many seconds.
const COARSE_SECONDS: u64 = 60;
/// A time that is further away is shown with its day.
const SAME_DAY: SignedDuration = SignedDuration::from_hours(12);

/// A run, as far as it matters to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedRun {
    /// Its uid.
    pub uid: String,
    /// `namespace/name`.
    pub name: String,
    /// When it was created.
    pub created: Timestamp,
    /// Whether it can still measure.
    pub standing: Standing,
    /// What it demands of its node.
    pub demands: Demands,
    /// For how many more seconds it will probably hold a node.
    pub seconds: u64,
}

impl ObservedRun {
    /// Its namespace.
    pub fn namespace(&self) -> &str {
        self.name
            .split_once('/')
            .map_or("", |(namespace, _)| namespace)
    }
}

/// Whether a run can still measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It measures or waits for its turn.
    Active,
    /// It waits for its user, or for something that keeps failing, and holds its node until its
    /// last pod has stopped.
    Suspended,
    /// It has finished or is being deleted.
    Ended,
}

/// When and where it is a waiting run's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its place among the waiting runs that could use the same nodes: 1 is next.
    pub place: u32,
    /// What it waits for.
    pub outlook: Outlook,
}

/// What a waiting run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// For nothing: it may take the first of these nodes on which nothing of another run is.
    Free(Vec<Candidate>),
    /// Its nodes are taken, or others take them first. `None` if nobody knows until when, because
    /// none of them takes pods now.
    Later(Option<Expected>),
    /// The nodes that meet its demands take no pods now: which ones and why, for people.
    Unavailable(String),
    /// No node meets its demands: which, and what to do, for people.
    Unmatched(String),
}

/// A node that a run may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub node: String,
    /// The Lease that a claim would replace, which counts for nothing.
    pub lease: Option<ObservedLease>,
}

/// When a waiting run will probably measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// On this node.
    pub node: String,
    /// `namespace/name` of the run that holds it, for the run that comes next.
    pub holder: Option<String>,
    /// From this time.
    pub begins: Timestamp,
    /// Until this time.
    pub ends: Timestamp,
    /// The RuntimeClasses for lack of which some of its variants are not measured then.
    pub missing_classes: Vec<String>,
}

impl Turn {
    /// Whether people may still read this turn where `newer` is the right one by `now`.
    pub fn stands_for(&self, newer: &Self, now: Timestamp) -> bool {
        let (Outlook::Later(shown), Outlook::Later(right)) = (&self.outlook, &newer.outlook) else {
            return self == newer;
        };
        let is_close = match (shown, right) {
            (Some(shown), Some(right)) => shown.stands_for(right, now),
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
        };
        is_close && self.place.abs_diff(newer.place) <= newer.place / SHARE
    }

    /// When it will probably measure, if others come first.
    pub fn expected(&self) -> Option<&Expected> {
        match &self.outlook {
            Outlook::Later(expected) => expected.as_ref(),
            Outlook::Free(_) | Outlook::Unavailable(_) | Outlook::Unmatched(_) => None,
        }
    }

    /// What it waits for while others come first, for people who read it `now`.
    pub fn message(&self, now: Timestamp) -> String {
        let place = self.place;
        let Some(expected) = self.expected() else {
            return format!("waiting for a node: number {place} in the queue");
        };
        let Expected { node, holder, .. } = expected;
        let who = holder.as_ref().map_or_else(String::new, |holder| {
            format!(", on which {holder} is measuring")
        });
        format!(
            "waiting for node {node}{who}: number {place} in the queue; begins about {}, ends about {} UTC{}",
            clock(expected.begins, now),
            clock(expected.ends, now),
            expected.never_measured()
        )
    }
}

impl Expected {
    /// What the run will not measure: there is time to mend that while it waits.
    fn never_measured(&self) -> String {
        if self.missing_classes.is_empty() {
            return String::new();
        }
        format!(
            "; there is no RuntimeClass {}: what needs it is not measured, unless it is installed before",
            self.missing_classes.join(", ")
        )
    }

    fn stands_for(&self, newer: &Self, now: Timestamp) -> bool {
        let seconds = |from: Timestamp, to: Timestamp| to.duration_since(from).as_secs();
        let wait = u64::try_from(seconds(now, newer.begins)).unwrap_or_default();
        let allowed = (wait / u64::from(SHARE)).max(COARSE_SECONDS);
        let is_close = |one, other| seconds(one, other).unsigned_abs() <= allowed;
        self.holder == newer.holder
            && self.missing_classes == newer.missing_classes
            && is_close(self.begins, newer.begins)
            && is_close(self.ends, newer.ends)
    }
}

/// A time of day, with the day if it is far from `now`.
fn clock(time: Timestamp, now: Timestamp) -> String {
    let format = if time.duration_since(now) < SAME_DAY {
        "%H:%M"
    } else {
        "%-d %b %H:%M"
    };
    time.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    /// Number `place`, whose turn is in so many minutes and takes ten.
    fn later(place: u32, minutes: i64) -> Turn {
        let after = |minutes| NOW + SignedDuration::from_mins(minutes);
        Turn {
            place,
            outlook: Outlook::Later(Some(Expected {
                node: "bench-1".into(),
                holder: (place == 1).then(|| "team-a/first".into()),
                begins: after(minutes),
                ends: after(minutes + 10),
                missing_classes: vec![],
            })),
        }
    }

    #[test]
    fn a_place_near_the_front_is_always_right_and_one_at_the_back_is_about_right() {
        for (shown, right, is_close) in
            [(3, 2, false), (2, 1, false), (9, 8, true), (100, 90, true)]
        {
            let stands = later(shown, 60).stands_for(&later(right, 60), NOW);
            assert_eq!(stands, is_close, "{shown} where {right} is right");
        }
    }

    #[test]
    fn a_time_is_right_to_a_quarter_of_the_wait_and_to_a_minute() {
        assert!(later(9, 100).stands_for(&later(9, 85), NOW));
        assert!(!later(9, 100).stands_for(&later(9, 70), NOW));
        assert!(later(9, 2).stands_for(&later(9, 1), NOW));
        assert!(!later(9, 4).stands_for(&later(9, 2), NOW));
    }

    #[test]
    fn a_free_node_is_news() {
        let free = Turn {
            place: 1,
            outlook: Outlook::Free(vec![]),
        };
        assert!(!later(1, 1).stands_for(&free, NOW));
        assert!(!free.stands_for(&later(1, 1), NOW));
    }

    #[test]
    fn a_runtime_class_that_is_missing_is_named_while_the_run_waits() {
        let complete = later(3, 90);
        let mut without_class = complete.clone();
        if let Outlook::Later(Some(expected)) = &mut without_class.outlook {
            expected.missing_classes = vec!["spin".into()];
        }
        let message = without_class.message(NOW);
        assert!(
            message.contains(
                "ends about 01:40 UTC; there is no RuntimeClass spin: what needs it is not measured"
            ),
            "{message}"
        );
        assert!(
            !without_class.stands_for(&complete, NOW),
            "it was installed"
        );
    }

    #[test]
    fn the_message_has_place_begin_and_end() {
        assert_eq!(
            later(3, 90).message(NOW),
            "waiting for node bench-1: number 3 in the queue; begins about 01:30, ends about 01:40 UTC"
        );
        let next = later(1, 5).message(NOW);
        assert!(
            next.contains("on which team-a/first is measuring"),
            "{next}"
        );
        let far = later(3, 60 * 30).message(NOW);
        assert!(far.contains("begins about 2 Jan 06:00"), "{far}");
    }
}
