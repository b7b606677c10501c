//! Prints the CRD.
use kube::CustomResourceExt;
fn main() { println!("{}", serde_yaml::to_string(&wasmbench_api::BenchmarkRun::crd()).unwrap()); }
