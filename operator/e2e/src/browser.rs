//! Chromium, driven by WebDriver. It is started for one test and leaves nothing behind, even when
//! the test panics. Needs `chromedriver` on PATH, which finds the browser. Returns what a person
//! would see, and the console.

use std::process::Stdio;
use std::time::Duration;

use fantoccini::actions::{InputSource as _, KeyAction, KeyActions};
use fantoccini::elements::Element;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::processes::send_signal_to_group;
use crate::{PATIENCE, eventually};

/// What the driver prints once it listens, followed by the port and a full stop.
const LISTENS: &str = "started successfully on port ";
/// The key that moves to the next link, button or field, in WebDriver's notation.
const TAB: char = '\u{e004}';

/// A browser with one window.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    driver: Driver,
    /// Removed after the browser has ended, because fields are dropped in this order.
    _profile: TempDir,
}

/// The driver and everything that it started, as one process group.
#[derive(Debug)]
struct Driver {
    child: Child,
    group: u32,
}

impl Drop for Driver {
    fn drop(&mut self) {
        // If only the driver ended, the browser would stay.
        send_signal_to_group("KILL", self.group);
        // The profile can only be removed once no process writes to it any more.
        while crate::processes::of_group(self.group).next().is_some() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.try_wait();
    }
}

/// A command specific to Chromium.
#[derive(Debug)]
struct Own {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    /// Starts a browser that makes no requests except those of the pages it is given.
    pub async fn start() -> Self {
        let profile = TempDir::new().expect("a folder");
        let (driver, port) = start_driver().await;
        let capabilities = capabilities(&profile.path().display().to_string());
        let capabilities = capabilities.as_object().expect("an object");
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities.clone())
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("Chromium starts");
        let browser = Self {
            client,
            driver,
            _profile: profile,
        };
        browser.set_size(1200, 900).await;
        browser
    }

    /// Ends the browser as a person would.
    pub async fn close(self) {
        let closed = self.client.clone().close().await;
        closed.expect("the browser closes");
        drop(self.driver);
    }

    /// Opens a page and waits until it has loaded.
    pub async fn open(&self, url: &str) {
        let opened = self.client.goto(url).await;
        opened.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// The current address.
    pub async fn url(&self) -> String {
        let url = self.client.current_url().await;
        url.expect("an address").to_string()
    }

    /// Waits until the address ends with `end`.
    pub async fn arrives(&self, end: &str) {
        eventually(PATIENCE, &format!("the address ends in {end}"), || async {
            self.url().await.ends_with(end).then_some(())
        })
        .await;
    }

    /// The title of the page.
    pub async fn title(&self) -> String {
        self.client.title().await.expect("a title")
    }

    /// The result of a script that runs in the page as the body of a function.
    pub async fn evaluated(&self, script: &str) -> Value {
        self.evaluated_with(script, vec![]).await
    }

    /// The result of a script that is called with `arguments`.
    pub async fn evaluated_with(&self, script: &str, arguments: Vec<Value>) -> Value {
        let result = self.client.execute(script, arguments).await;
        result.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// The first element that matches the selector, once it exists.
    pub async fn find(&self, selector: &str) -> Element {
        eventually(PATIENCE, &format!("the page has {selector}"), || async {
            self.client.find(Locator::Css(selector)).await.ok()
        })
        .await
    }

    /// The number of elements that match the selector now.
    pub async fn count(&self, selector: &str) -> usize {
        let script = "return document.querySelectorAll(arguments[0]).length";
        let count = self.evaluated_with(script, vec![json!(selector)]).await;
        usize::try_from(count.as_u64().expect("a number")).expect("few")
    }

    /// The text of the first element that matches the selector, as a person sees it; empty if there
    /// is none.
    pub async fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.innerText ?? ''";
        let text = self.evaluated_with(script, vec![json!(selector)]).await;
        text.as_str().expect("a text").to_owned()
    }

    /// Waits until the text of the first matching element contains `message`.
    pub async fn wait_for_text(&self, selector: &str, message: &str) {
        let what = format!("{selector} says '{message}'");
        eventually(PATIENCE, &what, || async {
            self.text(selector).await.contains(message).then_some(())
        })
        .await;
    }

    /// Clicks on the first matching element. Retries, because the page may replace the element
    /// meanwhile.
    pub async fn click(&self, selector: &str) {
        eventually(PATIENCE, &format!("{selector} is clicked"), || async {
            let element = self.client.find(Locator::Css(selector)).await.ok()?;
            element.click().await.ok()
        })
        .await;
    }

    /// Clears a field and types into it.
    pub async fn fill(&self, selector: &str, text: &str) {
        let field = self.find(selector).await;
        field.clear().await.expect("the field can be emptied");
        self.type_into(selector, text).await;
    }

    /// Types at the end of a field.
    pub async fn type_into(&self, selector: &str, text: &str) {
        let field = self.find(selector).await;
        field.send_keys(text).await.expect("the field takes keys");
    }

    /// Presses the key that moves the focus to the next element.
    pub async fn press_tab(&self) {
        let keys = KeyActions::new("keyboard".into())
            .then(KeyAction::Down { value: TAB })
            .then(KeyAction::Up { value: TAB });
        self.client.perform_actions(keys).await.expect("a key");
    }

    /// Gives the page this size, regardless of the window's limits.
    pub async fn set_size(&self, width: u32, height: u32) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", size)
            .await;
    }

    /// Makes the browser prefer `light` or `dark` pages.
    pub async fn prefer(&self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": [feature] }),
        )
        .await;
    }

    /// A screenshot of the visible page, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a picture")
    }

    /// The errors on the console since the last call, including violations of the
    /// Content-Security-Policy.
    pub async fn errors(&self) -> Vec<String> {
        let all = self.own("se/log", json!({ "type": "browser" })).await;
        all.as_array()
            .expect("a list")
            .iter()
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": command, "params": parameters });
        self.own("goog/cdp/execute", body).await
    }

    async fn own(&self, path: &'static str, body: Value) -> Value {
        let answer = self.client.issue_cmd(Own { path, body }).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

async fn start_driver() -> (Driver, u16) {
    let mut child = Command::new("chromedriver")
        .arg("--port=0")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("chromedriver starts: 'make test-ui' installs it");
    let stdout = child.stdout.take().expect("it is piped");
    let group = child.id().expect("it runs");
    let driver = Driver { child, group };
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await.expect("the driver's words") {
        if let Some((_, port)) = line.split_once(LISTENS) {
            let port = port.trim_end_matches('.').parse().expect("a port");
            // The rest is discarded, but must be read so that the driver can write it.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (driver, port);
        }
    }
    panic!("chromedriver ended before it listened");
}

fn capabilities(profile: &str) -> Value {
    let folder = format!("--user-data-dir={profile}");
    json!({
        "goog:chromeOptions": { "args": [
            "--headless", "--disable-gpu",
            // Root, which the local cluster needs, cannot use the sandbox.
            "--no-sandbox",
            // No requests except those of the test's pages.
            "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-default-apps",
            folder,
        ] },
        "goog:loggingPrefs": { "browser": "ALL" },
    })
}
