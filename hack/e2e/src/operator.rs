//! What the installed operator was told.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use wasmbench_core::config::{Images, OperatorConfig};

use crate::operator_namespace;

/// The images that the operator knows. In tests the native gateway plays the user's own container.
pub async fn images(client: &Client) -> Images {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &operator_namespace());
    let map = api.get("wasmbench-config").await;
    let map = map.expect("the chart's ConfigMap exists");
    let text = &map.data.expect("data")["config.yaml"];
    let config: OperatorConfig = serde_yaml::from_str(text).expect("it parses");
    config.images
}
