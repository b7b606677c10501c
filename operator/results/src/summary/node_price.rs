//! The cost of a node's CPU time and memory, from the price of the whole node. Pure.

use serde::Serialize;

/// Hours per month, as clouds bill them: a twelfth of a year.
pub const HOURS_PER_MONTH: f64 = 730.0;
const SECONDS_PER_HOUR: f64 = 3600.0;

/// A node and its price, in any currency. All numbers are above 0.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodePrice {
    /// Price per hour.
    pub per_hour: f64,
    /// CPUs that pods may use.
    pub vcpus: f64,
    /// Memory that pods may use, in bytes.
    pub memory_bytes: f64,
    /// Share (0 to 1) of the CPU time that does work; the rest is paid for but idle.
    pub cpu_utilisation: f64,
}

impl NodePrice {
    /// The cost of a million requests that take this much CPU time each, if the whole price is paid
    /// for CPU time.
    pub fn of_million_requests(&self, cpu_microseconds_per_request: f64) -> f64 {
        // A million requests take as many seconds as one takes microseconds.
        let seconds = cpu_microseconds_per_request;
        let sold_per_hour = self.vcpus * self.cpu_utilisation * SECONDS_PER_HOUR;
        self.per_hour * seconds / sold_per_hour
    }

    /// The cost of a month with so many requests per second that take this much CPU time each.
    pub fn of_rate_month(&self, cpu_microseconds_per_request: f64, rate: f64) -> f64 {
        let millions = rate * SECONDS_PER_HOUR * HOURS_PER_MONTH / 1e6;
        millions * self.of_million_requests(cpu_microseconds_per_request)
    }

    /// The cost of an instance of this many bytes per month, if the whole price is paid for memory.
    pub fn of_instance_month(&self, bytes: f64) -> f64 {
        self.per_hour * HOURS_PER_MONTH * bytes / self.memory_bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
    }

    /// Prices from a thousandth to a thousand, nodes of all sizes.
    fn prices() -> impl Strategy<Value = NodePrice> {
        (1e-3..1e3, 0.5..256.0, 1e8..1e13, 0.01..=1.0).prop_map(
            |(per_hour, vcpus, memory_bytes, cpu_utilisation)| NodePrice {
                per_hour,
                vcpus,
                memory_bytes,
                cpu_utilisation,
            },
        )
    }

    /// Computed by hand: 43.9 s out of the 14,400 s of CPU time that 0.10 buys.
    #[test]
    fn a_million_requests_cost_their_share_of_the_cpu_time_that_an_hour_buys() {
        let node = NodePrice {
            per_hour: 0.10,
            vcpus: 4.0,
            memory_bytes: 16.0 * f64::from(1 << 30),
            cpu_utilisation: 1.0,
        };
        assert!(close(node.of_million_requests(43.9), 0.1 * 43.9 / 14_400.0));
        // 1,314 million requests.
        let month = node.of_rate_month(43.9, 500.0);
        assert!(close(month, 1314.0 * node.of_million_requests(43.9)));
        // A sixteenth of the memory for a month.
        assert!(close(
            node.of_instance_month(f64::from(1 << 30)),
            73.0 / 16.0
        ));
    }

    proptest! {
        #[test]
        fn costs_are_proportional_to_the_price(
            node in prices(), factor in 1e-3..1e3, measured in 0.0..1e9
        ) {
            let dearer = NodePrice { per_hour: node.per_hour * factor, ..node };
            prop_assert!(close(
                dearer.of_million_requests(measured),
                factor * node.of_million_requests(measured)
            ));
            prop_assert!(close(
                dearer.of_instance_month(measured),
                factor * node.of_instance_month(measured)
            ));
        }

        #[test]
        fn costs_are_numbers_and_never_negative(node in prices(), measured in 0.0..1e12) {
            for cost in [node.of_million_requests(measured), node.of_instance_month(measured)] {
                prop_assert!(cost.is_finite() && cost >= 0.0, "{cost}");
            }
        }

        #[test]
        fn a_node_that_is_full_costs_its_price(node in prices(), cpu in 1e-3..1e6, bytes in 1.0..1e12) {
            let seconds = node.vcpus * node.cpu_utilisation * SECONDS_PER_HOUR;
            let millions = seconds / cpu;
            prop_assert!(close(millions * node.of_million_requests(cpu), node.per_hour));
            let instances = node.memory_bytes / bytes;
            let month = node.per_hour * HOURS_PER_MONTH;
            prop_assert!(close(instances * node.of_instance_month(bytes), month));
        }

        #[test]
        fn half_the_utilisation_doubles_the_cost_of_a_request_not_of_an_instance(
            node in prices(), measured in 1e-3..1e9
        ) {
            let idler = NodePrice { cpu_utilisation: node.cpu_utilisation / 2.0, ..node };
            prop_assert!(close(
                idler.of_million_requests(measured),
                2.0 * node.of_million_requests(measured)
            ));
            prop_assert!(close(
                idler.of_instance_month(measured),
                node.of_instance_month(measured)
            ));
        }
    }
}
