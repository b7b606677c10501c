//! The process does what all processes of functions do.

action_suite::process_tests!(env!("CARGO_BIN_EXE_action-wamr"), "wamr", "Interpreter");
