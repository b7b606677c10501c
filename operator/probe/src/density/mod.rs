//! Runs a density trial: instances are added step by step. At each step, all must answer, the first
//! is put under light load, and the memory of all is read. A request in, a document out, whatever
//! happens in between.
//!
//! Reading order: [`climb`] (the ladder), [`step`] (what is measured at each step), [`stop`] (when
//! to stop). Pods are created, watched and removed as in [`crate::cold_start`].

mod climb;
mod step;
mod stop;

use wasmbench_model::wire::density::{DENSITY_SCHEMA, DensityDocument, DensityRequest};
use wasmbench_model::wire::failure::Failure;

use crate::cold_start::{block_on, check_sent, connect};
use crate::environment;
use crate::request;
use crate::settings::Settings;

/// Measures one trial. `request` is the JSON text from the environment.
pub fn run(settings: &Settings, request: Option<&str>) -> DensityDocument {
    let mut document = DensityDocument {
        schema: DENSITY_SCHEMA.to_owned(),
        probe_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..DensityDocument::default()
    };
    let before = environment::read(settings);
    document.failure = block_on(measure(settings, request, &mut document)).err();
    document.environment = environment::read(settings).since(&before);
    document
}

async fn measure(
    settings: &Settings,
    request: Option<&str>,
    document: &mut DensityDocument,
) -> Result<(), Failure> {
    let request: DensityRequest = request::parse(request, "density")?;
    check_sent(&request.start)?;
    climb::climb(connect().await?, settings, &request, document).await
}
