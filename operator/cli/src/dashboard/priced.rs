//! A node and its price, and a rate, as they are written into a form. The fields are those of
//! `kubectl wasmbench cost`.

use serde::Deserialize;
use wasmbench_model::noise;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::node_price::NodePrice;

use crate::args::cost::{amount, price_per_hour, rate, utilisation};

/// The form, as the browser sends it.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Priced {
    /// Price with its unit.
    pub price: String,
    /// CPUs that pods may use.
    pub vcpus: String,
    /// Memory that pods may use.
    pub memory: String,
    /// Share of the CPU time that does work.
    pub utilisation: String,
    /// Requests per second; may be empty.
    pub rate: String,
}

impl Priced {
    /// The node, or what is wrong with a field.
    pub fn node(&self) -> Result<NodePrice, String> {
        Ok(NodePrice {
            per_hour: price_per_hour(self.price.trim())?,
            vcpus: amount(self.vcpus.trim())?,
            memory_bytes: amount(self.memory.trim())?,
            cpu_utilisation: utilisation(self.utilisation.trim())?,
        })
    }

    /// Requests per second, if a rate was given, or what is wrong with it.
    pub fn requests_per_second(&self) -> Result<Option<f64>, String> {
        let given = self.rate.trim();
        (!given.is_empty()).then(|| rate(given)).transpose()
    }

    /// The form as it was sent; what is empty is that of the node which the run measured.
    pub fn or_from(&self, summary: &Summary) -> Self {
        let fact = |name: &str| summary.environment.facts.get(name);
        let cpus = fact("cpus").and_then(|list| noise::cpus(list));
        let bytes = fact("memoryBytes").and_then(|bytes| bytes.parse::<u64>().ok());
        let or = |given: &String, known: Option<String>| {
            let known = known.filter(|_| given.trim().is_empty());
            known.unwrap_or_else(|| given.clone())
        };
        Self {
            price: self.price.clone(),
            vcpus: or(&self.vcpus, cpus.map(|cpus| cpus.to_string())),
            memory: or(
                &self.memory,
                bytes.map(|bytes| format!("{}Mi", bytes >> 20)),
            ),
            utilisation: or(&self.utilisation, Some("100%".to_owned())),
            rate: self.rate.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_a_node_or_says_what_is_wrong() {
        let text = str::to_owned;
        let whole = Priced {
            price: text(" 0.10/h"),
            vcpus: text("3920m"),
            memory: text("13Gi"),
            utilisation: text("60%"),
            rate: String::new(),
        };
        assert!((whole.node().unwrap().vcpus - 3.92).abs() < 1e-9);
        assert_eq!(whole.requests_per_second(), Ok(None));
        let broken = Priced {
            price: text("a lot"),
            rate: text("many"),
            ..whole
        };
        assert!(broken.node().unwrap_err().contains("such as 0.10/h"));
        assert!(broken.requests_per_second().is_err());
    }
}
