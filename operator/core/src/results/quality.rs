//! How far to trust the numbers: the reasons for doubt, and what follows from them. The rules that
//! raise them are in [`super::doubts`].

use serde::{Deserialize, Serialize};

use super::summary::{Summary, TrialCounts};
use super::words::cut;

/// Longest message of a condition that the API server takes is 32,768 bytes; the rest is a margin
/// for characters of more than one byte.
const MAX_CONDITION_CHARS: usize = 8000;

/// Why numbers may not mean what they seem to, the worst first.
#[derive(
    Serialize,
    Deserialize,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::IntoStaticStr,
)]
pub enum Reason {
    /// A variant gave a wrong answer, or another one than the baseline.
    ResponseMismatch,
    /// A variant ran in another mode than it claims.
    EngineModeMismatch,
    /// Pods of a cold start found something else on the node than the class says.
    CacheClassViolated,
    /// Requests of a timed window failed.
    ErrorsInLoad,
    /// Points rest on fewer trials than planned, or on none.
    TrialsFailed,
    /// Trials have no record.
    Incomplete,
    /// Too few repetitions to know the noise.
    TooFewBlocks,
    /// Too few requests for a percentile.
    TooFewSamples,
    /// A CPU limit stopped the subject.
    Throttled,
    /// Something else than subject and load generator used the node's CPUs, or tasks waited for memory.
    NodeNoisy,
    /// The load generator was the bottleneck.
    LoadGeneratorSaturated,
    /// Less was asked of the subject than the point says: it could not keep up.
    RateNotAchieved,
    /// The node or an image was not the same in all trials.
    EnvironmentDrifted,
    /// Time was not told finely enough for what is measured.
    ClockTooCoarse,
    /// Connections, rate and latency of a closed loop do not fit together.
    LittlesLaw,
    /// The load generator kept its schedule so badly that the tail may be of its making.
    LoadGeneratorLate,
    /// Answers seem to wait for an acknowledgement that is delayed.
    DelayedAck,
    /// Windows were too short to tell whether the node was noisy, or CPU time was not read.
    NoiseUnknown,
    /// The rate still moved when the timed window began.
    WarmupNotSettled,
    /// Comparisons are undecided because trials scatter too much for so few blocks.
    HighVariance,
}

impl Reason {
    /// The doubt that the reason of a failed or invalid trial raises about its whole point.
    pub fn of_trial(reason: &str) -> Option<Self> {
        match reason {
            "ResponseMismatch" | "WrongAnswer" | "AnswerChanged" => Some(Self::ResponseMismatch),
            "EngineModeMismatch" => Some(Self::EngineModeMismatch),
            "ErrorsInLoad" | "NoSuccessfulRequest" => Some(Self::ErrorsInLoad),
            "ClockTooCoarse" => Some(Self::ClockTooCoarse),
            _ => None,
        }
    }
}

/// Something that speaks against the numbers, or limits them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Doubt {
    /// Why.
    pub reason: Reason,
    /// True: the numbers cannot be trusted as they stand. False: a note; it limits what they say
    /// (a p99 of 300 requests, a variant that could not be measured at all).
    pub breaks_trust: bool,
    /// What was seen, and where.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// Whether the numbers can be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// There are no numbers to judge.
    NoNumbers,
    /// Nothing speaks against them; the message holds the notes.
    Yes(String),
    /// The reasons, one word for all of them, and every one in words.
    No {
        /// The only reason, or `SeveralDoubts`.
        reason: &'static str,
        /// Every reason with its remedy, at most 8000 characters.
        message: String,
    },
}

/// What the condition `Trustworthy` says of a summary: one line per reason, then the notes.
pub fn trust(summary: &Summary) -> Trust {
    let lines = |breaks_trust: bool, kind: &'static str| {
        let doubts = summary
            .doubts
            .iter()
            .filter(move |doubt| doubt.breaks_trust == breaks_trust);
        doubts.map(move |doubt| {
            let reason: &str = doubt.reason.into();
            format!(
                "{kind}{reason}: {}. What to do: {}.",
                doubt.message, doubt.remedy
            )
        })
    };
    let message = |first: Option<String>| {
        let doubts = lines(true, "").chain(first).chain(lines(false, "Note, "));
        cut(&doubts.collect::<Vec<_>>().join("\n"), MAX_CONDITION_CHARS)
    };
    match summary.trustworthy {
        None => Trust::NoNumbers,
        Some(true) => Trust::Yes(message(Some(
            "Nothing speaks against the numbers.".to_owned(),
        ))),
        Some(false) => {
            let mut reasons = summary.doubts.iter().filter(|doubt| doubt.breaks_trust);
            let first = reasons
                .next()
                .map_or("SeveralDoubts", |doubt| doubt.reason.into());
            let reason = if reasons.next().is_some() {
                "SeveralDoubts"
            } else {
                first
            };
            Trust::No {
                reason,
                message: message(None),
            }
        }
    }
}

/// Whether nothing speaks against the numbers; `None` when there are none.
pub fn trustworthy(trials: TrialCounts, doubts: &[Doubt]) -> Option<bool> {
    let any = trials.valid + trials.invalid > 0;
    any.then(|| !doubts.iter().any(|doubt| doubt.breaks_trust))
}
