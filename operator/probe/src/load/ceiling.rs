//! The load generator's limit on this node: the generator against a [`Responder`] within the probe, over
//! loopback, with the subject's requests and answers as long as its own. The subject is idle
//! meanwhile.

use std::time::{Duration, Instant};

use wasmbench_model::cpu_list::CpuList;
use wasmbench_model::wire::instrument::GeneratorCeiling;

use super::timed::Bench;
use crate::generator::task::Load;
use crate::output::progress;
use crate::quota;
use crate::responder::Responder;
use crate::target::Target;

/// Long enough for 10,000 requests of the slowest generator, short compared with a trial.
const TIME: Duration = Duration::from_secs(1);
/// Time for all of it, including a hanging generator.
const BUDGET: Duration = Duration::from_secs(5);
/// With fewer connections per CPU, CPUs would idle while requests travel, and the rate would be
/// that of a round trip, which is no ceiling.
const CONNECTIONS_PER_CPU: u32 = 4;
/// Each takes a thread; more make a load slower, not faster.
const MOST_CONNECTIONS: u32 = 512;

/// Measures the ceiling for the load of `bench`; `own_cpus` is the list of CPUs that the probe may
/// use. A trial goes on without it.
pub fn measure(bench: &Bench<'_>, own_cpus: Option<&str>) -> Result<GeneratorCeiling, String> {
    let found = try_measure(bench, own_cpus);
    match &found {
        Ok(ceiling) => progress(&format!(
            "a responder that does nothing: {:.0} requests per second",
            ceiling.rps
        )),
        Err(why) => progress(&format!("no ceiling of the load generator: {why}")),
    }
    found
}

fn try_measure(bench: &Bench<'_>, own_cpus: Option<&str>) -> Result<GeneratorCeiling, String> {
    if bench.load.target.origin.scheme.has_tls() {
        return Err("the responder speaks no TLS, which takes much of the generator's time".into());
    }
    let cpus = own_cpus
        .and_then(CpuList::parse)
        .ok_or("its CPUs are not known")?;
    let quota = quota::cpus(&bench.sys.join("fs/cgroup"));
    let usable = quota.unwrap_or(f64::INFINITY).min(f64::from(cpus.count()));
    let bytes = usize::try_from(bench.load.answer_bytes).map_err(|error| error.to_string())?;
    let sent = bench.load.target.body.as_ref().map_or(0, |body| body.len());
    let responder = Responder::start(bench.load.status, bytes, bench.load.reuse, sent)
        .map_err(|error| format!("could not listen: {error}"))?;
    let target = Target {
        origin: responder.address.into(),
        ..bench.load.target.clone()
    };
    let connections = bench
        .load
        .connections
        .max(CONNECTIONS_PER_CPU * cpus.count());
    let own = Bench {
        load: Load {
            target: &target,
            // One request is enough to load the generator.
            parts: &[],
            connections: connections.min(MOST_CONNECTIONS),
            ..bench.load
        },
        meter: Err("the ceiling has no subject".to_owned()),
        upstream: None,
        containers: vec![],
        companions: None,
        instances: None,
        deadline: Instant::now() + BUDGET,
        ..*bench
    };
    let (run, readings) = own.calibrate(TIME)?;
    let failed = run.requests.saturating_sub(run.expected);
    if failed > 0 {
        return Err(format!("{failed} requests failed: {}", run.codes()));
    }
    let counted = "CPU time was not counted";
    Ok(GeneratorCeiling {
        connections: own.load.connections,
        rps: run.rps(),
        duration_nanoseconds: u64::try_from(run.duration.as_nanos()).unwrap_or(u64::MAX),
        generator_cpu_nanoseconds: readings.generator().ok_or(counted)?,
        responder_cpu_nanoseconds: readings.probe().ok_or(counted)?,
        cpus: usable,
    })
}
