//! The arguments of `cost`: a node and its price.

use std::path::PathBuf;

use clap::Args;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::run::share_of;
use wasmbench_results::summary::node_price::{HOURS_PER_MONTH, NodePrice};

use crate::args::shown::Shown;

/// Arguments of `cost`.
#[derive(Args, Debug)]
#[command(after_help = "\
CPUs and memory are those that pods may use of the run's node, unless you give them.\n\n\
Costs follow from CPU per request and from memory per instance (sweep density, else the pod's memory under load), and from \
nothing else: no traffic, disks or licences. The currency is that of the price.\n\n\
Exit code: 0 the run's numbers are trustworthy; 1 nothing has a cost, or something went wrong; 3 the numbers are not trustworthy.")]
pub struct CostArgs {
    /// Name of the run
    pub name: String,
    /// Price of a node with its unit: 0.10/h, 73/month or $0.10/h
    #[arg(long, value_name = "PRICE", value_parser = price_per_hour)]
    pub node_price: f64,
    /// CPUs of the node that pods may use, such as 4 or 3920m. Default: the allocatable ones of the run's node
    #[arg(long, value_name = "CPUS", value_parser = amount)]
    pub vcpus: Option<f64>,
    /// Memory of the node that pods may use, such as 16Gi. Default: the allocatable one of the run's node
    #[arg(long, value_name = "BYTES", value_parser = amount)]
    pub memory: Option<f64>,
    /// Requests per second: also show what so many cost in a month, and what a variant saves
    #[arg(long, value_name = "NUMBER", value_parser = rate)]
    pub rate: Option<f64>,
    /// Share of the node's CPU time that does work: what you dare to use of it under your load
    #[arg(long, value_name = "PERCENT", default_value = "100%", value_parser = utilisation)]
    pub utilisation: f64,
    /// Read run and records from the .json and .yaml files of this directory, not from a cluster
    #[arg(long, value_name = "DIR")]
    pub records_from: Option<PathBuf>,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Shown::Table)]
    pub output: Shown,
}

impl CostArgs {
    /// The node and its price, with so many CPUs and bytes of memory.
    pub fn node(&self, vcpus: f64, memory_bytes: f64) -> NodePrice {
        NodePrice {
            per_hour: self.node_price,
            vcpus,
            memory_bytes,
            cpu_utilisation: self.utilisation,
        }
    }
}

/// Parses a price with its unit into a price per hour.
pub fn price_per_hour(text: &str) -> Result<f64, String> {
    let wrong = || {
        format!(
            "'{text}' is no price of a node: write it with its unit, such as 0.10/h or 73/month"
        )
    };
    let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
    let number: f64 = without_currency(number).parse().map_err(|_| wrong())?;
    let per_hour = match unit {
        "h" | "hour" => number,
        "month" => number / HOURS_PER_MONTH,
        _ => return Err(wrong()),
    };
    if per_hour.is_normal() && per_hour > 0.0 {
        Ok(per_hour)
    } else {
        Err(wrong())
    }
}

/// The number of `$0.10` or `EUR 0.10`: whatever the currency, it is that of the costs, too.
fn without_currency(text: &str) -> &str {
    let bare = text.trim_start_matches(['$', '\u{20ac}', '\u{a3}', '\u{a5}']);
    let is_code = |code: &&str| code.chars().all(|c| c.is_ascii_uppercase());
    let code = bare.get(..3).filter(is_code);
    code.map_or(bare, |code| &bare[code.len()..]).trim_start()
}

/// Parses a number of requests per second above 0.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok();
    let rate = rate.filter(|rate| rate.is_normal() && *rate > 0.0);
    rate.ok_or_else(|| {
        format!("'{text}' is no number of requests per second above 0: write it like 500")
    })
}

/// Parses an amount of CPU or memory above 0, in CPUs or bytes.
pub fn amount(text: &str) -> Result<f64, String> {
    let thousandths = thousandths(text).filter(|amount| *amount > 0);
    let amount = thousandths.map(|amount| amount as f64 / 1000.0);
    amount.ok_or_else(|| {
        format!(
            "'{text}' is no amount above 0: write it as Kubernetes does, such as 4, 3920m or 16Gi"
        )
    })
}

/// Parses a share of CPU time above 0.
pub fn utilisation(text: &str) -> Result<f64, String> {
    let share = share_of(text).filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| {
        format!(
            "'{text}' is no share of the CPU time: write it like 60%, above 0% and at most 100%"
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
    }

    #[test]
    fn a_price_has_a_unit_and_a_month_has_730_hours() {
        assert!(close(price_per_hour("0.10/h").unwrap(), 0.1));
        assert!(close(price_per_hour("73/month").unwrap(), 0.1));
        for same in ["$0.10/h", "EUR 0.10/h", "USD0.10/hour", "\u{20ac}0.10/h"] {
            assert!(close(price_per_hour(same).unwrap(), 0.1), "{same}");
        }
        for wrong in [
            "0.10", "0.10/day", "/h", "-1/h", "0/h", "nan/h", "inf/h", "NaN/h", "$/h", "",
        ] {
            let message = price_per_hour(wrong).unwrap_err();
            assert!(message.contains("such as 0.10/h"), "{wrong}: {message}");
        }
    }

    #[test]
    fn amounts_are_those_of_kubernetes_and_above_0() {
        assert!(close(amount("3920m").unwrap(), 3.92));
        assert!(close(amount("16Gi").unwrap(), 17_179_869_184.0));
        for wrong in ["0", "-4", "16GiB", "", "four"] {
            assert!(amount(wrong).unwrap_err().contains("16Gi"), "{wrong}");
        }
    }

    #[test]
    fn a_rate_is_a_number_above_0() {
        assert!(close(rate("500").unwrap(), 500.0));
        for wrong in ["0", "-1", "nan", "500/s", ""] {
            assert!(rate(wrong).unwrap_err().contains("like 500"), "{wrong}");
        }
    }

    #[test]
    fn a_utilisation_is_a_percentage_above_0() {
        assert!(close(utilisation("60%").unwrap(), 0.6));
        for wrong in ["0%", "101%", "-5%", "0.6", "nan%"] {
            assert!(utilisation(wrong).unwrap_err().contains("60%"), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_input_is_a_usable_number_or_refused(text in "\\PC{0,12}(/h|/month|%|Gi|m)?") {
            let numbers = [price_per_hour(&text), amount(&text), utilisation(&text), rate(&text)];
            for number in numbers.into_iter().flatten() {
                prop_assert!(number.is_finite() && number > 0.0, "{text}: {number}");
            }
        }
    }
}
