//! The plugin's dashboard as a user gets it: an account that may edit one namespace,
//! `kubectl wasmbench dashboard` with that account's kubeconfig, and a browser. All of it ends
//! with the test.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use futures::FutureExt as _;
use kube::Client;
use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::browser::Browser;
use crate::kubectl::kubectl;
use crate::namespace::with_namespace;
use crate::processes::send_signal;
use crate::{PATIENCE, eventually};

/// Name of the account.
const EDITOR: &str = "editor";

/// What a test of the dashboard works with.
#[derive(Debug)]
pub struct Stage {
    /// The browser, open with an empty page.
    pub browser: Browser,
    /// The dashboard, which is serving.
    pub dashboard: Dashboard,
    /// The user in whose name the dashboard calls the cluster, as the audit log writes it.
    pub user: String,
    /// The namespace of the test, the only one that the user may edit.
    pub namespace: String,
    /// The administrator's client, for what the test checks independently of the dashboard.
    pub admin: AdminClient,
}

/// A client with an implementation of `Debug`.
#[derive(Clone)]
pub struct AdminClient(pub Client);

impl std::fmt::Debug for AdminClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AdminClient")
    }
}

/// Runs `test` with a dashboard and a browser. No page may leave an error in the console.
pub async fn with_dashboard(prefix: &str, test: impl AsyncFnOnce(&Stage)) {
    with_namespace(prefix, |client, namespace| async move {
        let folder = TempDir::new().expect("a folder");
        let kubeconfig = editor(&namespace, folder.path()).await;
        let stage = Stage {
            browser: Browser::start().await,
            dashboard: Dashboard::start(&kubeconfig).await,
            user: format!("system:serviceaccount:{namespace}:{EDITOR}"),
            namespace,
            admin: AdminClient(client),
        };
        let checked = async {
            test(&stage).await;
            assert_eq!(stage.browser.errors().await, Vec::<String>::new());
        };
        let result = AssertUnwindSafe(checked).catch_unwind().await;
        if let Err(panic) = result {
            let _ = AssertUnwindSafe(dump(&stage)).catch_unwind().await;
            std::panic::resume_unwind(panic);
        }
        stage.browser.close().await;
        stage.dashboard.interrupt().await;
    })
    .await;
}

/// Prints what a person would have seen.
#[expect(clippy::print_stderr, reason = "evidence of a failed test")]
async fn dump(stage: &Stage) {
    eprintln!("--- the dashboard\n{}", stage.dashboard.output());
    eprintln!("--- the page\n{}", stage.browser.url().await);
    eprintln!("{}", stage.browser.text("body").await);
    eprintln!("--- the console\n{:#?}", stage.browser.errors().await);
    let file = std::env::temp_dir().join("wasmbench-dashboard.png");
    std::fs::write(&file, stage.browser.picture().await).expect("written");
    eprintln!("--- a picture of it is {}", file.display());
}

/// Creates an account that may edit the namespace, and returns a kubeconfig for it in `folder`.
async fn editor(namespace: &str, folder: &Path) -> PathBuf {
    let account = format!("--serviceaccount={namespace}:{EDITOR}");
    let here = format!("--namespace={namespace}");
    let calls: [&[&str]; 2] = [
        &["create", "serviceaccount", EDITOR, &here],
        &[
            "create",
            "rolebinding",
            EDITOR,
            "--clusterrole=edit",
            &account,
            &here,
        ],
    ];
    for call in calls {
        let called = kubectl(call).await;
        assert!(called.ok, "{called:?}");
    }
    let token = kubectl(&["create", "token", EDITOR, "--duration=4h", &here]).await;
    assert!(token.ok, "no token for {EDITOR}");
    let view = [
        "config",
        "view",
        "--raw",
        "--minify",
        "--flatten",
        "--output=json",
    ];
    let mut config: Value = serde_json::from_str(&kubectl(&view).await.stdout).expect("JSON");
    let cluster = config["clusters"][0]["name"].clone();
    config["users"] = json!([{ "name": EDITOR, "user": { "token": token.stdout.trim() } }]);
    config["contexts"] = json!([{
        "name": EDITOR, "context": { "cluster": cluster, "user": EDITOR, "namespace": namespace },
    }]);
    config["current-context"] = json!(EDITOR);
    let path = folder.join("kubeconfig");
    std::fs::write(&path, config.to_string()).expect("a kubeconfig");
    // The API server sees the binding a moment later.
    let file = format!("--kubeconfig={}", path.display());
    let may = ["auth", "can-i", "create", "benchmarkruns", &file, &here];
    eventually(PATIENCE, "the account may edit", || async {
        kubectl(&may).await.ok.then_some(())
    })
    .await;
    path
}

/// The running plugin.
#[derive(Debug)]
pub struct Dashboard {
    child: Child,
    url: String,
    /// No longer read, but kept open: the plugin may still write to it.
    _stdout: BufReader<ChildStdout>,
    stderr: NamedTempFile,
}

impl Dashboard {
    /// Starts the plugin, which is on PATH, and waits until it prints its address.
    pub async fn start(kubeconfig: &Path) -> Self {
        let stderr = NamedTempFile::new().expect("a file");
        let mut child = Command::new("kubectl-wasmbench")
            .arg("dashboard")
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr.reopen().expect("the file"))
            .kill_on_drop(true)
            .spawn()
            .expect("the plugin starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, stdout.read_line(&mut line)).await;
        read.expect("a line in time").expect("a line");
        let url = line.split_whitespace().last().unwrap_or_default();
        let url = url.to_owned();
        let dashboard = Self {
            child,
            url,
            _stdout: stdout,
            stderr,
        };
        let (url, output) = (&dashboard.url, dashboard.output());
        assert!(
            url.starts_with("http://127.0.0.1:") && url.ends_with('/'),
            "{line:?}, {output}"
        );
        dashboard
    }

    /// The address of a page; `""` is the first page.
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// The address on which the dashboard listens: `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap_or_default();
        rest.split('/').next().expect("a first part")
    }

    /// The path of the first page: `/TOKEN/`.
    pub fn root(&self) -> &str {
        let origin = "http://".len() + self.address().len();
        &self.url[origin..]
    }

    /// What the plugin wrote to standard error.
    pub fn output(&self) -> String {
        std::fs::read_to_string(self.stderr.path()).unwrap_or_default()
    }

    /// Interrupts the plugin, as Ctrl-C does, and waits until it ends.
    pub async fn interrupt(mut self) {
        let id = self.child.id().expect("it still runs");
        assert!(send_signal("INT", id), "it still runs");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends in time").expect("it ends");
    }
}
