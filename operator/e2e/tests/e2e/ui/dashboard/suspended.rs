//! A run that is suspended and resumed through the pages alone.

use std::time::Duration;

use wasmbench_e2e::dashboard::{Stage, with_dashboard};
use wasmbench_e2e::{PATIENCE, eventually, runs};

use super::SHORT;

const RUN: &str = "paused";

async fn is_suspended(stage: &Stage) -> bool {
    let run = runs::get(&stage.admin.0, &stage.namespace, RUN).await;
    run.spec.suspend
}

/// Follows the link and confirms the question; returns once the run's page is shown again.
async fn confirmed(stage: &Stage, link: &str, message: &str) {
    let browser = &stage.browser;
    let before = is_suspended(stage).await;
    browser.click(link).await;
    browser.find("form #confirm").await;
    let question = browser.text("main").await;
    assert!(question.contains(RUN), "{question}");
    assert_eq!(is_suspended(stage).await, before, "asking changes nothing");
    browser.click("#confirm").await;
    let page = format!("/runs/{}/{RUN}", stage.namespace);
    browser.arrives(&page).await;
    browser.wait_for_text("#state", message).await;
    assert_ne!(is_suspended(stage).await, before);
}

#[tokio::test]
#[ignore = "needs Chromium: make test-ui"]
async fn a_run_is_suspended_and_goes_on_by_the_pages() {
    with_dashboard("paused", async |stage| {
        let (browser, namespace) = (&stage.browser, &stage.namespace);
        runs::create(&stage.admin.0, namespace, RUN, SHORT).await;
        let page = format!("runs/{namespace}/{RUN}");
        browser.open(&stage.dashboard.page(&page)).await;
        browser.find("#trials td[data-state=running]").await;
        assert_eq!(browser.count("#resume").await, 0);
        confirmed(stage, "#suspend", "Suspended").await;
        eventually(PATIENCE, "nothing is measured", || async {
            let running = browser.count("#trials td[data-state=running]").await;
            (running == 0).then_some(())
        })
        .await;
        let trials = browser.text("#trials").await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert_eq!(browser.text("#trials").await, trials, "it stands still");
        assert_eq!(browser.count("#suspend").await, 0);
        confirmed(stage, "#resume", "").await;
        browser.wait_for_text("#state", "Completed").await;
        let ends = browser.count("#trials td[data-state=valid], #trials td[data-state=invalid]");
        assert_eq!(ends.await, 6);
    })
    .await;
}
