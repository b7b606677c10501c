//! Pages that nobody sees. A browser opens six connections to one address at most.

use serde_json::Value;
use wasmbench_e2e::browser::Browser;
use wasmbench_e2e::dashboard::with_dashboard;
use wasmbench_e2e::runs;

use super::{assert_marked, mark, row};

/// Measures nothing.
const ASLEEP: &str = r"
suspend: true
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";

/// Hides the page from its script, or shows it again, and returns whether it holds a connection.
async fn is_connected_when(browser: &Browser, hidden: bool) -> Value {
    let script = "
Object.defineProperty(document, 'hidden', { value: arguments[0], configurable: true });
document.dispatchEvent(new Event('visibilitychange'));
return events !== null;
";
    browser.evaluated_with(script, vec![hidden.into()]).await
}

#[tokio::test]
#[ignore = "needs Chromium: make test-ui"]
async fn a_hidden_page_gives_its_connection_back_and_catches_up_when_it_is_seen() {
    with_dashboard("hidden", async |stage| {
        let (browser, namespace) = (&stage.browser, &stage.namespace);
        browser.open(&stage.dashboard.page("")).await;
        mark(browser).await;
        assert_eq!(is_connected_when(browser, true).await, false);
        runs::create(&stage.admin.0, namespace, "meanwhile", ASLEEP).await;
        assert_eq!(is_connected_when(browser, false).await, true);
        browser.find(&row(namespace, "meanwhile")).await;
        assert_marked(browser).await;
    })
    .await;
}
