//! How many requests per second the load generator would reach if answers cost nothing. What the
//! probe measured with a responder next to the generator in, the generator's own ceiling out. Pure.

use std::collections::BTreeMap;

use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::instrument::GeneratorCeiling;
use wasmbench_model::wire::record::{Point, TrialId};

/// From this share of the CPUs on, generator and responder are assumed to be CPU-bound. The share
/// is below 1 because others may use a fifth of a node before it counts as noisy, and wake-ups take
/// some time too.
const CPU_BOUND: f64 = 0.75;

/// Ceilings by workload and connections.
pub type Ceilings<'a> = BTreeMap<(&'a str, u32), f64>;

/// The generator's own ceiling, in requests per second; `None` where nothing was counted.
///
/// Responder and generator share CPUs. If these are all busy, the generator could have used the
/// responder's part too, so the measured rate is scaled up accordingly; otherwise a subject as
/// cheap as the responder would always seem to be at the ceiling. If CPUs were idle, something else
/// limits the generator, and the measured rate is its ceiling.
pub fn own_ceiling(measured: &GeneratorCeiling) -> Option<f64> {
    let own = measured.generator_cpu_nanoseconds as f64;
    let both = own + measured.responder_cpu_nanoseconds as f64;
    let available = measured.duration_nanoseconds as f64 * measured.cpus;
    if own <= 0.0 || available <= 0.0 || measured.rps <= 0.0 {
        return None;
    }
    let raised = if both / available >= CPU_BOUND {
        measured.rps * both / own
    } else {
        measured.rps
    };
    Some(round_number(raised))
}

/// The highest ceiling of each workload and number of connections, over the trials of all variants:
/// the ceiling is a property of the node, and noise only lowers it.
pub fn ceilings<'a>(measured: impl Iterator<Item = (&'a TrialId, f64)>) -> Ceilings<'a> {
    let mut highest = Ceilings::new();
    for (trial, ceiling) in measured {
        let Point::Throughput { connections } = trial.cell.point else {
            continue;
        };
        let known = highest
            .entry((trial.cell.workload.as_str(), connections))
            .or_insert(ceiling);
        *known = known.max(ceiling);
    }
    highest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One second on two CPUs; CPU times in milliseconds.
    fn measured(generator: u64, responder: u64) -> GeneratorCeiling {
        GeneratorCeiling {
            connections: 50,
            rps: 60_000.0,
            duration_nanoseconds: 1_000_000_000,
            generator_cpu_nanoseconds: generator * 1_000_000,
            responder_cpu_nanoseconds: responder * 1_000_000,
            cpus: 2.0,
        }
    }

    #[test]
    fn on_busy_cpus_the_responders_share_counts_as_the_generators() {
        assert_eq!(own_ceiling(&measured(1500, 500)), Some(80_000.0));
        assert_eq!(own_ceiling(&measured(1000, 1000)), Some(120_000.0));
    }

    #[test]
    fn with_idle_cpus_the_measured_rate_is_the_ceiling() {
        assert_eq!(own_ceiling(&measured(800, 400)), Some(60_000.0));
    }

    #[test]
    fn a_measurement_without_cpu_time_has_no_ceiling() {
        assert_eq!(own_ceiling(&measured(0, 0)), None);
        assert_eq!(
            own_ceiling(&GeneratorCeiling {
                cpus: 0.0,
                ..measured(1000, 200)
            }),
            None
        );
    }

    proptest! {
        #[test]
        fn a_cheap_subject_is_as_near_the_ceiling_as_the_generators_cpu_share(
            generator in 800u64..1900,
        ) {
            let pair = measured(generator, 2000 - generator);
            let near = pair.rps / own_ceiling(&pair).unwrap();
            prop_assert!((near - generator as f64 / 2000.0).abs() < 1e-3, "{near}");
        }
    }
}
