//! Points and trials that do not count: what the terminal and the plots show of them.

use wasmbench_core::results::html::report_html;

use crate::support::{hares, records, shown, summary_of};

#[test]
fn an_invalid_point_has_its_reason_in_the_terminal_and_is_crossed_in_the_plots() {
    let mut all = records();
    hares(&mut all).next().unwrap().samples[3].wrong_class = true;
    let summary = summary_of(&all);
    let text = shown(&summary);
    let mut lines = text.lines();
    let hare = lines.find(|line| line.starts_with("hare ")).unwrap();
    assert!(hare.ends_with("CacheClassViolated"), "{text}");
    assert_eq!(text.matches("CacheClassViolated").count(), 1, "{text}");
    assert!(!shown(&summary_of(&records())).contains("INVALID"));

    let html = report_html(&summary, usize::MAX);
    // Of two plots, the four blocks that are left.
    let crossed = "median of its pods, point invalid: CacheClassViolated: ";
    assert_eq!(html.matches(crossed).count(), 2 * 4);
    assert_eq!(html.matches(">invalid</text>").count(), 2);
}

#[test]
fn a_p90_of_fewer_than_100_pods_is_marked_in_the_terminal_as_in_the_report() {
    let p90s = |pods: usize| {
        let mut all = records();
        for document in hares(&mut all) {
            let sample = document.samples[1].clone();
            let samples = document.samples.iter_mut().skip(1);
            samples.for_each(|sample| sample.pods.truncate(1));
            document.samples.truncate(2);
            // Five blocks.
            document.samples.resize(1 + pods / 5, sample);
        }
        let text = shown(&summary_of(&all));
        let mut lines = text.lines();
        let hare = lines.find(|line| line.starts_with("hare ")).unwrap();
        hare.matches('~').count()
    };
    assert_eq!((p90s(95), p90s(100)), (2, 0));
}
