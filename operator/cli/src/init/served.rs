//! Where a copied service listens, and what shows that it is ready. Pure: its pod in, port and readiness probe out, with
//! notes on what was left out.

use serde_json::Value;

use crate::args::init::USUAL_PORT;

/// Where a service listens, and what shows that it is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The port that is measured.
    pub port: u16,
    /// Whether its readiness probe speaks TLS there.
    pub tls: bool,
    /// The path of its readiness probe there.
    pub ready: Option<String>,
}

/// A port on which a container listens.
struct Port<'a> {
    container: &'a str,
    name: &'a str,
    number: u16,
}

/// A readiness probe by HTTP.
struct Probe<'a> {
    container: &'a str,
    path: &'a str,
    port: Option<u16>,
    tls: bool,
}

impl Served {
    /// What the containers of `pod` say about the `chosen` port, or about the one that they name.
    pub(super) fn new(pod: &Value, chosen: Option<u16>, notes: &mut Vec<String>) -> Self {
        let port = chosen.unwrap_or_else(|| port_of(pod, notes));
        // The containers of a pod share its ports: the port alone says which service answers.
        let (here, elsewhere): (Vec<Probe<'_>>, Vec<Probe<'_>>) = containers(pod)
            .filter_map(probe)
            .partition(|probe| probe.port == Some(port));
        for Probe {
            container, path, ..
        } in &elsewhere
        {
            notes.push(format!(
                "the readiness probe of container {container} is of another port than {port}, which is measured: the run does \
                 not ask it for {path}"
            ));
        }
        let probe = here.first();
        if let Some(Probe { path, .. }) = probe {
            notes.push(format!(
                "for the run it is ready once {path} answers 200: where it answers another status, such as 204, write \
                 ready: {{path: {path}, status: 204}}"
            ));
        }
        Self {
            port,
            tls: probe.is_some_and(|probe| probe.tls),
            ready: probe.map(|probe| probe.path.to_owned()),
        }
    }
}

/// The port called `http`, or else the first.
fn port_of(pod: &Value, notes: &mut Vec<String>) -> u16 {
    let ports: Vec<Port<'_>> = containers(pod).flat_map(ports).collect();
    if let Some(port) = ports.iter().find(|port| port.name == "http") {
        return port.number;
    }
    let Some(first) = ports.first() else {
        notes.push(format!(
            "its containers name no port, so {USUAL_PORT} is measured: choose another one with --port"
        ));
        return USUAL_PORT;
    };
    if ports.len() > 1 {
        let all: Vec<String> = ports.iter().map(|port| port.number.to_string()).collect();
        notes.push(format!(
            "port {} of container {} is measured, the first of {}, of which none is called http: choose another one with --port",
            first.number,
            first.container,
            all.join(", ")
        ));
    }
    first.number
}

fn ports(container: &Value) -> impl Iterator<Item = Port<'_>> {
    let all = container["ports"].as_array().into_iter().flatten();
    let tcp = all.filter(|port| matches!(text(&port["protocol"]), "" | "TCP"));
    tcp.filter_map(move |port| {
        Some(Port {
            container: text(&container["name"]),
            name: text(&port["name"]),
            number: number(&port["containerPort"])?,
        })
    })
}

fn probe(container: &Value) -> Option<Probe<'_>> {
    let get = &container["readinessProbe"]["httpGet"];
    if !get.is_object() {
        return None;
    }
    let port = &get["port"];
    let named = ports(container).find(|one| one.name == text(port));
    Some(Probe {
        container: text(&container["name"]),
        path: get["path"].as_str().unwrap_or("/"),
        port: number(port).or(named.map(|one| one.number)),
        tls: get["scheme"] == "HTTPS",
    })
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["containers"].as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> Option<u16> {
    u16::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A pod with a sidecar first, and a probe of the service at this port.
    fn pod(service_port: &Value, probed: &Value) -> Value {
        json!({ "containers": [
            {
                "name": "proxy", "ports": [{ "containerPort": 53, "protocol": "UDP" }, { "containerPort": 9000 }],
                "readinessProbe": { "httpGet": { "path": "/proxy", "port": 9000 } },
            },
            {
                "name": "shop", "ports": [service_port],
                "readinessProbe": { "httpGet": { "path": "/healthz", "port": probed } },
            },
        ] })
    }

    fn served(pod: &Value, chosen: Option<u16>) -> (Served, String) {
        let mut notes = vec![];
        (Served::new(pod, chosen, &mut notes), notes.join("\n"))
    }

    #[test]
    fn the_chosen_port_is_measured_and_only_its_probe_is_asked() {
        let named = json!({ "name": "web", "containerPort": 3000 });
        let pod = pod(&named, &json!("web"));
        let (chosen, notes) = served(&pod, Some(3000));
        assert_eq!(
            (chosen.port, chosen.ready.as_deref()),
            (3000, Some("/healthz"))
        );
        assert!(
            notes.contains("probe of container proxy is of another port"),
            "{notes}"
        );
        assert!(notes.contains("{path: /healthz, status: 204}"), "{notes}");
        let (first, notes) = served(&pod, None);
        assert_eq!((first.port, first.ready.as_deref()), (9000, Some("/proxy")));
        assert!(
            notes.contains("the first of 9000, 3000, of which none"),
            "{notes}"
        );
        assert!(notes.contains("--port"), "{notes}");
    }

    #[test]
    fn a_probe_of_a_management_port_is_left_out() {
        let http = json!({ "name": "http", "containerPort": 3000 });
        let (served, notes) = served(&pod(&http, &json!(9001)), None);
        assert_eq!((served.port, served.ready), (3000, None));
        assert!(notes.contains("does not ask it for /healthz"), "{notes}");
    }

    #[test]
    fn a_pod_that_names_no_port_is_measured_at_the_usual_one_and_this_is_noted() {
        let (served, notes) = served(&json!({ "containers": [{ "name": "shop" }] }), None);
        assert_eq!((served.port, served.ready), (USUAL_PORT, None));
        assert!(
            notes.contains("name no port, so 8080 is measured"),
            "{notes}"
        );
    }
}
