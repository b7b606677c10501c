//! Chromium, driven by WebDriver. It is started for one test and leaves nothing behind, also when the test panics.
//! Comes in: `chromedriver` on PATH, which finds the browser. Goes out: what a person would see, and the console.

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

/// What the driver prints once it listens, before the port and a full stop.
const LISTENS: &str = "started successfully on port ";
/// The key that goes on to the next link, button or field, as WebDriver writes it.
const TAB: char = '\u{e004}';

/// A browser with one window.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    driver: Driver,
    /// Removed after the browser has ended, as fields are dropped in this order.
    _profile: TempDir,
}

/// The driver and all that it started, as one group of processes.
#[derive(Debug)]
struct Driver {
    child: Child,
    group: u32,
}

impl Drop for Driver {
    fn drop(&mut self) {
        // By its own end the driver would leave the browser.
        send_signal_to_group("KILL", self.group);
        // The profile can be removed when nobody writes to it any more.
        while crate::processes::of_group(self.group).next().is_some() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.try_wait();
    }
}

/// A command of Chromium's own.
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
    /// Starts a browser that asks nobody but the pages it is given.
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

    /// Opens a page and waits until it is loaded.
    pub async fn open(&self, url: &str) {
        let opened = self.client.goto(url).await;
        opened.unwrap_or_else(|error| panic!("{url}: {error}"));
    }

    /// Where the browser is.
    pub async fn url(&self) -> String {
        let url = self.client.current_url().await;
        url.expect("an address").to_string()
    }

    /// Waits until the address ends so.
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

    /// What the body of a function returns that runs in the page.
    pub async fn evaluated(&self, script: &str) -> Value {
        self.evaluated_with(script, vec![]).await
    }

    /// The same with `arguments`.
    pub async fn evaluated_with(&self, script: &str, arguments: Vec<Value>) -> Value {
        let result = self.client.execute(script, arguments).await;
        result.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// The first element that this selector finds, once it is there.
    pub async fn find(&self, selector: &str) -> Element {
        eventually(PATIENCE, &format!("the page has {selector}"), || async {
            self.client.find(Locator::Css(selector)).await.ok()
        })
        .await
    }

    /// How many elements it finds now.
    pub async fn count(&self, selector: &str) -> usize {
        let script = "return document.querySelectorAll(arguments[0]).length";
        let count = self.evaluated_with(script, vec![json!(selector)]).await;
        usize::try_from(count.as_u64().expect("a number")).expect("few")
    }

    /// The text of the first element that it finds, as a person sees it; empty without such an element.
    pub async fn text(&self, selector: &str) -> String {
        let script = "return document.querySelector(arguments[0])?.innerText ?? ''";
        let text = self.evaluated_with(script, vec![json!(selector)]).await;
        text.as_str().expect("a text").to_owned()
    }

    /// Waits until the text of what the selector finds holds these words.
    pub async fn says(&self, selector: &str, words: &str) {
        let what = format!("{selector} says '{words}'");
        eventually(PATIENCE, &what, || async {
            self.text(selector).await.contains(words).then_some(())
        })
        .await;
    }

    /// Clicks on what the selector finds. The page may put another element in its place meanwhile.
    pub async fn click(&self, selector: &str) {
        eventually(PATIENCE, &format!("{selector} is clicked"), || async {
            let element = self.client.find(Locator::Css(selector)).await.ok()?;
            element.click().await.ok()
        })
        .await;
    }

    /// Empties a field and types into it.
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

    /// Presses the key that moves the focus on.
    pub async fn press_tab(&self) {
        let keys = KeyActions::new("keyboard".into())
            .then(KeyAction::Down { value: TAB })
            .then(KeyAction::Up { value: TAB });
        self.client.perform_actions(keys).await.expect("a key");
    }

    /// Gives the page this size, whatever the window's limits are.
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

    /// A picture of what is to be seen, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a picture")
    }

    /// What the console got since the last call that is an error, of which a broken Content-Security-Policy is one.
    pub async fn errors(&self) -> Vec<String> {
        let all = self.own("se/log", json!({ "type": "browser" })).await;
        let all = all.as_array().expect("a list").iter();
        let errors = all.filter(|entry| entry["level"] == "SEVERE");
        errors.map(|entry| entry["message"].to_string()).collect()
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
        .expect("chromedriver starts: 'make test-surface' installs it");
    let stdout = child.stdout.take().expect("it is piped");
    let group = child.id().expect("it runs");
    let driver = Driver { child, group };
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await.expect("the driver's words") {
        if let Some((_, port)) = line.split_once(LISTENS) {
            let port = port.trim_end_matches('.').parse().expect("a port");
            // The rest goes nowhere, but the driver can write it.
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
            // Root, which the local cluster needs, has no sandbox.
            "--no-sandbox",
            // Nothing but the pages of the test.
            "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-default-apps",
            folder,
        ] },
        "goog:loggingPrefs": { "browser": "ALL" },
    })
}
