//! A reason not to believe a number as it stands.

use serde::{Deserialize, Serialize};

/// Why numbers may not mean what they seem to mean, the worst reason first.
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
    strum::EnumString,
)]
pub enum Reason {
    /// A variant gave a wrong answer, or a different one than the baseline.
    ResponseMismatch,
    /// A variant ran in a different mode than it claims.
    EngineModeMismatch,
    /// Pods of a cold start found the node in another state than the class requires.
    CacheClassViolated,
    /// Requests of a timed window failed.
    ErrorsInLoad,
    /// Points have fewer valid trials than planned, or none.
    TrialsFailed,
    /// Trials have no record.
    Incomplete,
    /// Too few repetitions to estimate the noise.
    TooFewBlocks,
    /// Too few requests for a percentile.
    TooFewSamples,
    /// A CPU limit throttled the subject: one that the run does not set makes points invalid, one that
    /// it sets is noted.
    Throttled,
    /// The subject's memory reached its limit, or a process was killed there.
    MemoryAtLimit,
    /// Something other than the subject and the load generator used the node's CPUs, or tasks
    /// waited for memory.
    NodeNoisy,
    /// The load generator was the bottleneck.
    LoadGeneratorSaturated,
    /// The subject received less load than the point requests, because it could not keep up.
    RateNotAchieved,
    /// The node, an image or a template was not the same in all trials.
    EnvironmentDrifted,
    /// Time was not measured finely enough for the number.
    ClockTooCoarse,
    /// Connections, rate and latency of a closed loop do not fit together.
    LittlesLaw,
    /// The load generator kept its schedule so badly that it may have caused the tail latency.
    LoadGeneratorLate,
    /// The capacity of a variant lies beyond an end of its ladder.
    BeyondLadder,
    /// Responses seem to wait for a delayed acknowledgement.
    DelayedAck,
    /// Pods of a cold start were not up in time.
    LateStarts,
    /// Windows were too short to tell whether the node was noisy, or CPU time was not read.
    NoiseUnknown,
    /// The rate still changed within the timed windows.
    NotSteady,
    /// A timed window lasted much longer than requested.
    WindowOverran,
    /// The numbers of trials depend on what ran before them, or on when in a block they ran.
    OrderEffect,
    /// Connections of variants that are compared carry different numbers of requests.
    ConnectionsEnd,
    /// The answers of a variant differ much in size.
    AnswersVary,
    /// Comparisons are undecided because trials scatter too much for so few blocks.
    HighVariance,
    /// The pods of a variant fall into two groups.
    TwoModes,
    /// The load generator used most of the CPU time under load.
    GeneratorShare,
    /// The node's services were busy with a variant's log.
    LogCost,
    /// The answers of variants differ in size.
    UnequalAnswers,
    /// Variants whose throughput is compared used different numbers of CPUs.
    UnequalCpus,
    /// Variants that are compared differ in their resources and in what they run.
    UnequalResources,
}

/// What a doubt speaks against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everything that was measured.
    Run,
    /// The comparisons that name the reason themselves.
    Comparisons,
    /// Points that are excluded from comparisons, so that no comparison is affected.
    LeftOut,
}

impl Reason {
    /// Whether it holds of most runs until they end, so that it is no news before.
    pub const fn is_of_the_end(self) -> bool {
        matches!(
            self,
            Self::Incomplete | Self::TooFewBlocks | Self::HighVariance
        )
    }

    /// What the reason speaks against.
    pub const fn reach(self) -> Reach {
        match self {
            Self::NodeNoisy
            | Self::NoiseUnknown
            | Self::NotSteady
            | Self::WindowOverran
            | Self::OrderEffect
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
            | Self::BeyondLadder
            | Self::MemoryAtLimit
            | Self::DelayedAck
            | Self::ConnectionsEnd
            | Self::AnswersVary
            | Self::LateStarts
            | Self::HighVariance
            | Self::TwoModes
            | Self::GeneratorShare
            | Self::LogCost
            | Self::UnequalAnswers
            | Self::UnequalCpus
            | Self::UnequalResources => Reach::Run,
        }
    }
}

/// Something that speaks against the numbers, or limits them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Doubt {
    /// The reason.
    pub reason: Reason,
    /// True if the numbers cannot be trusted as they are. False for a note, which only limits what
    /// they say (a p99 of 300 requests, a variant that could not be measured at all).
    pub breaks_trust: bool,
    /// What was seen, and where.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl Doubt {
    /// What was seen, and what to do about it; the reason's name goes before it.
    pub fn text(&self) -> String {
        format!("{}. What to do: {}.", self.message, self.remedy)
    }
}
