//! How long a run may take.

use wasmbench_core::admit::admit;

use crate::common;

#[test]
fn a_run_longer_than_allowed_is_refused_with_both_durations() {
    let (mut run, mut config) = (common::parse(common::RUN), common::config());
    assert!(admit(&run, &config).is_ok());
    config.limits.run_seconds = 60;
    run.spec
        .sweeps
        .throughput
        .as_mut()
        .unwrap()
        .duration_seconds = 600;
    let refused = admit(&run, &config).unwrap_err();
    assert_eq!(refused.field, "spec");
    for text in [" h ", "60 s", "spec.blocks"] {
        assert!(refused.message.contains(text), "{refused}");
    }
}
