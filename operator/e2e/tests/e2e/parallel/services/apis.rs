//! APIs in Go, Node.js and Python, as containers of one run. They ask a database for each request, which is its
//! companion.

use std::collections::BTreeMap;

use kube::Client;
use serde_json::{Value, json};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::with_own_node;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::plain_load::{self, Figures, Place};
use wasmbench_e2e::runs;

use super::{assert_confirmed, assert_statuses, found, limits, spec};

/// The body of an order.
const ORDER: &str = r#"{"item": 7, "pieces": 3}"#;
/// The database's name.
const DATABASE: &str = "database";

/// An API: its name, its image, and its command.
const APIS: [(&str, &str, &str); 6] = [
    ("go", "service-go", "/app/shop"),
    ("express", "service-node", "/usr/bin/node /app/server.js"),
    (
        "express-cluster",
        "service-node",
        "/usr/bin/node /app/server.js 2",
    ),
    (
        "gunicorn-sync",
        "service-python",
        "/usr/bin/python3 -m gunicorn --bind=0.0.0.0:8080 --worker-tmp-dir=/dev/shm --chdir=/app \
         --workers=2 --worker-class=sync api:app",
    ),
    (
        "gunicorn-gthread",
        "service-python",
        "/usr/bin/python3 -m gunicorn --bind=0.0.0.0:8080 --worker-tmp-dir=/dev/shm --chdir=/app \
         --workers=2 --worker-class=gthread --threads=4 api:app",
    ),
    (
        "uvicorn",
        "service-python",
        "/usr/bin/python3 -m uvicorn --host=0.0.0.0 --port=8080 --app-dir=/app --lifespan=on asgi:app",
    ),
];

/// The containers of the APIs by name, which ask the database at this address.
async fn containers(client: &Client, database: &str) -> BTreeMap<&'static str, Value> {
    let url = format!("postgres://shop@{database}:5432/postgres?sslmode=disable");
    let mut containers = BTreeMap::new();
    for (name, image, command) in APIS {
        let container = json!({
            "image": test_image(client, image).await,
            "command": command.split(' ').collect::<Vec<_>>(),
            "env": [{ "name": "DATABASE_URL", "value": url }],
        });
        containers.insert(name, container);
    }
    containers
}

/// Adds what the plain client finds of each API.
async fn load_each(
    client: &Client,
    place: Place<'_>,
    containers: &BTreeMap<&'static str, Value>,
    plain: &mut BTreeMap<&'static str, Vec<Figures>>,
) {
    let request = ["-path=/orders", "-status=201", &format!("-body={ORDER}")].map(str::to_owned);
    for (name, container) in containers {
        let mut container = container.clone();
        container["resources"] = limits();
        let address = plain_load::start(client, place, name, &container).await;
        let address = format!("{address}:8080");
        let figures = plain_load::load(client, place, &address, &request).await;
        plain.entry(*name).or_default().push(figures);
        plain_load::remove(client, place, name).await;
    }
}

async fn measure_apis(client: &Client, place: Place<'_>) {
    let database = json!({
        "image": test_image(client, "service-postgres").await,
        "command": ["/usr/bin/sh", "/app/start"],
        "readinessProbe": { "tcpSocket": { "port": 5432 }, "periodSeconds": 1 },
    });
    let address = plain_load::start(client, place, DATABASE, &database).await;
    let containers = containers(client, &address).await;
    let variant = |(name, container): (&&str, &Value)| {
        let mut container = container.clone();
        container["ready"] = json!({ "path": "/health" });
        json!({ "name": name, "container": container })
    };
    let variants: Vec<Value> = containers.iter().map(variant).collect();
    let order = json!({
        "name": "order", "method": "POST", "path": "/orders", "body": ORDER,
        "headers": [{ "name": "Content-Type", "value": "application/json" }],
        "expect": {
            "status": 201, "contentType": "application/json", "json": { "/name": "item 7", "/total": 2100 },
            "sameAcrossVariants": true,
        },
    });
    let mut spec = spec(place.node, &variants, &order);
    spec["resources"] = limits();
    spec["companions"] = json!({ "matchLabels": { "app": DATABASE } });
    let mut plain = BTreeMap::new();
    load_each(client, place, &containers, &mut plain).await;
    let spec = spec.to_string();
    // Two sweeps in two blocks.
    let trials = 4 * APIS.len();
    let (run, records) =
        runs::measured(client, place.namespace, ("apis", &spec), 600, trials).await;
    load_each(client, place, &containers, &mut plain).await;
    for record in &records {
        assert_statuses(record, "201");
        let timed = record.load().and_then(|load| load.timed.as_ref());
        let companions = timed.and_then(|timed| timed.companions_cpu_nanoseconds);
        assert!(companions.is_some_and(|time| time > 0), "{}", record.trial);
    }
    for (name, plain) in &plain {
        assert_confirmed(name, found(&run, name), plain);
    }
}

#[tokio::test]
#[ignore = "compares figures, and needs images of services: make test-systems"]
async fn apis_with_a_database_are_as_fast_as_a_plain_client_finds_them() {
    with_namespace("apis", |client, namespace| async move {
        with_own_node(&client, async |node| {
            let place = Place {
                namespace: &namespace,
                node: &node,
            };
            measure_apis(&client, place).await;
        })
        .await;
    })
    .await;
}
