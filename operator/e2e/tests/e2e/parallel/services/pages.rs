//! nginx and Django as Deployments with a Secret, an init container and a sidecar, which runs scale.

use kube::api::DeleteParams;
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::nodes::with_own_node;
use wasmbench_e2e::operator::{image, test_image};
use wasmbench_e2e::plain_load::{self, Figures, Place};
use wasmbench_e2e::runs;
use wasmbench_e2e::scale::{self, Service, unique};

use super::{assert_statuses, found, limits, spec, unconfirmed};

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
    /// As many requests are answered in seconds.
    requests: u32,
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
        requests: 20_000,
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
        requests: 2_000,
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

/// Measures the page between two loads of the plain client, and says what they do not confirm.
async fn measure_page(client: &Client, node: &str, page: &Page) -> Vec<String> {
    let service = offered(client, node, page).await;
    let name = service.name.as_str();
    let variant = json!({
        "name": page.name, "scale": { "resource": "deployments", "name": name, "port": page.port },
    });
    let workload = json!({
        "name": "page", "path": "/", "headers": [{ "name": "Host", "value": HOST }],
        "expect": { "status": 200, "bodyPrefix": page.begin },
    });
    let spec = spec(node, &variant, &workload, page.requests).to_string();
    let before = run_by_its_owner(client, node, &service, page).await;
    let (run, records) = runs::measured(client, scale::NAMESPACE, (name, &spec), 300, 4).await;
    let after = run_by_its_owner(client, node, &service, page).await;
    for record in &records {
        assert_statuses(record, "200");
        let timed = record.load().and_then(|load| load.timed.as_ref());
        let parts = timed.map(|timed| timed.containers.keys().cloned().collect::<Vec<_>>());
        assert_eq!(parts.unwrap_or_default(), ["main", "sidecar"]);
    }
    let apart = unconfirmed(page.name, found(&run, page.name), &[before, after]);
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), scale::NAMESPACE);
    let _ = api.delete(name, &DeleteParams::background()).await;
    service.remove().await;
    apart
}

#[tokio::test]
#[ignore = "compares figures, and needs images of services: make test-systems"]
async fn deployments_of_nginx_and_django_are_as_fast_as_a_plain_client_finds_them() {
    let client = wasmbench_e2e::client().await;
    with_own_node(&client, async |node| {
        let mut apart = Vec::new();
        for page in &PAGES {
            apart.append(&mut measure_page(&client, &node, page).await);
        }
        assert_eq!(apart, Vec::<String>::new());
    })
    .await;
}
