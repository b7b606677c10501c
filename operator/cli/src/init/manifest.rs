//! The text of a first run. Pure: what to measure and the cluster's answers in, commented YAML out.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{EnvVar, Header, Method};
use wasmbench_report::table::ascii;

use crate::check::observed::ObservedNode;
use crate::error::Error;
use crate::init::draft::{Other, Request, Wasm};

pub use crate::init::draft::{ClusterView, Draft};

/// Placeholder for an image that was not given: a reference that exists in no registry, and that
/// [`PLACEHOLDER`](crate::manifest::PLACEHOLDER) marks.
const CHANGE_ME: &str = "registry.example.com/CHANGE-ME/service:CHANGE-ME";
/// The label with a node's architecture.
const ARCH: &str = "kubernetes.io/arch";

/// Parses the run in a written file.
pub fn run_of(text: &str) -> Result<BenchmarkRun, Error> {
    Ok(serde_yaml::from_str(text)?)
}

/// The text of the file.
pub fn manifest(draft: &Draft) -> String {
    head(draft) + &variants(draft) + &load(draft)
}

fn head(draft: &Draft) -> String {
    let name = &draft.name;
    let selector = draft.node_selector();
    let mut placement = String::new();
    if !selector.is_empty() {
        placement.push_str(
            "  # The nodes that the RuntimeClass asks for: the others have no shim. All variants run on one node.\n  \
             placement:\n    nodeSelector:\n",
        );
        for (key, value) in selector {
            let _ = writeln!(placement, "      {}: {}", quoted(&key), quoted(&value));
        }
    }
    format!(
        "# {}, under the same load.\n\
         #\n\
         #   kubectl wasmbench plan -f FILE      whether it fits, what it does, how long it takes\n\
         #   kubectl wasmbench start -f FILE     creates it under a fresh name, follows it, exits with its outcome\n\
         #   kubectl wasmbench cost NAME --node-price 0.10/h\n\
         #\n\
         {}\
         apiVersion: wasmbench.dev/v1alpha1\n\
         kind: BenchmarkRun\n\
         metadata:\n  name: {}\n\
         spec:\n  \
         # Repetitions of everything. Five give a first look; ten decide differences of a few percent.\n  \
         blocks: 10\n  \
         # What the others are divided by.\n  \
         baseline: container\n\
         {placement}  \
         # One setting for all variants: different limits would be compared instead. A CPU limit becomes part of what is\n  \
         # measured: set the one that you have in production, or none.\n  \
         resources:\n    requests: {{cpu: 250m, memory: 64Mi}}\n    limits: {{memory: 512Mi}}\n",
        title(draft),
        answers(draft),
        quoted(name),
    )
}

/// What is compared, in the first line of the file.
fn title(draft: &Draft) -> &'static str {
    match (&draft.other, &draft.wasm) {
        (None, None) => "A service as an ordinary container",
        (Some(_), None) => "Two versions of a service",
        (None, Some(_)) => "A service as an ordinary container and as WebAssembly",
        (Some(_), Some(_)) => "Two versions of a service, and the service as WebAssembly",
    }
}

/// The cluster's answers, as comments.
fn answers(draft: &Draft) -> String {
    let ClusterView { classes, nodes } = &draft.view;
    let classes = match classes {
        Ok(classes) if classes.is_empty() => {
            "there is none: a Wasm variant is skipped until a shim is installed".to_owned()
        }
        Ok(classes) => classes
            .iter()
            .map(|(name, class)| format!("{name} (handler {})", class.handler))
            .collect::<Vec<_>>()
            .join(", "),
        Err(why) => format!("not read: {why}"),
    };
    let classes = draft
        .wasm
        .as_ref()
        .map(|_| format!("RuntimeClasses: {classes}"));
    let mut lines: Vec<String> = classes.into_iter().collect();
    match nodes {
        Ok(nodes) => lines.extend(of_nodes(draft, nodes)),
        Err(why) => lines.push(format!("Nodes: not read: {why}")),
    }
    lines.iter().fold(String::new(), |text, line| {
        text + &format!("# {}\n", ascii(line))
    })
}

fn of_nodes(draft: &Draft, nodes: &[ObservedNode]) -> Vec<String> {
    let selector = draft.node_selector();
    let fit: Vec<&ObservedNode> = nodes.iter().filter(|node| node.has(&selector)).collect();
    let architectures: BTreeSet<&str> = fit
        .iter()
        .filter_map(|node| node.labels.get(ARCH))
        .map(String::as_str)
        .collect();
    let named: Vec<&str> = architectures.iter().copied().collect();
    let mut lines = vec![format!(
        "Nodes that fit: {} of {} ({})",
        fit.len(),
        nodes.len(),
        named.join(", ")
    )];
    if architectures.len() > 1 {
        lines.push(format!(
            "They are not of one architecture: have the ordinary image for all of them, or set {ARCH} in placement.nodeSelector"
        ));
    }
    let handler = draft.class().map(|class| &class.handler);
    let lacks = |node: &&&ObservedNode| {
        let handlers = node.handlers.as_ref();
        handlers
            .zip(handler)
            .is_some_and(|(handlers, handler)| !handlers.contains(handler))
    };
    let missing: Vec<&str> = fit
        .iter()
        .filter(lacks)
        .map(|node| node.name.as_str())
        .collect();
    if let Some(wasm) = draft.wasm.as_ref().filter(|_| !missing.is_empty()) {
        lines.push(format!(
            "Without a handler for {}: {}. Keep the run off them by placement.nodeSelector",
            wasm.class,
            missing.join(", ")
        ));
    }
    lines
}

fn variants(draft: &Draft) -> String {
    let image = match &draft.container {
        Some(image) => quoted(image),
        None => quoted(CHANGE_ME),
    };
    let port = draft.port;
    let mut text = format!(
        "  variants:\n    \
         # The service as it runs today. Name images by digest, so that the run can be repeated.\n    \
         - name: container\n      container:\n        image: {image}\n        port: {port}\n",
    );
    text.push_str(if draft.command.is_empty() {
        "        # Where the image's USER is root or a name, or it names no program:\n        \
         # runAsUser: 1000\n        \
         # command: [/app/server]\n"
    } else {
        "        # Where the image's USER is root or a name:\n        \
         # runAsUser: 1000\n"
    });
    text.push_str(&settings(&draft.command, &[], &draft.env));
    if let Some(Other {
        image,
        command,
        args,
    }) = &draft.other
    {
        let _ = write!(
            text,
            "    # What is compared with it.\n    \
             - name: other\n      container:\n        image: {}\n        port: {port}\n",
            quoted(image)
        );
        text.push_str(&settings(command, args, &draft.env));
    }
    if let Some(Wasm { image, class }) = &draft.wasm {
        let _ = write!(
            text,
            "    # The same service compiled to WebAssembly. The image must hold a Wasm layer, or an entrypoint that is a .wasm\n    \
             # file: most shims run an ordinary image as an ordinary container, and that is what would be measured.\n    \
             - name: wasm\n      container:\n        image: {}\n        port: {port}\n        runtimeClassName: {}\n",
            quoted(image),
            quoted(class),
        );
        text.push_str(&settings(&[], &[], &draft.env));
    }
    text
}

/// What a container has besides image and port.
fn settings(command: &[String], args: &[String], env: &[EnvVar]) -> String {
    let mut text = String::new();
    for (field, words) in [("command", command), ("args", args)] {
        if !words.is_empty() {
            let words: Vec<String> = words.iter().map(|one| quoted(one)).collect();
            let _ = writeln!(text, "        {field}: [{}]", words.join(", "));
        }
    }
    if !env.is_empty() {
        text.push_str("        env:\n");
    }
    for EnvVar { name, value } in env {
        text.push_str(&named(10, name, value));
    }
    text
}

/// An entry of a list of names with values, indented by so many columns.
fn named(indent: usize, name: &str, value: &str) -> String {
    let (name, value) = (quoted(name), quoted(value));
    format!("{:indent$}- {{name: {name}, value: {value}}}\n", "")
}

/// The path of what is sent, what else of it differs from a plain request, and the beginning of what is expected.
/// `variant` is what a variant is made of: `container` or `scale`.
pub(super) fn sent(request: &Request, variant: &str) -> String {
    let Request {
        path,
        method,
        headers,
        body,
        status,
    } = request;
    let mut text = format!("      path: {}\n", quoted(path));
    if *method != Method::Get {
        let _ = writeln!(
            text,
            "      # It is sent over and over. If it changes something, name a request that does not in {variant}.ready.\n      \
             method: {method}",
        );
    }
    if !headers.is_empty() {
        text.push_str("      headers:\n");
    }
    for Header { name, value } in headers {
        text.push_str(&named(8, name, value));
    }
    if let Some(body) = body {
        let _ = writeln!(text, "      body: {}", quoted(body));
    }
    let _ = writeln!(text, "      expect:\n        status: {status}");
    text
}

fn load(draft: &Draft) -> String {
    format!(
        "  workloads:\n    - name: request\n{}        \
         # All variants must give the same answer, always. Leave it out where an answer holds a time or chance, and name\n        \
         # what it begins or ends with: bodyPrefix, bodySuffix.\n        \
         sameAcrossVariants: true\n  \
         sweeps:\n    \
         # One request after the other: latency without queues.\n    \
         warmLatency: {{}}\n    \
         # Many clients at once: CPU per request, throughput, memory.\n    \
         throughput:\n      connections: [10, 50]\n      durationSeconds: 10\n      warmupSeconds: 2\n    \
         # How many requests per second a pod can take at this latency: name that which your users accept. The rates are\n    \
         # set around what the baseline can do at most; with rates: [200, 300, 400] they are yours.\n    \
         openLoop:\n      target: {{p99: 50ms}}\n      durationSeconds: 5\n      warmupSeconds: 2\n    \
         # Starts, and what an idle instance holds. They need this namespace in coldStart.namespaces of the chart.\n    \
         # coldStart: {{samples: 20}}\n    \
         # density: {{instances: [1, 5, 10]}}\n",
        sent(&draft.request, "container")
    )
}

/// `text` as a JSON string, which is also a valid YAML string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
