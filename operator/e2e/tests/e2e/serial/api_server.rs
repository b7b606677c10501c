//! An API server that dies in the middle of a run. `make selftest` measures how soon the run
//! continues.

use kube::Client;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{outage, runs};

#[tokio::test]
async fn a_run_goes_on_when_the_api_server_is_back_and_loses_nothing() {
    with_namespace("apiserver", |client: Client, namespace| async move {
        runs::create(&client, &namespace, "survivor", outage::RUN).await;
        let paused = outage::survived(&namespace, "survivor").await;
        println!("went on {} s after it was back", paused.as_secs());
        let run = runs::finished(&client, &namespace, "survivor", 300).await;
        let records = runs::records(&client, &run).await;
        runs::assert_measured(&records, outage::TRIALS);
    })
    .await;
}
