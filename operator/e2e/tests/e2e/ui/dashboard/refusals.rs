//! What the dashboard refuses: users without its address, pages of other sites, and markup in the
//! strings of a run.

use kube::api::ListParams;
use kube::{Api, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::dashboard::{Stage, with_dashboard};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::plain_http::{Answer, ask};
use wasmbench_e2e::{PATIENCE, eventually, runs};

use super::{manifest, row};

/// Measures nothing until somebody resumes it.
const ASLEEP: &str = r"
suspend: true
blocks: 2
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";

/// A request as a browser would send it for a form.
#[derive(Clone, Debug)]
struct Post {
    path: String,
    body: String,
}

/// What the form of a button would send, including the button.
const SENT: &str = "
const button = document.querySelector(arguments[0]);
const form = new URLSearchParams(new FormData(button.form, button));
const url = new URL(button.form.action);
return [url.pathname + url.search, form.toString()];
";

/// The request of a button on this page.
async fn post_of(stage: &Stage, page: &str, button: &str) -> Post {
    let browser = &stage.browser;
    browser.open(&stage.dashboard.page(page)).await;
    browser.find(button).await;
    let sent = browser.evaluated_with(SENT, vec![json!(button)]).await;
    let (path, body) = serde_json::from_value(sent).expect("two texts");
    Post { path, body }
}

/// The requests of every possible change.
async fn posts(stage: &Stage) -> Vec<Post> {
    let browser = &stage.browser;
    let page = format!("runs/{}/asleep", stage.namespace);
    let mut posts = vec![];
    for link in ["#resume", "#delete"] {
        browser.open(&stage.dashboard.page(&page)).await;
        let href = browser.find(link).await.attr("href").await;
        let href = href.expect("an answer").expect("a link");
        let script = "return new URL(arguments[0], location).href";
        let url = browser.evaluated_with(script, vec![json!(href)]).await;
        let url = url.as_str().expect("an address");
        let below = url.strip_prefix(&stage.dashboard.page(""));
        posts.push(post_of(stage, below.expect("below the token"), "#confirm").await);
    }
    browser.open(&stage.dashboard.page("new")).await;
    let manifest = manifest("another", ASLEEP);
    browser
        .fill("form#start textarea[name=manifest]", &manifest)
        .await;
    browser.wait_for_text("#plan", "2 trials").await;
    let sent = browser.evaluated_with(SENT, vec![json!("#create")]).await;
    let (path, body) = serde_json::from_value(sent).expect("two texts");
    posts.push(Post { path, body });
    posts
}

/// Names and specs of all runs of the namespace, and whether they are being deleted.
async fn all_runs(stage: &Stage) -> Vec<(String, Value, bool)> {
    let api: Api<BenchmarkRun> = Api::namespaced(stage.admin.0.clone(), &stage.namespace);
    let runs = api.list(&ListParams::default()).await.expect("runs");
    let facts = |run: BenchmarkRun| {
        let is_deleted = run.metadata.deletion_timestamp.is_some();
        (run.name_any(), json!(run.spec), is_deleted)
    };
    runs.items.into_iter().map(facts).collect()
}

#[tokio::test]
#[ignore = "needs Chromium: make test-ui"]
async fn strangers_are_refused_and_change_nothing() {
    with_dashboard("refused", async |stage| {
        runs::create(&stage.admin.0, &stage.namespace, "asleep", ASLEEP).await;
        let (root, address) = (stage.dashboard.root(), stage.dashboard.address());
        let host = format!("host: {address}");
        without_the_token(root, address).await;
        under_another_name(root, address).await;

        let posts = posts(stage).await;
        let before = all_runs(stage).await;
        assert_eq!(before.len(), 1, "{before:?}");
        for post in &posts {
            from_elsewhere(post, address).await;
            let own = format!("origin: http://{address}");
            let wrong_path = post.path.replace(root, "/0123456789abcdef/");
            assert_ne!(wrong_path, post.path);
            let answer = ask(
                address,
                ("POST", &wrong_path),
                &[host.clone(), own],
                &post.body,
            )
            .await;
            assert_eq!(answer.status, 404, "{wrong_path}");
            // Just following a link changes nothing.
            ask(
                address,
                ("GET", &post.path),
                std::slice::from_ref(&host),
                "",
            )
            .await;
            assert_eq!(all_runs(stage).await, before, "{post:?}");
        }
        // With everything that was missing, each of them is carried out.
        for post in &posts {
            let own = [host.clone(), format!("origin: http://{address}")];
            let answer = ask(address, ("POST", &post.path), &own, &post.body).await;
            assert!(answer.status < 400, "{post:?}: {answer:?}");
        }
        eventually(PATIENCE, "all is done", || async {
            let all = all_runs(stage).await;
            let names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
            (names == ["another"]).then_some(())
        })
        .await;
    })
    .await;
}

/// Every address without the token gives the same response as one that does not exist.
async fn without_the_token(root: &str, address: &str) {
    let host = [format!("host: {address}")];
    let known = ask(address, ("GET", root), &host, "").await;
    assert_eq!(known.status, 200, "{known:?}");
    assert_headers(&known);
    let token = root.trim_matches('/');
    assert!(token.len() >= 22, "{token} has less than 128 bits");
    let (first, rest) = token.split_at(1);
    let other = if first == "a" { "b" } else { "a" };
    let shorter = &token[..token.len() - 1];
    let wrong = [
        "/".to_owned(),
        "/new".to_owned(),
        "/favicon.ico".to_owned(),
        format!("/{other}{rest}/"),
        format!("/{other}{rest}/new"),
        format!("/{shorter}/"),
        format!("/{token}0/"),
        format!("/x/../{other}{rest}/"),
    ];
    let mut bodies = vec![];
    for path in wrong {
        let answer = ask(address, ("GET", &path), &host, "").await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(!answer.body.contains(token), "{path}");
        bodies.push(answer.body);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

/// The headers that a page must have so that nothing foreign is loaded and the token is not leaked.
fn assert_headers(answer: &Answer) {
    let policy = answer.header("content-security-policy");
    let policy = policy.expect("a policy");
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(policy.contains("base-uri 'none'"), "{policy}");
    for loose in ["unsafe-inline", "unsafe-eval", "*", "http:"] {
        assert!(!policy.contains(loose), "{policy}");
    }
    for (name, value) in [
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
}

/// A foreign name that resolves to this machine is refused.
async fn under_another_name(root: &str, address: &str) {
    let (_, port) = address.split_once(':').expect("a port");
    let foreign = [
        vec![format!("host: example.com:{port}")],
        vec!["host: example.com".to_owned()],
        vec![format!("host: 127.0.0.1.example.com:{port}")],
        vec!["host: 127.0.0.1:1".to_owned()],
        vec![],
    ];
    for headers in foreign {
        let answer = ask(address, ("GET", root), &headers, "").await;
        assert!(
            [400, 403, 421].contains(&answer.status),
            "{headers:?}: {answer:?}"
        );
        assert!(!answer.body.contains("<html"), "{headers:?}: {answer:?}");
    }
}

/// A form on another site is refused, as is a request that no browser would send.
async fn from_elsewhere(sent: &Post, address: &str) {
    let host = format!("host: {address}");
    let (_, port) = address.split_once(':').expect("a port");
    let origins = [
        None,
        Some("null".to_owned()),
        Some("http://example.com".to_owned()),
        Some("http://127.0.0.1:1".to_owned()),
        Some(format!("https://{address}")),
        Some(format!("http://{address}.example.com")),
        Some(format!("http://example.com:{port}")),
    ];
    for origin in origins {
        let origin = origin.map(|origin| format!("origin: {origin}"));
        let headers: Vec<String> = [host.clone()].into_iter().chain(origin).collect();
        let answer = ask(address, ("POST", &sent.path), &headers, &sent.body).await;
        assert_eq!(answer.status, 403, "{headers:?}: {sent:?}: {answer:?}");
    }
}

/// Ends whatever context it is in, and leaves a trace if a page runs it.
const MARKUP: &str =
    r#"</textarea></script>'"><img src=x onerror=window.markup=1><script>window.markup=2</script>"#;

fn markup(image: &str) -> String {
    let path = MARKUP.replace(' ', "/");
    let quoted = |text: &str| json!(text).to_string();
    format!(
        r"
blocks: 2
noiseFloor: false
subjectReadyTimeoutSeconds: 5
variants:
- {{name: native, preset: native}}
- name: marked
  container:
    image: '{image}'
    args: [{0}]
    env: [{{name: MARKUP, value: {0}}}]
workloads: [{{name: marked, path: {1}, expect: {{body: hello}}}}]
sweeps: {{warmLatency: {{requests: 50}}}}
",
        quoted(MARKUP),
        quoted(&format!("/?{path}")),
    )
}

/// Elements that only the run's strings could have created, and whether they had any effect.
const MADE: &str = "
return [
  document.querySelectorAll('img, script:not([src])').length,
  document.querySelectorAll('[onerror], [src=x]').length,
  typeof window.markup,
];
";

async fn assert_only_text(stage: &Stage) {
    let made = stage.browser.evaluated(MADE).await;
    let url = stage.browser.url().await;
    assert_eq!(made, json!([0, 0, "undefined"]), "{url}");
}

#[tokio::test]
#[ignore = "needs Chromium: make test-ui"]
async fn markup_in_a_run_is_shown_as_text() {
    with_dashboard("markup", async |stage| {
        let (browser, namespace) = (&stage.browser, &stage.namespace);
        let spec = markup(&image(&stage.admin.0, "native").await);
        let (first, second) = ("marked", "marked-again");
        runs::create(&stage.admin.0, namespace, first, &spec).await;
        // First live, and then after it has ended.
        browser
            .open(&stage.dashboard.page(&format!("runs/{namespace}/{first}")))
            .await;
        browser.find("#trials td[data-state=failed]").await;
        assert_only_text(stage).await;
        runs::finished(&stage.admin.0, namespace, first, 300).await;
        runs::create(&stage.admin.0, namespace, second, &spec).await;
        runs::finished(&stage.admin.0, namespace, second, 300).await;
        let pages = [
            String::new(),
            format!("runs/{namespace}/{first}"),
            format!("compare?run={namespace}/{first}&run={namespace}/{second}"),
        ];
        let mut shown = 0;
        for page in pages {
            browser.open(&stage.dashboard.page(&page)).await;
            // Live parts arrive after the page.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            assert_only_text(stage).await;
            let text = "return document.body.textContent.includes('onerror=window.markup=1>')";
            shown += usize::from(browser.evaluated(text).await == true);
        }
        assert!(shown > 0, "no page shows what the run is made of");
        typed(stage, &spec).await;
        let exists = browser.count(&row(namespace, first)).await;
        assert_eq!(exists, 0, "the form is no list");
    })
    .await;
}

/// The same strings in the form: as a plan, as an error, and in an address.
async fn typed(stage: &Stage, spec: &str) {
    let browser = &stage.browser;
    let field = "form#start textarea[name=manifest]";
    browser.open(&stage.dashboard.page("new")).await;
    browser.fill(field, &manifest("marked-typed", spec)).await;
    browser.wait_for_text("#plan", "4 trials").await;
    assert_only_text(stage).await;
    let kind = format!("kind: {}", json!(MARKUP));
    browser.fill(field, &kind).await;
    browser.find("#plan.error, #plan .error").await;
    assert_only_text(stage).await;
    browser
        .fill(field, &manifest(&json!(MARKUP).to_string(), spec))
        .await;
    browser
        .wait_for_text("#plan", "onerror=window.markup=1>")
        .await;
    assert_only_text(stage).await;
    browser.click("#create").await;
    browser.wait_for_text("main > .error", "not created").await;
    assert_only_text(stage).await;
    // The refusal of the run is also a console error, and the only one.
    let errors = browser.errors().await;
    let others: Vec<&String> = errors.iter().filter(|one| !one.contains(" 422 ")).collect();
    assert!(others.is_empty(), "{others:#?}");
    let none = kubectl(&["get", "benchmarkruns", "-n", &stage.namespace, "-o", "name"]).await;
    assert_eq!(none.stdout.lines().count(), 2, "{none:?}");
}
