//! How fast the gateways are beside each other and beside a server of the field, on the loopback.
//! Ratios within rounds, each server once per round, in turn the first one; runs by `make bench` alone.

use wasmbench_e2e::others::{Gateway, Task};
use wasmbench_e2e::selftest::at_least;

/// Rounds; the median of an odd number of them is one of them.
const ROUNDS: usize = 9;

/// Requests per second of a fresh server.
fn rate(start: &dyn Fn() -> Gateway, connections: u32) -> f64 {
    let gateway = start();
    let task = Task {
        path: "/",
        connections,
        seconds: 3,
        warmup_seconds: 1,
        generator_cpu: None,
    };
    let load = task.by_probe(&gateway);
    assert_eq!(load.failed, 0, "an answer that fails is a cheap one");
    load.succeeded as f64 / load.seconds
}

/// The median over rounds of each server's rate as a ratio to the first one's of the same round.
fn ratios(servers: &[&dyn Fn() -> Gateway], connections: u32) -> Vec<f64> {
    let mut of_servers = vec![Vec::with_capacity(ROUNDS); servers.len()];
    for round in 0..ROUNDS {
        let mut rates = vec![0.0; servers.len()];
        for turn in 0..servers.len() {
            let server = (round + turn) % servers.len();
            rates[server] = rate(servers[server], connections);
        }
        for (ratios, rate) in of_servers.iter_mut().zip(&rates) {
            ratios.push(rate / rates[0]);
        }
    }
    let median = |mut ratios: Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios[ROUNDS / 2]
    };
    of_servers.into_iter().map(median).collect()
}

#[test]
#[ignore = "a benchmark: make bench"]
fn the_native_gateway_keeps_up_with_nginx_at_one_connection() {
    let found = ratios(&[&Gateway::nginx, &Gateway::start], 1);
    assert!(at_least("native-vs-nginx-rps-c1", found[1], "ratio", 0.9));
}

#[test]
#[ignore = "a benchmark: make bench"]
fn the_embedded_gateway_keeps_up_with_native_at_100_connections() {
    let pooling = || Gateway::embedded(&["--engine-allocator=Pooling"]);
    let on_demand = || Gateway::embedded(&["--engine-allocator=OnDemand"]);
    let found = ratios(&[&Gateway::start, &pooling, &on_demand], 100);
    // A bound against getting slower. Where services run, in pods, 0.8 is asked (pods.rs): a request costs
    // more there, so that an instance per request weighs less (docs/embedded.md).
    let keeps = at_least(
        "embedded-pooling-vs-native-rps-c100-on-loopback",
        found[1],
        "ratio",
        0.65,
    );
    // Shown beside it; nothing is asked of it.
    at_least(
        "embedded-on-demand-vs-native-rps-c100-on-loopback",
        found[2],
        "ratio",
        0.0,
    );
    assert!(keeps);
}
