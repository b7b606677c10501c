//! The dashboard of the plugin as a user has it: somebody who may edit one namespace, `kubectl wasmbench dashboard`
//! with their kubeconfig, and a browser. All of it ends with the test.

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

/// What a test of the dashboard has.
#[derive(Debug)]
pub struct Stage {
    /// Open, with an empty page.
    pub browser: Browser,
    /// Serving.
    pub dashboard: Dashboard,
    /// Who asks the cluster in the dashboard's name, as the audit log writes it.
    pub user: String,
    /// The namespace of the test, which is all that they may edit.
    pub namespace: String,
    /// Of the administrator, for what the test looks at behind the dashboard's back.
    pub admin: AdminClient,
}

/// A client that has no words for itself.
#[derive(Clone)]
pub struct AdminClient(pub Client);

impl std::fmt::Debug for AdminClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AdminClient")
    }
}

/// Runs `test` with a dashboard and a browser. Whatever it does, no page may leave an error in the console.
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
        let told = async {
            test(&stage).await;
            assert_eq!(stage.browser.errors().await, Vec::<String>::new());
        };
        let result = AssertUnwindSafe(told).catch_unwind().await;
        if let Err(panic) = result {
            let _ = AssertUnwindSafe(dump(&stage)).catch_unwind().await;
            std::panic::resume_unwind(panic);
        }
        stage.browser.close().await;
        stage.dashboard.interrupt().await;
    })
    .await;
}

/// What a person would have seen.
#[expect(clippy::print_stderr, reason = "evidence of a failed test")]
async fn dump(stage: &Stage) {
    eprintln!("--- the dashboard\n{}", stage.dashboard.said());
    eprintln!("--- the page\n{}", stage.browser.url().await);
    eprintln!("{}", stage.browser.text("body").await);
    eprintln!("--- the console\n{:#?}", stage.browser.errors().await);
    let file = std::env::temp_dir().join("wasmbench-dashboard.png");
    std::fs::write(&file, stage.browser.picture().await).expect("written");
    eprintln!("--- a picture of it is {}", file.display());
}

/// Makes an account that may edit the namespace, and answers with a kubeconfig of its own in `folder`.
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
    // The API server learns of the binding a moment later.
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
    /// Read no further, but open: the plugin may have more to say.
    _stdout: BufReader<ChildStdout>,
    stderr: NamedTempFile,
}

impl Dashboard {
    /// Starts the plugin, which is on PATH, and waits until it tells its address.
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
        let (url, said) = (&dashboard.url, dashboard.said());
        assert!(
            url.starts_with("http://127.0.0.1:") && url.ends_with('/'),
            "{line:?}, {said}"
        );
        dashboard
    }

    /// The address of a page, which is `""` for the first.
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Where it listens: `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap_or_default();
        rest.split('/').next().expect("a first part")
    }

    /// `/TOKEN/`.
    pub fn root(&self) -> &str {
        let origin = "http://".len() + self.address().len();
        &self.url[origin..]
    }

    /// What it wrote to standard error.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.stderr.path()).unwrap_or_default()
    }

    /// Interrupts it, as Ctrl-C does, and waits for its end.
    pub async fn interrupt(mut self) {
        let id = self.child.id().expect("it still runs");
        assert!(send_signal("INT", id), "it still runs");
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends in time").expect("it ends");
    }
}
