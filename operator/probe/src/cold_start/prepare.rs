//! The state of an image on the node before a sample: set through containerd if the class needs it,
//! and read before and after. None of this is timed.

use std::time::Duration;

use tokio::time::sleep;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_model::containers;
use wasmbench_model::wire::cold_start::{CompileCache, ImageParts};
use wasmbench_model::wire::failure::Failure;

use super::runtime::{patiently, unavailable};
use super::sample::Course;
use crate::output::progress;

/// containerd garbage-collects deleted content a moment later; the sample begins after that.
const SETTLING: Duration = Duration::from_millis(300);

impl Course<'_> {
    /// Puts the node into the state that the class requires. Returns whether runtimes then keep a
    /// compiled form of the image, if that is known.
    pub(super) async fn prepare(&self) -> Result<Option<CompileCache>, Failure> {
        patiently(async || self.try_to_prepare().await).await
    }

    async fn try_to_prepare(&self) -> Result<Option<CompileCache>, Failure> {
        let (Some(runtime), Some(class)) = (&self.runtime, self.request.class) else {
            return Ok(None);
        };
        let image = self.image();
        let containerd = &runtime.containerd;
        let has_changed = match class {
            ColdStartClass::NodeCold => self.remove_image(containerd).await?,
            ColdStartClass::ImageCached => {
                let forgotten = containerd.forget_compiled(image).await;
                forgotten.map_err(|error| unavailable(&error))?
            }
            // Somebody else makes the pods: they find the node as it is.
            ColdStartClass::CompileCached | ColdStartClass::Scaled => false,
        };
        if has_changed {
            sleep(SETTLING).await;
        }
        let found = runtime.containerd.compile_cache(image).await;
        found.map_err(|error| unavailable(&error))
    }

    /// Returns the same after a sample, without changing anything.
    pub(super) async fn compiled_now(&self) -> Option<CompileCache> {
        let runtime = self.runtime.as_ref()?;
        self.request.class?;
        let found = runtime.containerd.compile_cache(self.image()).await;
        found.unwrap_or_else(|error| {
            progress(&format!("what is compiled is not known: {error}"));
            None
        })
    }

    /// Returns what the image consists of, if containerd may be asked. A trial counts without it.
    pub(super) async fn image_parts(&self) -> Option<ImageParts> {
        let runtime = self.runtime.as_ref()?;
        let found = runtime.containerd.image_parts(self.image()).await;
        found.unwrap_or_else(|error| {
            progress(&format!("the image's layers are not known: {error}"));
            None
        })
    }

    /// The subject's image, as the pod names it.
    pub(super) fn image(&self) -> &str {
        let spec = self.request.pod.spec.as_ref();
        let container = spec.and_then(|spec| containers::named(spec, containers::SUBJECT));
        let image = container.and_then(|container| container.image.as_deref());
        image.unwrap_or_default()
    }
}
