//! Services as people run them, measured from end to end: APIs in Go, Node.js and Python that ask a database for each
//! request, as containers; nginx and Django with a Secret, an init container and a sidecar, as Deployments. What a
//! run finds, a plain client finds, too.

use std::collections::BTreeMap;

use kube::Client;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::operator::{image, test_image};
use wasmbench_e2e::plain_load::{self, CONNECTIONS, Figures, Place, SECONDS};
use wasmbench_e2e::runs;
use wasmbench_e2e::scale::{self, Service, unique};
use wasmbench_model::wire::record::Record;

/// How far the figures may be apart.
const APART: f64 = 0.15;
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

/// Half a CPU, so that a rate is that of the service, whatever the client costs.
fn limits() -> Value {
    json!({ "limits": { "cpu": "500m", "memory": "512Mi" } })
}

/// A run of these variants under one workload.
fn spec(node: &str, variants: &[Value], workload: &Value) -> Value {
    let placed: Value = serde_yaml::from_str(&placement(node)).expect("YAML");
    json!({
        "blocks": 2,
        "seed": 1,
        "noiseFloor": false,
        "placement": placed["placement"],
        "variants": variants,
        "workloads": [workload],
        "sweeps": {
            "warmLatency": { "requests": 1000 },
            "throughput": { "connections": [CONNECTIONS], "durationSeconds": SECONDS, "warmupSeconds": 1 },
        },
    })
}

/// What the run found of a variant.
fn found(run: &BenchmarkRun, variant: &str) -> Figures {
    let rows = &run.status.as_ref().expect("a status").summary;
    let row = rows.iter().find(|row| row.variant == variant);
    let row = row.expect("a row");
    let load = row.throughput.as_ref().expect("a load");
    let latency = row.warm_latency.as_ref().expect("a latency");
    Figures {
        per_second: load.points[0].rps,
        p50_microseconds: latency.p50_microseconds,
    }
}

/// The run's figure is not far from those of the plain client before and after it: a machine's speed changes within
/// minutes.
fn assert_confirmed(variant: &str, run: Figures, plain: &[Figures]) {
    println!("services: {variant}: {run:?}; a plain client: {plain:?}");
    let kinds: [(&str, fn(&Figures) -> f64); 2] = [
        ("requests/s", |figures| figures.per_second),
        ("p50 in us", |figures| figures.p50_microseconds),
    ];
    for (what, figure) in kinds {
        let all: Vec<f64> = plain.iter().map(figure).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        let expected = (1.0 - APART) * low..=(1.0 + APART) * high;
        assert!(
            expected.contains(&figure(&run)),
            "{variant}: {what}: {run:?}, compared with {plain:?}"
        );
    }
}

/// Every answer had this status.
fn assert_statuses(record: &Record, expected: &str) {
    let timed = record.load().and_then(|load| load.timed.as_ref());
    for part in timed.expect("a window").runs() {
        let codes = part["RetCodes"].as_object().expect("statuses");
        let codes: Vec<&str> = codes.keys().map(String::as_str).collect();
        assert_eq!(codes, [expected], "{}", record.trial);
    }
}

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

/// A page that a Deployment serves.
struct Page {
    name: &'static str,
    image: &'static str,
    port: u16,
    user: u32,
    /// The variable with the Secret's value.
    secret: &'static str,
    /// The folder that the init container fills.
    folder: &'static str,
    first: &'static [&'static str],
    command: &'static [&'static str],
    /// What the page begins with.
    begin: &'static str,
}

/// The only host that the Django accepts.
const HOST: &str = "shop.example.com";

const PAGES: [Page; 2] = [
    Page {
        name: "nginx",
        image: "service-nginx",
        port: 80,
        user: 0,
        secret: "PASSWORD",
        folder: "/var/www/html",
        first: &[
            "/usr/bin/sh",
            "-c",
            r#"echo "$PASSWORD" >/var/www/html/index.html"#,
        ],
        command: &["/usr/sbin/nginx", "-g", "daemon off;"],
        begin: "open sesame",
    },
    Page {
        name: "django",
        image: "service-python",
        port: 8080,
        user: 65532,
        secret: "SECRET_KEY",
        folder: "/data",
        first: &["/usr/bin/python3", "/app/shop.py"],
        command: &[
            "/usr/bin/python3",
            "-m",
            "gunicorn",
            "--bind=0.0.0.0:8080",
            "--worker-tmp-dir=/dev/shm",
            "--chdir=/app",
            "--worker-class=gthread",
            "--threads=4",
            "shop:application",
        ],
        begin: "item 7:",
    },
];

/// The Deployment of a page, which its owner offers.
async fn offered(client: &Client, node: &str, page: &Page) -> Service {
    let name = unique(page.name);
    let from = json!({ "secretKeyRef": { "name": name, "key": "password" } });
    let service = json!({
        "image": test_image(client, page.image).await,
        "env": [{ "name": page.secret, "valueFrom": from }],
        "volumeMounts": [{ "name": "filled", "mountPath": page.folder }],
        "securityContext": { "runAsUser": page.user, "runAsGroup": page.user },
    });
    let (mut first, mut main) = (service.clone(), service);
    first["name"] = json!("first");
    first["command"] = json!(page.first);
    main["name"] = json!("main");
    main["command"] = json!(page.command);
    main["resources"] = limits();
    let ready = json!({ "path": "/", "port": page.port, "httpHeaders": [{ "name": "Host", "value": HOST }] });
    main["readinessProbe"] = json!({ "httpGet": ready });
    let pod = json!({
        "nodeSelector": { "kubernetes.io/hostname": node },
        "tolerations": [{ "operator": "Exists" }],
        "terminationGracePeriodSeconds": 1,
        "volumes": [{ "name": "filled", "emptyDir": {} }],
        "initContainers": [first],
        "containers": [
            main,
            { "name": "sidecar", "image": image(client, "native").await, "args": ["--listen", "0.0.0.0:8081"] },
        ],
    });
    let annotations = json!({ "wasmbench.dev/offered": "true" });
    Service::with_pod(client, name, (&annotations, 0), &pod).await
}

/// What the plain client finds while the owner runs the Deployment.
async fn run_by_its_owner(client: &Client, node: &str, service: &Service, page: &Page) -> Figures {
    let place = Place {
        namespace: scale::NAMESPACE,
        node,
    };
    service.patch(json!({ "spec": { "replicas": 1 } })).await;
    service.runs().await;
    let pods = service.pods().await;
    let address = pods
        .iter()
        .find_map(|pod| pod.status.as_ref()?.pod_ip.clone());
    let address = format!("{}:{}", address.expect("an address"), page.port);
    let request = [format!("-host={HOST}")];
    let figures = plain_load::load(client, place, &address, &request).await;
    service.patch(json!({ "spec": { "replicas": 0 } })).await;
    service.is_at_rest().await;
    figures
}

async fn measure_page(client: &Client, node: &str, page: &Page) {
    let service = offered(client, node, page).await;
    let name = service.name.as_str();
    let variant = json!({
        "name": page.name, "scale": { "resource": "deployments", "name": name, "port": page.port },
    });
    let workload = json!({
        "name": "page", "path": "/", "headers": [{ "name": "Host", "value": HOST }],
        "expect": { "status": 200, "bodyPrefix": page.begin },
    });
    let spec = spec(node, &[variant], &workload).to_string();
    let before = run_by_its_owner(client, node, &service, page).await;
    let (run, records) = runs::measured(client, scale::NAMESPACE, (name, &spec), 300, 4).await;
    let after = run_by_its_owner(client, node, &service, page).await;
    for record in &records {
        assert_statuses(record, "200");
        let timed = record.load().and_then(|load| load.timed.as_ref());
        let parts = timed.map(|timed| timed.containers.keys().cloned().collect::<Vec<_>>());
        assert_eq!(parts.unwrap_or_default(), ["main", "sidecar"]);
    }
    assert_confirmed(page.name, found(&run, page.name), &[before, after]);
    service.remove().await;
}

#[tokio::test]
#[ignore = "compares figures, and needs images of services: make test-systems"]
async fn deployments_of_nginx_and_django_are_as_fast_as_a_plain_client_finds_them() {
    let client = wasmbench_e2e::client().await;
    with_own_node(&client, async |node| {
        for page in &PAGES {
            measure_page(&client, &node, page).await;
        }
    })
    .await;
}
