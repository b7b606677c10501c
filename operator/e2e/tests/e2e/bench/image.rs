//! How much a node pulls to run the operator.

use wasmbench_e2e::others::program;
use wasmbench_e2e::selftest::at_most;

#[test]
#[ignore = "a benchmark: make bench"]
fn the_operators_image_is_small() {
    let archive = program("WASMBENCH_OPERATOR_IMAGE");
    let bytes = std::fs::metadata(archive).expect("an archive").len();
    assert!(at_most("operator-image", bytes as f64 / 1e6, "MB", 25.0));
}
