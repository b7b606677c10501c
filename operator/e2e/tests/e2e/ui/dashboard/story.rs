//! How a user compares two runs with the dashboard, from the form to the deletion. It takes the
//! screenshots for the documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use kube::Api;
use serde_json::json;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_e2e::audit::{self, Call};
use wasmbench_e2e::dashboard::{Stage, with_dashboard};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::{PATIENCE, eventually, runs, windows};

use super::{SHORT, assert_marked, manifest, mark, row};

/// The first run, which is typed, and the second.
const FIRST: &str = "quickstart";
const SECOND: &str = "quickstart-again";
/// The largest size of a screenshot in the documentation, in bytes.
const LARGEST: usize = 150_000;
/// The width of a screenshot, in pixels.
const WIDTH: u32 = 1200;

#[tokio::test]
#[ignore = "needs Chromium and an audit log: make test-ui"]
async fn a_run_is_started_followed_compared_and_deleted_in_the_browser() {
    with_dashboard("dashboard", async |stage| {
        start(stage).await;
        follow(stage).await;
        assert_unheard(stage, FIRST).await;
        appear(stage).await;
        assert_unheard(stage, SECOND).await;
        compare(stage).await;
        delete(stage).await;
    })
    .await;
}

/// From the list to the form, which shows a plan as soon as its text is valid.
async fn start(stage: &Stage) {
    let browser = &stage.browser;
    browser.open(&stage.dashboard.page("")).await;
    browser.click("a#new").await;
    browser.arrives("/new").await;
    let text = manifest(FIRST, SHORT);
    let (broken, rest) = text.split_at(text.find("native}").expect("a variant"));
    browser
        .fill("form#start textarea[name=manifest]", broken)
        .await;
    browser.find("#plan.error, #plan .error").await;
    browser
        .type_into("form#start textarea[name=manifest]", rest)
        .await;
    browser.wait_for_text("#plan", "10 trials").await;
    assert_eq!(browser.count("#plan.error, #plan .error").await, 0);
    // High enough to show the plan.
    browser.set_size(WIDTH, 1250).await;
    picture(stage, "dashboard-form").await;
    browser.set_size(WIDTH, 900).await;

    browser.click("#create").await;
    let page = format!("/runs/{}/{FIRST}", stage.namespace);
    browser.arrives(&page).await;
    let created = runs::get(&stage.admin.0, &stage.namespace, FIRST).await;
    let typed: BenchmarkRunSpec = serde_yaml::from_str(SHORT).expect("a spec");
    assert_eq!(json!(created.spec), json!(typed));
}

/// What the run's page shows at one moment.
#[derive(Clone, Debug, Default, serde::Deserialize, PartialEq, Eq)]
struct Shown {
    /// The states of the cells, by row.
    trials: Vec<Vec<String>>,
    /// The number of points in all plots.
    points: usize,
    state: String,
}

const SHOWN: &str = "
const rows = [...document.querySelectorAll('#trials tr')];
const states = row => [...row.querySelectorAll('td[data-state]')].map(cell => cell.dataset.state);
return {
  trials: rows.map(states).filter(states => states.length > 0),
  points: document.querySelectorAll('#report svg .dots path, #report svg path.out').length,
  state: document.querySelector('#state')?.innerText ?? '',
};
";

async fn shown(stage: &Stage) -> Shown {
    let shown = stage.browser.evaluated(SHOWN).await;
    serde_json::from_value(shown).expect("what the script returns")
}

/// Watches the page from the first trial to the end.
async fn follow(stage: &Stage) {
    let browser = &stage.browser;
    browser.find("#trials td[data-state]").await;
    mark(browser).await;
    // A user without a mouse stays here all the time.
    browser
        .evaluated("document.querySelector('#trials summary').focus()")
        .await;
    let deadline = Instant::now() + 2 * PATIENCE;
    let mut observed = vec![];
    let mut is_taken = false;
    loop {
        let now = shown(stage).await;
        let done = now.trials.iter().flatten().filter(|state| is_end(state));
        if !is_taken && done.count() >= 3 && now.points > 0 {
            is_taken = true;
            picture(stage, "dashboard-run").await;
        }
        // The parts of the page are updated one after the other.
        let has_ended = now.state.contains("Completed") && cells(&now).all(is_end);
        if observed.last() != Some(&now) {
            observed.push(now);
        }
        if has_ended {
            break;
        }
        assert!(Instant::now() < deadline, "no end: {observed:#?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_filled_in(&observed);
    assert!(is_taken, "no point before the end: {observed:#?}");
    browser.find("#decision .banner").await;
    for region in ["#report svg", "#decision .verdict", "#doubts"] {
        assert!(browser.count(region).await > 0, "{region}");
    }
    let last = shown(stage).await;
    let run = runs::get(&stage.admin.0, &stage.namespace, FIRST).await;
    let is_valid = |state: &&str| *state == "valid" || runs::is_disturbed(&run);
    let others: Vec<&str> = cells(&last).filter(|state| !is_valid(state)).collect();
    assert!(others.is_empty(), "{others:?}: {run:#?}");
    assert_marked(browser).await;
    let focus = "return document.activeElement.matches('#trials summary')";
    assert_eq!(browser.evaluated(focus).await, true, "the focus is lost");
    browser
        .evaluated("document.querySelector('#decision').scrollIntoView()")
        .await;
    picture(stage, "dashboard-report").await;
}

fn is_end(state: &str) -> bool {
    ["valid", "invalid", "failed", "skipped"].contains(&state)
}

fn cells(shown: &Shown) -> impl Iterator<Item = &str> {
    shown.trials.iter().flatten().map(String::as_str)
}

/// Asserts that there is a row per cell and a column per block, and that no state ever goes
/// backwards.
fn assert_filled_in(observed: &[Shown]) {
    let mut ways: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for shown in observed {
        for (row, states) in shown.trials.iter().enumerate() {
            for (column, state) in states.iter().enumerate() {
                let way = ways.entry((row, column)).or_default();
                if way.last() != Some(&state.as_str()) {
                    way.push(state);
                }
            }
        }
    }
    let places: BTreeSet<(usize, usize)> = ways.keys().copied().collect();
    let wanted = (0..2).flat_map(|row| (0..5).map(move |column| (row, column)));
    assert_eq!(places, wanted.collect(), "{observed:#?}");
    let steps = |state: &&str| match *state {
        "planned" => 0,
        "running" => 1,
        _ => 2,
    };
    for way in ways.values() {
        let steps: Vec<i32> = way.iter().map(steps).collect();
        assert!(steps.is_sorted_by(|a, b| a < b), "{ways:#?}");
        assert!(way.last().is_some_and(|state| is_end(state)), "{ways:#?}");
    }
    // The first trial may run before the page is loaded, and a short one may run between two
    // observations.
    let passed_through = |state: &str| ways.values().filter(|way| way.contains(&state)).count();
    assert!(passed_through("planned") >= 4, "{ways:#?}");
    assert!(passed_through("running") >= 3, "{ways:#?}");
}

/// Asserts that the dashboard's user sent no request to the cluster while windows of this run were
/// timed; only watches were open.
async fn assert_unheard(stage: &Stage, name: &str) {
    let run = runs::get(&stage.admin.0, &stage.namespace, name).await;
    let records = runs::records(&stage.admin.0, &run).await;
    let windows: Vec<(i128, i128)> = records.iter().map(windows::whole).collect();
    assert_eq!(windows.len(), 10);
    let calls = audit::calls_of(&stage.user, audit::log());
    let inside = windows
        .iter()
        .flat_map(|(start, end)| audit::within(&calls, *start, *end));
    let requests: Vec<&Call> = inside.filter(|call| call.verb != "watch").collect();
    let begin = windows.iter().map(|(start, _)| *start).min().expect("one");
    let end = windows.iter().map(|(_, end)| *end).max().expect("one");
    let between = audit::within(&calls, begin, end);
    println!(
        "ui: requests of the dashboard in {} timed windows: {}; {} outside of them",
        windows.len(),
        requests.len(),
        between.len()
    );
    assert!(!calls.is_empty(), "the log has no calls of {}", stage.user);
    assert_eq!(requests, Vec::<&Call>::new());
}

/// A second run appears in the list, which keeps the ticked boxes and the focus.
async fn appear(stage: &Stage) {
    let (browser, namespace) = (&stage.browser, &stage.namespace);
    let (first, second) = (row(namespace, FIRST), row(namespace, SECOND));
    browser.open(&stage.dashboard.page("")).await;
    browser.wait_for_text(&first, "Completed").await;
    mark(browser).await;
    browser.click(&format!("{first} input[name=run]")).await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), manifest(SECOND, SHORT)).expect("written");
    let file = file.path().to_str().expect("a plain path");
    let created = kubectl(&["create", "-n", namespace, "-f", file]).await;
    assert!(created.ok, "{created:?}");
    browser.find(&second).await;
    runs::recorded(&stage.admin.0, namespace, SECOND, 2).await;
    browser.set_size(WIDTH, 400).await;
    picture(stage, "dashboard-list").await;
    browser.set_size(WIDTH, 900).await;
    browser.wait_for_text(&second, "Completed").await;
    let kept = format!(
        "const box = document.querySelector(\"{first} input[name=run]\");
         return [box.checked, box === document.activeElement]"
    );
    assert_eq!(browser.evaluated(&kept).await, json!([true, true]));
    assert_marked(browser).await;
}

async fn compare(stage: &Stage) {
    let (browser, namespace) = (&stage.browser, &stage.namespace);
    let second = row(namespace, SECOND);
    browser.click(&format!("{second} input[name=run]")).await;
    browser.click("#compare").await;
    browser.find("#comparison table").await;
    let url = browser.url().await;
    assert!(url.contains("/compare?"), "{url}");
    let text = browser.text("#comparison").await;
    assert!(text.contains(FIRST) && text.contains(SECOND), "{text}");
}

/// Deletes one run through the pages, and the other while the list is open.
async fn delete(stage: &Stage) {
    let (browser, namespace) = (&stage.browser, &stage.namespace);
    let (first, second) = (row(namespace, FIRST), row(namespace, SECOND));
    browser.open(&stage.dashboard.page("")).await;
    browser.click(&format!("{second} a")).await;
    browser
        .arrives(&format!("/runs/{namespace}/{SECOND}"))
        .await;
    browser.click("#delete").await;
    browser.find("form #confirm").await;
    assert!(is_there(stage, SECOND).await, "asking deletes nothing");
    browser.click("#confirm").await;
    browser.find(&first).await;
    gone(stage, SECOND).await;
    assert_eq!(browser.count(&first).await, 1);

    assert!(second != first);
    mark(browser).await;
    let deleted = kubectl(&["delete", "benchmarkrun", FIRST, "-n", namespace]).await;
    assert!(deleted.ok, "{deleted:?}");
    gone(stage, FIRST).await;
    assert_marked(browser).await;
}

async fn is_there(stage: &Stage, name: &str) -> bool {
    let api: Api<BenchmarkRun> = Api::namespaced(stage.admin.0.clone(), &stage.namespace);
    let found = api.get_opt(name).await.expect("an answer");
    found.is_some()
}

/// Waits until the run is neither in the list nor in the cluster.
async fn gone(stage: &Stage, name: &str) {
    let row = row(&stage.namespace, name);
    eventually(PATIENCE, &format!("{name} is gone"), || async {
        let is_shown = stage.browser.count(&row).await > 0;
        (!is_shown && !is_there(stage, name).await).then_some(())
    })
    .await;
}

/// Takes a screenshot, which must not be too large for the documentation, and keeps it in the
/// folder WASMBENCH_PICTURES.
async fn picture(stage: &Stage, name: &str) {
    let picture = stage.browser.picture().await;
    let size = picture.len();
    println!("ui: {name}.png has {size} bytes");
    assert!(size <= LARGEST, "{name}.png has {size} bytes");
    if let Some(folder) = std::env::var_os("WASMBENCH_PICTURES") {
        let path = Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(&path, picture)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
