//! The process does what all processes of functions do.

const PROGRAM: &str = env!("CARGO_BIN_EXE_action-wasmer");

#[test]
fn a_function_is_called_after_its_code_was_sent() {
    action_suite::a_function_is_called_after_its_code_was_sent(PROGRAM);
}

#[test]
fn code_that_is_no_function_is_refused_and_others_go_on() {
    action_suite::code_that_is_no_function_is_refused_and_others_go_on(PROGRAM);
}

#[test]
fn a_function_that_never_ends_is_stopped_and_others_go_on() {
    action_suite::a_function_that_never_ends_is_stopped_and_others_go_on(PROGRAM);
}

#[test]
fn the_engine_tells_what_it_is_and_how_fast() {
    action_suite::an_engine_tells_what_it_is_and_how_fast(PROGRAM, "wasmer", "Aot");
}
