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
