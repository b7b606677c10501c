//! `wasmtime-serve`: the workloads as a `wasi:http` component under `wasmtime serve`, the server in
//! wasmtime's own command line, in an ordinary pod.

use wasmbench_api::run::{Compile, Engine};

use crate::config::Images;
use crate::variants::{SubjectSpec, compile_env, gateway};

/// What wasmtime prints once it listens.
const LISTENING_LINE: &str = "Serving HTTP on ";

/// When the component is compiled; unless the spec says otherwise, at startup.
pub(super) fn compile(engine: Engine) -> Compile {
    engine.compile.unwrap_or(Compile::Jit)
}

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        env: vec![compile_env(compile(engine))],
        listening_line: Some(LISTENING_LINE.into()),
        ..gateway(&images.wasmtime_serve, images)
    }
}
