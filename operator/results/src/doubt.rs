//! A reason not to believe a number as it stands.

use serde::{Deserialize, Serialize};

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
    /// Something else than subject and load generator used the node's CPUs, or tasks waited for
    /// memory.
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
    /// The rate still moved within the timed windows.
    #[serde(alias = "WarmupNotSettled")]
    NotSteady,
    /// Comparisons are undecided because trials scatter too much for so few blocks.
    HighVariance,
    /// The pods of a variant fall into two groups.
    TwoModes,
    /// Most of the CPU time under load was the load generator's.
    GeneratorShare,
}

/// What a doubt speaks against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everything that was measured.
    Run,
    /// The comparisons that say so themselves.
    Comparisons,
    /// Points that take no part in comparisons, and so nothing that stands.
    LeftOut,
}

impl Reason {
    /// How far it reaches.
    pub const fn reach(self) -> Reach {
        match self {
            Self::NodeNoisy
            | Self::NoiseUnknown
            | Self::NotSteady
            | Self::TooFewBlocks
            | Self::TrialsFailed => Reach::Comparisons,
            Self::ResponseMismatch
            | Self::EngineModeMismatch
            | Self::CacheClassViolated
            | Self::ErrorsInLoad
            | Self::TooFewSamples
            | Self::Throttled
            | Self::LoadGeneratorSaturated
            | Self::RateNotAchieved
            | Self::EnvironmentDrifted
            | Self::ClockTooCoarse => Reach::LeftOut,
            Self::Incomplete
            | Self::LittlesLaw
            | Self::LoadGeneratorLate
            | Self::DelayedAck
            | Self::HighVariance
            | Self::TwoModes
            | Self::GeneratorShare => Reach::Run,
        }
    }

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
