//! The chart's admission policies, taken away for a while.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use k8s_openapi::api::admissionregistration::v1::ValidatingAdmissionPolicyBinding;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};

/// Runs `test` while the chart's policy of this name is not bound. It may be in force for a moment longer.
pub async fn without_policy(client: &Client, name: &str, test: impl Future<Output = ()>) {
    let api: Api<ValidatingAdmissionPolicyBinding> = Api::all(client.clone());
    let name = format!("wasmbench-{name}");
    let mut binding = api.get(&name).await.expect("the chart's binding exists");
    let removed = api.delete(&name, &DeleteParams::default()).await;
    removed.expect("the binding is removed");
    let tested = AssertUnwindSafe(test).catch_unwind().await;
    binding.metadata.resource_version = None;
    binding.metadata.uid = None;
    let restored = api.create(&PostParams::default(), &binding).await;
    restored.expect("the binding is restored");
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
}
