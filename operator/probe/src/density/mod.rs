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
use wasmbench_model::wire::document::Environment;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request::REQUEST_ENV;

use crate::cold_start::{connect, failure, unavailable};
use crate::environment;
use crate::settings::Settings;
use crate::target::Target;

/// Measures one trial. `request` is the JSON text from the environment.
pub fn run(settings: &Settings, request: Option<&str>) -> DensityDocument {
    let mut document = DensityDocument {
        schema: DENSITY_SCHEMA.to_owned(),
        probe_version: env!("CARGO_PKG_VERSION").to_owned(),
        fortio_version: String::new(),
        failure: None,
        steps: vec![],
        stopped: None,
        answer: None,
        image_id: None,
        added: vec![],
        environment: Environment::default(),
    };
    let before = environment::read(settings);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    document.failure = match runtime {
        Ok(runtime) => runtime
            .block_on(measure(settings, request, &mut document))
            .err(),
        Err(error) => Some(unavailable(format!("no runtime: {error}"))),
    };
    document.environment = environment::read(settings).since(&before);
    document
}

async fn measure(
    settings: &Settings,
    request: Option<&str>,
    document: &mut DensityDocument,
) -> Result<(), Failure> {
    let request = parse(request)?;
    climb::climb(connect().await?, settings, &request, document).await
}

fn parse(request: Option<&str>) -> Result<DensityRequest, Failure> {
    let bad = |message| failure(FailureReason::BadRequest, message);
    let text = request.ok_or_else(|| bad(format!("{REQUEST_ENV} is not set")))?;
    let request: DensityRequest = serde_json::from_str(text).map_err(|error| {
        bad(format!(
            "{REQUEST_ENV} holds no request of density: {error}"
        ))
    })?;
    // The path is checked once, before the first pod.
    Target::new([0, 0, 0, 0].into(), request.start.port, &request.start.path)
        .map_err(|error| bad(error.to_string()))?;
    Ok(request)
}
