//! The text of a first run. Pure: what to measure and the cluster's answers in, commented YAML out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{Header, Method};
use wasmbench_report::table::ascii;

use crate::args::InitArgs;
use crate::check::seen::{Answer, NodeSeen, RuntimeClassSeen};
use crate::error::Error;

/// Placeholder for an image that was not given: a reference that exists in no registry.
const CHANGE_ME: &str = "registry.example.com/CHANGE-ME/service:CHANGE-ME";
/// Substrings by which the names of RuntimeClasses and handlers for Wasm are recognized.
const WASM: [&str; 4] = ["wasm", "spin", "slight", "wws"];
/// The RuntimeClass to write if none is known.
const USUAL_CLASS: &str = "wasmtime";
/// The label with a node's architecture.
const ARCH: &str = "kubernetes.io/arch";
/// The maximum length of a run's name that is derived from an image.
const MAX_NAME: usize = 40;

/// The cluster's answers, or why there are none.
#[derive(Clone, Debug)]
pub struct ClusterView {
    /// Its RuntimeClasses by name.
    pub classes: Answer<BTreeMap<String, RuntimeClassSeen>>,
    /// Its nodes.
    pub nodes: Answer<Vec<NodeSeen>>,
}

impl ClusterView {
    /// No answers, for this reason.
    pub fn unavailable(why: &str) -> Self {
        Self {
            classes: Err(why.to_owned()),
            nodes: Err(why.to_owned()),
        }
    }
}

/// What to write.
#[derive(Clone, Debug)]
pub struct Draft {
    name: String,
    container: Option<String>,
    wasm: Option<String>,
    class: String,
    port: u16,
    path: String,
    method: Method,
    headers: Vec<Header>,
    body: Option<String>,
    view: ClusterView,
}

impl Draft {
    /// The draft for these arguments on a cluster with these answers.
    pub fn new(args: &InitArgs, view: ClusterView) -> Self {
        let image = args.image.as_ref().or(args.wasm.as_ref());
        let name = args.name.clone();
        let class = args.runtime_class.clone().or_else(|| wasm_class(&view));
        Self {
            name: name.unwrap_or_else(|| name_of(image.map_or("", String::as_str))),
            container: args.image.clone(),
            wasm: args.wasm.clone(),
            class: class.unwrap_or_else(|| USUAL_CLASS.to_owned()),
            port: args.port,
            path: args.path.clone(),
            method: args.method.unwrap_or(match args.body {
                Some(_) => Method::Post,
                None => Method::Get,
            }),
            headers: args.headers.clone(),
            body: args.body.clone(),
            view,
        }
    }

    /// What has to be done before the run is worth its time.
    pub fn open(&self) -> Vec<String> {
        let image = |given: &Option<String>, what: &str| {
            let missing = given.is_none();
            missing.then(|| format!("CHANGE ME in the file stands for {what}"))
        };
        let class = &self.class;
        let unknown = match &self.view.classes {
            Ok(classes) => (!classes.contains_key(class)).then(|| {
                format!("there is no RuntimeClass '{class}' in this cluster: install the shim and its RuntimeClass")
            }),
            Err(why) => Some(format!("the RuntimeClasses of the cluster were not read: {why}")),
        };
        let images = [
            image(&self.container, "the image of the ordinary container"),
            image(
                &self.wasm,
                "the image of the same service as WebAssembly (--wasm)",
            ),
        ];
        images.into_iter().chain([unknown]).flatten().collect()
    }

    fn node_selector(&self) -> BTreeMap<String, String> {
        let class = self
            .view
            .classes
            .as_ref()
            .ok()
            .and_then(|classes| classes.get(&self.class));
        class.map_or_else(BTreeMap::new, |class| class.node_selector.clone())
    }
}

/// The first RuntimeClass whose name or handler looks like one for Wasm.
fn wasm_class(view: &ClusterView) -> Option<String> {
    let is_wasm = |text: &str| WASM.iter().any(|part| text.contains(part));
    let mut classes = view.classes.as_ref().ok()?.iter();
    let found = classes.find(|(name, class)| is_wasm(name) || is_wasm(&class.handler));
    found.map(|(name, _)| name.clone())
}

/// `my-service` for `registry.example.com/team/my_service:1.0@sha256:...`.
fn name_of(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or_default();
    let bare = last.split([':', '@']).next().unwrap_or_default();
    let letter = |c: char| {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_alphanumeric() { c } else { '-' }
    };
    let name: String = bare.chars().map(letter).take(MAX_NAME).collect();
    let name = name.trim_matches('-');
    if name.is_empty() {
        "service".to_owned()
    } else {
        name.to_owned()
    }
}

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
        "# A service as an ordinary container and as WebAssembly, under the same load.\n\
         #\n\
         #   kubectl wasmbench plan -f FILE           what it does, and how long it takes\n\
         #   kubectl apply -f FILE\n\
         #   kubectl wasmbench get {name} --watch\n\
         #   kubectl wasmbench cost {name} --node-price 0.10/h --vcpus 4 --memory 16Gi\n\
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
        answers(draft),
        quoted(name),
    )
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
    let mut lines = vec![format!("RuntimeClasses: {classes}")];
    match nodes {
        Ok(nodes) => lines.extend(of_nodes(draft, nodes)),
        Err(why) => lines.push(format!("Nodes: not read: {why}")),
    }
    lines.iter().fold(String::new(), |text, line| {
        text + &format!("# {}\n", ascii(line))
    })
}

fn of_nodes(draft: &Draft, nodes: &[NodeSeen]) -> Vec<String> {
    let selector = draft.node_selector();
    let fit: Vec<&NodeSeen> = nodes.iter().filter(|node| node.has(&selector)).collect();
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
    let class = draft.view.classes.as_ref().ok();
    let handler = class.and_then(|classes| Some(&classes.get(&draft.class)?.handler));
    let lacks = |node: &&&NodeSeen| {
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
    if !missing.is_empty() {
        lines.push(format!(
            "Without a handler for {}: {}. Keep the run off them by placement.nodeSelector",
            draft.class,
            missing.join(", ")
        ));
    }
    lines
}

fn variants(draft: &Draft) -> String {
    let image = |given: &Option<String>| match given {
        Some(image) => quoted(image),
        None => format!("{}   # CHANGE ME", quoted(CHANGE_ME)),
    };
    format!(
        "  variants:\n    \
         # The service as it runs today. Name images by digest, so that the run can be repeated.\n    \
         - name: container\n      container:\n        image: {}\n        port: {}\n        \
         # Where the image's USER is root or a name, or it names no program:\n        \
         # runAsUser: 1000\n        \
         # command: [/app/server]\n    \
         # The same service compiled to WebAssembly. The image must hold a Wasm layer, or an entrypoint that is a .wasm\n    \
         # file: most shims run an ordinary image as an ordinary container, and that is what would be measured.\n    \
         - name: wasm\n      container:\n        image: {}\n        port: {}\n        runtimeClassName: {}\n",
        image(&draft.container),
        draft.port,
        image(&draft.wasm),
        draft.port,
        quoted(&draft.class),
    )
}

/// What is sent besides the path, if anything.
fn sent(draft: &Draft) -> String {
    let mut text = String::new();
    if draft.method != Method::Get {
        let _ = writeln!(
            text,
            "      # It is sent over and over. If it changes something, name a request that does not in container.ready.\n      \
             method: {}",
            draft.method
        );
    }
    if !draft.headers.is_empty() {
        text.push_str("      headers:\n");
    }
    for Header { name, value } in &draft.headers {
        let _ = writeln!(
            text,
            "        - {{name: {}, value: {}}}",
            quoted(name),
            quoted(value)
        );
    }
    if let Some(body) = &draft.body {
        let _ = writeln!(text, "      body: {}", quoted(body));
    }
    text
}

fn load(draft: &Draft) -> String {
    format!(
        "  workloads:\n    - name: request\n      path: {}\n{}      expect:\n        status: 200\n        \
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
        quoted(&draft.path),
        sent(draft)
    )
}

/// `text` as a JSON string, which is also a valid YAML string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
