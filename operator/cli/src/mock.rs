//! A mock API server for tests.

use std::sync::{Arc, Mutex};

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tower_test::mock;

use crate::cluster::Cluster;

/// Method and path of each request.
pub type Log = Arc<Mutex<Vec<String>>>;

/// A cluster, in namespace `bench`, that answers each path by `answer`, and the requests that reach it.
pub fn cluster(answer: impl Fn(&str) -> (u16, Value) + Send + 'static) -> (Cluster, Log) {
    let (service, mut handle) = mock::pair::<Request<Body>, Response<Body>>();
    let log = Log::default();
    let calls = log.clone();
    tokio::spawn(async move {
        while let Some((request, send)) = handle.next_request().await {
            let path = request.uri().path().to_owned();
            let (code, body) = answer(&path);
            let line = format!("{} {path}", request.method());
            calls.lock().unwrap().push(line);
            let body = Body::from(serde_json::to_vec(&body).unwrap());
            let response = Response::builder().status(code).body(body);
            send.send_response(response.unwrap());
        }
    });
    (
        Cluster::new(Client::new(service, "bench"), "bench".to_owned()),
        log,
    )
}

/// An answer without any objects.
pub fn nothing() -> (u16, Value) {
    let list = json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": []});
    (200, list)
}

/// The answer for what is not there.
pub fn not_found() -> (u16, Value) {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404,
        "reason": "NotFound", "message": "not found",
    });
    (404, status)
}
