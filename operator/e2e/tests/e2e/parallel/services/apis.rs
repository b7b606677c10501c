//! APIs in Go, Node.js and Python, as containers of a run each. They ask a database for each request, which is its
//! companion.

use kube::Client;
use serde_json::{Value, json};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::with_own_node;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::plain_load::{self, Figures, Place};
use wasmbench_e2e::runs;

use super::{assert_statuses, found, limits, spec, unconfirmed};

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

/// The container of an API, which asks the database at this address.
async fn container(client: &Client, (image, command): (&str, &str), database: &str) -> Value {
    json!({
        "image": test_image(client, image).await,
        "command": command.split(' ').collect::<Vec<_>>(),
        "env": [{
            "name": "DATABASE_URL",
            "value": format!("postgres://shop@{database}:5432/postgres?sslmode=disable"),
        }],
    })
}

/// What the plain client finds of an API that nothing but the test runs.
async fn load_plainly(client: &Client, place: Place<'_>, name: &str, container: &Value) -> Figures {
    let mut container = container.clone();
    container["resources"] = limits();
    let address = plain_load::start(client, place, name, &container).await;
    let address = format!("{address}:8080");
    let request = ["-path=/orders", "-status=201", &format!("-body={ORDER}")].map(str::to_owned);
    let figures = plain_load::load(client, place, &address, &request).await;
    plain_load::remove(client, place, name).await;
    figures
}

/// The run of an API.
fn spec_of(node: &str, name: &str, container: &Value) -> Value {
    let mut container = container.clone();
    container["ready"] = json!({ "path": "/health" });
    let variant = json!({ "name": name, "container": container });
    let order = json!({
        "name": "order", "method": "POST", "path": "/orders", "body": ORDER,
        "headers": [{ "name": "Content-Type", "value": "application/json" }],
        "expect": {
            "status": 201, "contentType": "application/json", "json": { "/name": "item 7", "/total": 2100 },
        },
    });
    let mut spec = spec(node, &variant, &order, 2_000);
    spec["resources"] = limits();
    spec["companions"] = json!({ "matchLabels": { "app": DATABASE } });
    spec
}

/// Measures the API between two loads of the plain client, and says what they do not confirm.
async fn measure_api(
    client: &Client,
    place: Place<'_>,
    name: &str,
    container: &Value,
) -> Vec<String> {
    let spec = spec_of(place.node, name, container).to_string();
    let before = load_plainly(client, place, name, container).await;
    // Two sweeps in two blocks.
    let (run, records) = runs::measured(client, place.namespace, (name, &spec), 300, 4).await;
    let after = load_plainly(client, place, name, container).await;
    for record in &records {
        assert_statuses(record, "201");
        let timed = record.load().and_then(|load| load.timed.as_ref());
        let companions = timed.and_then(|timed| timed.companions_cpu_nanoseconds);
        assert!(companions.is_some_and(|time| time > 0), "{}", record.trial);
    }
    unconfirmed(name, found(&run, name), &[before, after])
}

async fn measure_apis(client: &Client, place: Place<'_>) {
    let database = json!({
        "image": test_image(client, "service-postgres").await,
        "command": ["/usr/bin/sh", "/app/start"],
        "readinessProbe": { "tcpSocket": { "port": 5432 }, "periodSeconds": 1 },
    });
    let address = plain_load::start(client, place, DATABASE, &database).await;
    let mut apart = Vec::new();
    for (name, image, command) in APIS {
        let container = container(client, (image, command), &address).await;
        apart.append(&mut measure_api(client, place, name, &container).await);
    }
    assert_eq!(apart, Vec::<String>::new());
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
