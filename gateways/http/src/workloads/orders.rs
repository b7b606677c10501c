//! The work of a typical service: parse a document, sum it up, serialise the result.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Prices of items are below this many cents.
const PRICES: u64 = 10_000;
/// Customers that place the orders.
const CUSTOMERS: u64 = 17;

#[derive(Serialize, Deserialize)]
struct Order {
    id: u64,
    customer: String,
    express: bool,
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize)]
struct Item {
    name: String,
    cents: u64,
    count: u64,
}

/// What a customer owes.
#[derive(Serialize, Default)]
struct Account {
    orders: u64,
    cents: u64,
    express: bool,
}

/// A document of `count` orders, the same each time.
pub(super) fn document(count: u32) -> Vec<u8> {
    let mut state = 1;
    let orders: Vec<Order> = (1..=u64::from(count))
        .map(|id| Order {
            id,
            customer: format!("customer-{}", next(&mut state) % CUSTOMERS),
            express: next(&mut state).is_multiple_of(4),
            items: (0..=next(&mut state) % 3)
                .map(|_| Item {
                    name: format!("article-{}", next(&mut state) % 1000),
                    cents: next(&mut state) % PRICES,
                    count: 1 + next(&mut state) % 5,
                })
                .collect(),
        })
        .collect();
    // Writing to memory does not fail.
    serde_json::to_vec(&orders).unwrap_or_default()
}

/// Parses `document`, sums up each customer's orders, and appends the accounts to `body`.
pub(super) fn accounts(document: &[u8], body: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let orders: Vec<Order> = serde_json::from_slice(document)?;
    let mut accounts: BTreeMap<&str, Account> = BTreeMap::new();
    for order in &orders {
        let account = accounts.entry(&order.customer).or_default();
        account.orders += 1;
        account.express |= order.express;
        account.cents += order
            .items
            .iter()
            .map(|item| item.cents * item.count)
            .sum::<u64>();
    }
    serde_json::to_writer(body, &accounts)
}

/// The next number of a linear congruential generator: the same on every platform.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_hold_what_the_orders_cost() {
        let document = br#"[
            {"id": 1, "customer": "a", "express": false, "items": [{"name": "x", "cents": 250, "count": 2}]},
            {"id": 2, "customer": "b", "express": false, "items": []},
            {"id": 3, "customer": "a", "express": true, "items": [{"name": "y", "cents": 1, "count": 3}]}
        ]"#;
        let mut body = Vec::new();
        accounts(document, &mut body).unwrap();
        let expected = r#"{"a":{"orders":2,"cents":503,"express":true},"b":{"orders":1,"cents":0,"express":false}}"#;
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }

    #[test]
    fn the_document_is_always_the_same_and_has_the_requested_length() {
        let orders: Vec<Order> = serde_json::from_slice(&document(100)).unwrap();
        assert_eq!(orders.len(), 100);
        assert_eq!(document(100), document(100));
        assert_eq!(document(0), b"[]");
    }
}
