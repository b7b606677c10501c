//! The sweeps in words: one sentence for each.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::cold_start::ColdStart;
use wasmbench_api::density::Density;
use wasmbench_api::open_loop::OpenLoop;
use wasmbench_api::payload::Payload;
use wasmbench_api::run::Network;
use wasmbench_model::ladder::BETWEEN;
use wasmbench_model::wire::request::{
    DEFAULT_REQUESTS, FEWEST_REQUESTS, LEAST_SECONDS, MOST_SECONDS,
};

/// A sentence for each sweep.
pub fn descriptions(spec: &BenchmarkRunSpec) -> Vec<String> {
    let cold = spec
        .sweeps
        .cold_start
        .as_ref()
        .map(|sweep| cold_start(sweep, spec.network()));
    let dense = spec.sweeps.density.as_ref().map(density);
    let warm = spec.sweeps.warm_latency.map(|w| {
        let least = w.requests.unwrap_or(DEFAULT_REQUESTS);
        let most = match w.requests {
            Some(_) => String::new(),
            None => format!(" and {MOST_SECONDS} s at most, or longer for {FEWEST_REQUESTS} requests"),
        };
        format!(
            "warm latency: {least} requests per trial, for {LEAST_SECONDS} s at least{most}, over {} connection(s), \
             after {} discarded ones",
            w.connections, w.warmup_requests
        )
    });
    let throughput = spec.sweeps.throughput.as_ref().map(|t| {
        let connections: Vec<String> = t.connections.iter().map(u32::to_string).collect();
        let reuse: &str = t.connection_reuse.into();
        format!(
            "throughput: {} s per trial after {} discarded seconds, at {} connections ({reuse})",
            t.duration_seconds,
            t.warmup_seconds,
            connections.join(", ")
        )
    });
    let open = spec.sweeps.open_loop.as_ref().map(open_loop);
    let bodies = spec.sweeps.payload.as_ref().map(payload);
    let all = [cold, warm, throughput, open, bodies, dense];
    all.into_iter().flatten().collect()
}

fn cold_start(sweep: &ColdStart, network: Network) -> String {
    let points: Vec<String> = sweep.concurrency.iter().map(u32::to_string).collect();
    let class: &str = sweep.class.into();
    format!(
        "cold start ({class}): {} samples per trial after one discarded sample, {} pod(s) at once{}",
        sweep.samples,
        points.join(", "),
        if network == Network::Host {
            ", on the node's network"
        } else {
            ""
        }
    )
}

fn open_loop(sweep: &OpenLoop) -> String {
    let listed = |numbers: &[u32]| {
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        numbers.join(", ")
    };
    let (rps, percents) = (sweep.rps(), sweep.percents());
    if let Some(target) = &sweep.target {
        return capacity(sweep, &target.p99, &listed(&rps));
    }
    let rates = if percents.is_empty() {
        format!("{} requests/s", listed(&rps))
    } else {
        format!(
            "{} % of the baseline's peak, which its scout measures for {} s",
            listed(&percents),
            sweep.peak_seconds
        )
    };
    format!(
        "open loop: {} s per trial after {} discarded seconds, over {} connections, at {rates}",
        sweep.duration_seconds, sweep.warmup_seconds, sweep.connections
    )
}

/// `rungs` are the stated rates; empty where they follow from the peak.
fn capacity(sweep: &OpenLoop, p99: &str, rungs: &str) -> String {
    let rungs = if rungs.is_empty() {
        format!(
            "eight rates from 0.3 to 1.3 of the baseline's peak, which its scout measures for {} s",
            sweep.peak_seconds
        )
    } else {
        format!("{rungs} requests/s")
    };
    format!(
        "capacity: the highest rate with p99 <= {p99} from the schedule, over {} connections; a trial climbs {rungs}, after {} \
         discarded seconds, with {} s or 1000 requests at each, until two in a row miss the target; then what lies next to \
         the crossing is halved up to {BETWEEN} times",
        sweep.connections, sweep.warmup_seconds, sweep.duration_seconds
    )
}

fn payload(sweep: &Payload) -> String {
    let sizes: Vec<String> = sweep.sizes().iter().map(u32::to_string).collect();
    format!(
        "payload: POST {} with bodies of {} bytes that are sent back, over {} connections, in one pod; {} s with each after \
         {} discarded seconds",
        sweep.path,
        sizes.join(", "),
        sweep.connections,
        sweep.duration_seconds,
        sweep.warmup_seconds
    )
}

fn density(sweep: &Density) -> String {
    let steps: Vec<String> = sweep.ladder().iter().map(u32::to_string).collect();
    format!(
        "density: {} instances at once, {} requests to the first at each step; stops below {} % of \
         available memory or when a step takes more than {} s",
        steps.join(", "),
        sweep.requests,
        sweep.stop.available_memory_percent,
        sweep.stop.timeout_seconds
    )
}
