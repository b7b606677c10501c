//! `kubectl wasmbench`: see [`kubectl_wasmbench`].

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_wasmbench::main(std::env::args_os())
}
