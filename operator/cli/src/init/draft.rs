//! What a first run is to measure, from the arguments and the cluster's answers. Pure.

use std::collections::BTreeMap;

use wasmbench_api::run::{EnvVar, Header, Method};

use crate::args::InitArgs;
use crate::args::init::{USUAL_PORT, USUAL_STATUS};
use crate::check::observed::{Answer, ObservedNode, ObservedRuntimeClass};

/// Substrings by which the names of RuntimeClasses and handlers for Wasm are recognized.
const WASM: [&str; 4] = ["wasm", "spin", "slight", "wws"];
/// The RuntimeClass to write if none is known.
const USUAL_CLASS: &str = "wasmtime";
/// The maximum length of a run's name that is derived from an image.
const MAX_NAME: usize = 40;

/// The cluster's answers, or why there are none.
#[derive(Clone, Debug)]
pub struct ClusterView {
    /// Its RuntimeClasses by name.
    pub classes: Answer<BTreeMap<String, ObservedRuntimeClass>>,
    /// Its nodes.
    pub nodes: Answer<Vec<ObservedNode>>,
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

/// Another version of the service.
#[derive(Clone, Debug)]
pub(super) struct Other {
    pub(super) image: String,
    /// Instead of the entrypoint of the image; empty for that.
    pub(super) command: Vec<String>,
    /// Instead of those in the image; empty for those.
    pub(super) args: Vec<String>,
}

/// The service as WebAssembly.
#[derive(Clone, Debug)]
pub(super) struct Wasm {
    pub(super) image: String,
    pub(super) class: String,
}

/// What is sent, over and over, and the status of the right answer.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) method: Method,
    pub(super) headers: Vec<Header>,
    pub(super) body: Option<String>,
    pub(super) status: u16,
}

impl Request {
    pub(super) fn from_args(args: &InitArgs) -> Self {
        Self {
            path: args.path.clone(),
            method: args.method.unwrap_or(match args.body {
                Some(_) => Method::Post,
                None => Method::Get,
            }),
            headers: args.headers.clone(),
            body: args.body.clone(),
            status: args.status.unwrap_or(USUAL_STATUS),
        }
    }
}

/// What to write.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) name: String,
    pub(super) container: Option<String>,
    /// Instead of the entrypoint of the container's image; empty for that.
    pub(super) command: Vec<String>,
    /// Of every variant.
    pub(super) env: Vec<EnvVar>,
    pub(super) other: Option<Other>,
    pub(super) wasm: Option<Wasm>,
    pub(super) port: u16,
    pub(super) request: Request,
    pub(super) view: ClusterView,
}

impl Draft {
    /// The draft for these arguments on a cluster with these answers.
    pub fn new(args: &InitArgs, view: ClusterView) -> Self {
        let image = args.image.as_ref().or(args.wasm.as_ref());
        let name = args.name.clone();
        let class = || args.runtime_class.clone().or_else(|| wasm_class(&view));
        let wasm = args.wasm.clone().map(|image| Wasm {
            image,
            class: class().unwrap_or_else(|| USUAL_CLASS.to_owned()),
        });
        Self {
            name: name.unwrap_or_else(|| name_of(image.map_or("", String::as_str))),
            container: args.image.clone(),
            command: words(args.command.as_deref()),
            env: args.env.clone(),
            other: other(args),
            wasm,
            port: args.port.unwrap_or(USUAL_PORT),
            request: Request::from_args(args),
            view,
        }
    }

    /// What has to be done before the run is worth its time.
    pub fn open(&self) -> Vec<String> {
        let missing = self.container.is_none();
        let image = missing.then(|| {
            "CHANGE-ME in the file stands for the image of the ordinary container".to_owned()
        });
        let single = self.other.is_none() && self.wasm.is_none();
        let single = single.then(|| {
            "one variant alone is compared with nothing: name a second one with --against, --against-args, --against-command or \
             --wasm"
                .to_owned()
        });
        let class = self
            .wasm
            .as_ref()
            .and_then(|wasm| self.unknown(&wasm.class));
        [image, single, class].into_iter().flatten().collect()
    }

    /// Why it is not known that the RuntimeClass exists; `None` if it does.
    fn unknown(&self, class: &str) -> Option<String> {
        match &self.view.classes {
            Ok(classes) => (!classes.contains_key(class)).then(|| {
                format!("there is no RuntimeClass '{class}' in this cluster: install the shim and its RuntimeClass")
            }),
            Err(why) => Some(format!("the RuntimeClasses of the cluster were not read: {why}")),
        }
    }

    /// The RuntimeClass of the Wasm image, as far as it is known.
    pub(super) fn class(&self) -> Option<&ObservedRuntimeClass> {
        let wasm = self.wasm.as_ref()?;
        self.view.classes.as_ref().ok()?.get(&wasm.class)
    }

    pub(super) fn node_selector(&self) -> BTreeMap<String, String> {
        let class = self.class();
        class.map_or_else(BTreeMap::new, |class| class.node_selector.clone())
    }
}

/// The version that `--against`, `--against-args` and `--against-command` describe. What they do not name is as in the
/// first one.
fn other(args: &InitArgs) -> Option<Other> {
    let setting = args.against_args.as_ref().or(args.against_command.as_ref());
    let image = args.against.as_ref().or(setting.and(args.image.as_ref()))?;
    let command = args.against_command.as_deref().or(args.command.as_deref());
    Some(Other {
        image: image.clone(),
        command: words(command),
        args: words(args.against_args.as_deref()),
    })
}

fn words(line: Option<&str>) -> Vec<String> {
    let words = line.unwrap_or_default().split_whitespace();
    words.map(str::to_owned).collect()
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
