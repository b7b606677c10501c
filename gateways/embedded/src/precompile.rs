//! Part of the image build: reads a module and writes its code, for `--engine-compile Aot`.

use gateway_embedded::{Allocator, Compile, Mode};
use std::io::Write as _;
use std::process::ExitCode;

/// The argument that precedes those of this command; not an option, so that no option can be
/// mistaken for it.
const COMMAND: &str = "precompile";

/// Runs `precompile ALLOCATOR MODULE OUTPUT` if these are the arguments.
pub fn precompiled(mut arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    let rest: Vec<String> = arguments.collect();
    Some(match write(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "wasmbench: embedded: {message}");
            ExitCode::FAILURE
        }
    })
}

fn write(arguments: &[String]) -> Result<(), String> {
    let [allocator, module, output] = arguments else {
        return Err("precompile takes ALLOCATOR MODULE OUTPUT".to_owned());
    };
    let mode = Allocator::from_name(allocator)
        .and_then(|allocator| Mode::new(allocator, allocator.usual_memory()))
        .ok_or_else(|| format!("'{allocator}' is not OnDemand or Pooling"))?;
    let bytes =
        std::fs::read(module).map_err(|error| format!("could not read {module}: {error}"))?;
    let code = mode
        .compiled(Compile::Aot)
        .prepare(&bytes)
        .map_err(|error| format!("could not compile {module}: {error:#}"))?;
    std::fs::write(output, code).map_err(|error| format!("could not write {output}: {error}"))
}
