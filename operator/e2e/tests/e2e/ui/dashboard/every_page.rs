//! Properties of every page: it fits the window, has names for everything, is light or dark as the
//! reader prefers, and can be used without a mouse.

use std::path::Path;
use std::time::Duration;

use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, labels};
use wasmbench_e2e::browser::Browser;
use wasmbench_e2e::dashboard::with_dashboard;
use wasmbench_e2e::{answered, eventually};

use super::{SHORT, manifest};

const SCHEDULE: &str = "each-minute";
/// A run takes less than a minute, and the next one waits for the next full minute.
const TWO_RUNS: Duration = Duration::from_mins(8);

/// Lets a schedule start two runs and returns their names.
async fn two_runs(client: &Client, namespace: &str) -> [String; 2] {
    let schedules: Api<BenchmarkSchedule> = Api::namespaced(client.clone(), namespace);
    let runs: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let run: serde_json::Value = serde_yaml::from_str(SHORT).expect("a spec");
    // Three blocks are too few to be trusted, and by default only the last of such runs is kept.
    let spec = json!({
        "schedule": "* * * * *", "untrustworthyRunsHistoryLimit": 3, "template": { "spec": run },
    });
    let spec = serde_json::from_value(spec).expect("a schedule");
    let schedule = BenchmarkSchedule::new(SCHEDULE, spec);
    let created = schedules.create(&PostParams::default(), &schedule).await;
    created.expect("the schedule is created");
    let of_it = ListParams::default().labels(&format!("{}={SCHEDULE}", labels::SCHEDULE));
    let finished = eventually(TWO_RUNS, "two runs end", || async {
        let listed = answered("runs are listed", || runs.list(&of_it)).await;
        let finished = listed.items.iter().filter(|run| run.is_finished());
        let mut names: Vec<String> = finished.map(ResourceExt::name_any).collect();
        names.sort();
        names.try_into().ok()
    })
    .await;
    let stop = Patch::Merge(json!({ "spec": { "suspend": true } }));
    let stopped = schedules
        .patch(SCHEDULE, &PatchParams::default(), &stop)
        .await;
    stopped.expect("the schedule stops");
    finished
}

/// The problems with names on a page, each as a message.
const NAMELESS: &str = r"
const wrong = [];
const all = selector => [...document.querySelectorAll(selector)];
const name_of = e => e.outerHTML.slice(0, 120);
const named = e => e.ariaLabel || e.getAttribute('aria-labelledby');
if (!document.title.trim()) wrong.push('no title');
if (!document.documentElement.lang) wrong.push('no language');
if (all('h1').length !== 1) wrong.push(all('h1').length + ' headings of the first level');
if (all('main').length !== 1) wrong.push(all('main').length + ' main parts');
for (const e of all('input:not([type=hidden]), select, textarea'))
  if (!named(e) && ![...e.labels].some(label => label.textContent.trim())) wrong.push('no label: ' + name_of(e));
for (const e of all('a[href], button, summary'))
  if (!named(e) && !e.textContent.trim()) wrong.push('no text: ' + name_of(e));
for (const e of all('svg'))
  if (e.ariaHidden !== 'true' && !(e.role === 'img' && (named(e) || e.querySelector(':scope > title')))
      && !e.closest('[aria-hidden=true]') && e.checkVisibility()) wrong.push('no name: ' + name_of(e));
for (const e of all('table'))
  if (!e.querySelector('th')) wrong.push('no heading: ' + name_of(e));
const ids = all('[id]').map(e => e.id);
for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) wrong.push('twice: #' + id);
return wrong;
";

/// The widths of a phone, of a larger one, of a tablet, a laptop and a large screen.
const WIDTHS: [u32; 5] = [360, 420, 800, 1200, 2000];

/// What a reader would have to scroll sideways for: of cards nothing, and from the width of a laptop on
/// no list, comparison or plan either.
const CUT_OFF: &str = "
const width = document.documentElement.clientWidth;
const cards = [...document.querySelectorAll('.cards')];
const boxes = width <= 600 ? cards : [];
if (width >= 1200) boxes.push(...cards.map(e => e.parentElement), ...document.querySelectorAll('#plan pre'));
const out = boxes.filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1);
return out.map(e => `${e.scrollWidth} of ${e.clientWidth}: ${e.outerHTML.slice(0, 120)}`);
";

/// Whether the page itself is wider than the window.
const SIDEWAYS: &str = "
const page = document.documentElement;
if (page.scrollWidth <= page.clientWidth) return [];
const out = [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > page.clientWidth + 1);
return [page.scrollWidth + ' of ' + page.clientWidth, ...out.slice(0, 5).map(e => e.outerHTML.slice(0, 120))];
";

/// Text that is hard to read, with less contrast than 4.5 to 1; the page's background comes first.
const CONTRAST: &str = r"
const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
const paint = (over, colour) => {
  context.fillStyle = over; context.fillRect(0, 0, 1, 1);
  context.fillStyle = colour; context.fillRect(0, 0, 1, 1);
  const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
  return `rgb(${r}, ${g}, ${b})`;
};
const light = colour => {
  const [r, g, b] = colour.match(/\d+/g).map(Number).map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const behind = e => {
  const line = [];
  for (let at = e; at; at = at.parentElement) line.unshift(getComputedStyle(at).backgroundColor);
  return line.reduce(paint, dark ? 'rgb(18, 18, 18)' : 'rgb(255, 255, 255)');
};
const weak = new Map();
const judge = (e, colour, text) => {
  const ground = behind(e), ink = paint(ground, colour);
  const [low, high] = [light(ground), light(ink)].sort((a, b) => a - b);
  const contrast = (high + 0.05) / (low + 0.05);
  if (contrast < 4.5) weak.set(`${ink} on ${ground}`, `${contrast.toFixed(1)}: ${text.slice(0, 40)}`);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
  if (!text || e.closest('title, [aria-hidden=true], :disabled') || !e.checkVisibility({ visibilityProperty: true })) continue;
  const style = getComputedStyle(e);
  judge(e, e.closest('svg') ? style.fill : style.color, text);
}
for (const e of document.querySelectorAll('[placeholder]')) judge(e, getComputedStyle(e, '::placeholder').color, e.placeholder);
return [behind(document.body), [...weak].map(pair => pair.join(' is '))];
";

/// The elements that the keyboard should reach.
const REACHABLE: &str = "
const all = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]';
window.reachable = [...document.querySelectorAll(all)].filter(e => !e.disabled && e.checkVisibility());
return window.reachable.length;
";

/// Which of the elements has the focus, and whether the focus is visible.
const FOCUSED: &str = "
const e = document.activeElement, style = getComputedStyle(e);
const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
return [window.reachable.indexOf(e), outlined || style.boxShadow !== 'none', e.outerHTML.slice(0, 120)];
";

/// Links beyond this number are of the same kind as earlier ones.
const MOST_STOPS: u64 = 150;

async fn assert_walkable(browser: &Browser, page: &str) {
    let wanted = browser
        .evaluated(REACHABLE)
        .await
        .as_u64()
        .expect("a number");
    assert!(wanted > 0, "{page}: nothing to reach");
    let wanted = wanted.min(MOST_STOPS);
    let mut reached = std::collections::BTreeSet::new();
    // A scrollable box takes the focus, too.
    for _ in 0..2 * wanted + 5 {
        browser.press_tab().await;
        let stop = browser.evaluated(FOCUSED).await;
        let (index, is_visible, element): (i64, bool, String) =
            serde_json::from_value(stop).expect("three values");
        if let Ok(index) = u64::try_from(index) {
            assert!(is_visible, "{page}: no sign of the focus on {element}");
            reached.insert(index);
        }
    }
    let missing: Vec<u64> = (0..wanted)
        .filter(|index| !reached.contains(index))
        .collect();
    let script = "return arguments[0].map(i => window.reachable[i].outerHTML.slice(0, 120))";
    let elements = browser.evaluated_with(script, vec![json!(missing)]).await;
    assert!(missing.is_empty(), "{page}: not reached: {elements:#}");
}

async fn assert_none(browser: &Browser, page: &str, script: &str) {
    let found = browser.evaluated(script).await;
    assert_eq!(found, json!([]), "{page}: {found:#}");
}

/// Stores what a reader sees in the folder WASMBENCH_LOOKS, if it is set, for somebody to look at.
async fn look(browser: &Browser, name: &str) {
    if let Some(folder) = std::env::var_os("WASMBENCH_LOOKS") {
        let path = Path::new(&folder).join(format!("{name}.png"));
        std::fs::write(&path, browser.picture().await)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

async fn assert_legible(browser: &Browser, page: &str, name: &str) {
    let mut grounds = vec![];
    for scheme in ["light", "dark"] {
        browser.prefer(scheme).await;
        let contrasts = browser.evaluated(CONTRAST).await;
        let (ground, weak): (String, Vec<String>) =
            serde_json::from_value(contrasts).expect("a colour and a list");
        assert!(weak.is_empty(), "{page}, {scheme}: {weak:#?}");
        look(browser, &format!("{name}-{scheme}")).await;
        grounds.push(ground);
    }
    browser.prefer("light").await;
    assert_ne!(grounds[0], grounds[1], "{page} is the same in the dark");
}

#[tokio::test]
#[ignore = "needs Chromium: make test-ui"]
async fn every_page_fits_any_window_is_legible_and_needs_no_mouse() {
    with_dashboard("pages", async |stage| {
        let (browser, namespace) = (&stage.browser, &stage.namespace);
        let [first, second] = two_runs(&stage.admin.0, namespace).await;
        browser
            .open(&stage.dashboard.page(&format!("runs/{namespace}/{first}")))
            .await;
        let deletion = browser.find("#delete").await.prop("href").await;
        let deletion = deletion.expect("an answer").expect("a link");
        let of_it = |path: String| stage.dashboard.page(&path);
        let price = "price=0.10/h&vcpus=4&memory=16Gi";
        let cost = of_it(format!(
            "runs/{namespace}/{first}/cost?{price}&utilisation=60%25"
        ));
        let both = format!("compare?run={namespace}/{first}&run={namespace}/{second}");
        // Each page with the element that must be present before it is checked.
        let pages = [
            (of_it(String::new()), "#schedules"),
            (of_it("new".to_owned()), "form#start"),
            (
                of_it(format!("runs/{namespace}/{first}")),
                "#decision .verdict",
            ),
            (cost, "#costs table"),
            (deletion, "#confirm"),
            (of_it(both), "#comparison table"),
            (
                of_it(format!("schedules/{namespace}/{SCHEDULE}")),
                "#history",
            ),
        ];
        for (page, part) in &pages {
            browser.open(page).await;
            browser.find(part).await;
            if *part == "form#start" {
                plan(browser).await;
            }
            let name: String = part.chars().filter(char::is_ascii_alphanumeric).collect();
            for width in WIDTHS {
                browser.set_size(width, 900).await;
                let shown = format!("{page} at {width} px");
                assert_none(browser, &shown, SIDEWAYS).await;
                assert_none(browser, &shown, CUT_OFF).await;
                assert_legible(browser, &shown, &format!("{name}-{width}")).await;
            }
            browser.set_size(1200, 900).await;
            assert_none(browser, page, NAMELESS).await;
            browser.open(page).await;
            browser.find(part).await;
            assert_walkable(browser, page).await;
        }
    })
    .await;
}

/// Opens a plan with lines of maximum length.
async fn plan(browser: &Browser) {
    let manifest = manifest(&"a-long-name".repeat(5), SHORT);
    browser
        .fill("form#start textarea[name=manifest]", &manifest)
        .await;
    browser.wait_for_text("#plan", "10 trials").await;
}
