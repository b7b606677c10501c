//! What a request costs the gateways, compared with each other and with an established server, on
//! the loopback. Measures their CPU time rather than their rate, which depends mostly on the load
//! generator. Ratios are within rounds; each server runs once per round, and they take turns going
//! first. Run only by `make bench`.

use wasmbench_e2e::others::{Gateway, Task};
use wasmbench_e2e::selftest::at_most;

/// Number of rounds; it is odd, so that the median is one of them.
const ROUNDS: usize = 9;

/// CPU time per request of a fresh server, in microseconds.
fn cost(start: &dyn Fn() -> Gateway, connections: u32) -> f64 {
    let gateway = start();
    let task = Task {
        path: "/",
        connections,
        seconds: 3,
        warmup_seconds: 1,
        generator_cpu: None,
    };
    task.cpu_per_request(&gateway)
}

/// For each server, the median over rounds of the ratio of its cost to that of the first server in
/// the same round.
fn ratios(servers: &[&dyn Fn() -> Gateway], connections: u32) -> Vec<f64> {
    let mut of_servers = vec![Vec::with_capacity(ROUNDS); servers.len()];
    for round in 0..ROUNDS {
        let mut costs = vec![0.0; servers.len()];
        for turn in 0..servers.len() {
            let server = (round + turn) % servers.len();
            costs[server] = cost(servers[server], connections);
        }
        for (ratios, cost) in of_servers.iter_mut().zip(&costs) {
            ratios.push(cost / costs[0]);
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
    assert!(at_most("native-vs-nginx-cpu-c1", found[1], "ratio", 1.1));
}

#[test]
#[ignore = "a benchmark: make bench"]
fn the_embedded_gateway_keeps_up_with_native_at_100_connections() {
    let pooling = || Gateway::embedded(&["--engine-allocator=Pooling"]);
    let on_demand = || Gateway::embedded(&["--engine-allocator=OnDemand"]);
    let found = ratios(&[&Gateway::start, &pooling, &on_demand], 100);
    // A bound that guards against growing costs. In pods (pods.rs) a request costs more, so an
    // instance per request weighs less (docs/embedded.md).
    let keeps = at_most(
        "embedded-pooling-vs-native-cpu-c100-on-loopback",
        found[1],
        "ratio",
        2.0,
    );
    // Shown for comparison, without a bound.
    at_most(
        "embedded-on-demand-vs-native-cpu-c100-on-loopback",
        found[2],
        "ratio",
        f64::INFINITY,
    );
    assert!(keeps);
}
