//! What workloads may send.

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{Header, Method};
use wasmbench_core::validate::validate;

use super::refused;
use crate::common;

fn header(name: &str, value: &str) -> Header {
    Header {
        name: name.into(),
        value: value.into(),
    }
}

/// Why a request with this header is refused.
fn refused_header(name: &str, value: &str) -> String {
    let invalid = refused(|run| run.spec.workloads[0].headers = vec![header(name, value)]);
    assert!(
        invalid.field.starts_with("spec.workloads[greet].headers"),
        "{invalid}"
    );
    invalid.message
}

#[test]
fn headers_that_frame_a_message_or_lead_it_elsewhere_are_refused_whatever_their_case() {
    for name in [
        "Connection",
        "Content-Length",
        "Transfer-Encoding",
        "Expect",
        "Upgrade",
        "TE",
        "Trailer",
        "Proxy-Authorization",
        "Proxy-Connection",
    ] {
        for name in [name.to_owned(), name.to_lowercase(), name.to_uppercase()] {
            let message = refused_header(&name, "x");
            assert!(message.contains("remove the header"), "{name}: {message}");
        }
    }
}

#[test]
fn headers_that_would_end_before_they_end_are_refused() {
    for name in ["", "X Y", "X:", "X\r\n", "\u{e4}"] {
        let message = refused_header(name, "x");
        assert!(message.contains("X-Request-Id"), "{name:?}: {message}");
    }
    for value in ["a\r\nHost: b", "a\n", "a\0", "\t", " a", "a ", "\u{e4}"] {
        let message = refused_header("X-Trace", value);
        assert!(
            message.contains("control characters"),
            "{value:?}: {message}"
        );
    }
    let twice = refused(|run| {
        run.spec.workloads[0].headers = vec![header("Accept", "a"), header("accept", "b")];
    });
    assert!(twice.message.contains("separated by commas"), "{twice}");
}

#[test]
fn headers_and_bodies_that_services_take_may_be_sent() {
    let mut run = common::parse(common::RUN);
    let workload = &mut run.spec.workloads[0];
    workload.method = Method::Post;
    workload.headers = vec![
        header("Host", "shop.example.com"),
        header("Authorization", "Bearer a.b-c=="),
        header("Content-Type", "application/json; charset=utf-8"),
        header("X-Empty", ""),
    ];
    workload.body = Some("{\"items\": [1, 2, 3], \"name\": \"\u{e4}\"}\r\n".into());
    validate(&run, &common::config()).unwrap();
}

#[test]
fn a_body_needs_a_method_that_sends_one() {
    for method in [Method::Get, Method::Head] {
        let invalid = refused(|run| {
            run.spec.workloads[0].method = method;
            run.spec.workloads[0].expect = serde_json::from_str("{}").unwrap();
            run.spec.workloads[0].body_bytes = Some(1);
        });
        assert_eq!(invalid.field, "spec.workloads[greet].method");
    }
    let both = refused(|run| {
        run.spec.workloads[0].method = Method::Put;
        run.spec.workloads[0].body_bytes = Some(1);
        run.spec.workloads[0].body = Some(String::new());
    });
    assert!(both.message.contains("one body"), "{both}");
    let large = refused(|run| {
        run.spec.workloads[0].method = Method::Put;
        run.spec.workloads[0].body_bytes = Some((1 << 20) + 1);
    });
    assert!(large.message.contains("1048576"), "{large}");
}

#[test]
fn a_place_in_json_is_a_pointer_and_an_answer_to_head_has_none() {
    let json = |place: &str| serde_json::json!({ "json": { place: 42 } });
    for place in ["total", ".total", &format!("/{}", "a".repeat(96))] {
        let invalid = refused(|run| {
            run.spec.workloads[0].expect = serde_json::from_value(json(place)).unwrap();
        });
        assert_eq!(
            invalid.field, "spec.workloads[greet].expect.json",
            "{place}"
        );
    }
    for place in ["", "/", "/items/0/a~1b"] {
        let mut run = common::parse(common::RUN);
        run.spec.workloads[0].expect = serde_json::from_value(json(place)).unwrap();
        validate(&run, &common::config()).unwrap();
    }
    let head = refused(|run| {
        run.spec.workloads[0].method = Method::Head;
        run.spec.workloads[0].expect = serde_json::from_value(json("/a")).unwrap();
    });
    assert!(head.message.contains("HEAD has no body"), "{head}");
}

/// The fixture with a mix of these requests as its first workload.
fn mix(requests: &str) -> BenchmarkRun {
    let mut run = common::parse(common::RUN);
    let text = format!("{{name: greet, requests: {requests}}}");
    run.spec.workloads[0] = serde_yaml::from_str(&text).unwrap();
    run.spec.sweeps = serde_yaml::from_str("throughput: {connections: [4]}").unwrap();
    run
}

const HOME_AND_ORDER: &str = "[{name: home, weight: 7}, \
    {name: order, weight: 3, method: POST, path: /order, body: '{}', expect: {status: 201}}]";

#[test]
fn a_mix_has_its_requests_and_nothing_else() {
    validate(&mix(HOME_AND_ORDER), &common::config()).unwrap();
    let parts = mix(HOME_AND_ORDER).spec.workloads[0].parts();
    let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
    assert_eq!(names, ["greet.home", "greet.order"]);
    assert_eq!(
        (parts[1].method, parts[1].expect.status),
        (Method::Post, 201)
    );
    let refused = |change: &dyn Fn(&mut BenchmarkRun)| {
        let mut run = mix(HOME_AND_ORDER);
        change(&mut run);
        validate(&run, &common::config()).unwrap_err().message
    };
    let path = refused(&|run| run.spec.workloads[0].path = "/x".into());
    assert!(path.contains("put them into requests"), "{path}");
    let same = refused(&|run| {
        run.spec.workloads[0].requests[1]
            .expect
            .same_across_variants = true;
    });
    assert!(same.contains("not compared across variants"), "{same}");
    let header_of_one = refused(&|run| {
        run.spec.workloads[0].requests[1].headers = vec![header("TE", "trailers")];
    });
    assert!(
        header_of_one.contains("remove the header"),
        "{header_of_one}"
    );
    let twice = refused(&|run| run.spec.workloads[0].requests[1].name = "home".into());
    assert!(twice.contains("listed twice"), "{twice}");
}

#[test]
fn a_mix_needs_a_connection_for_each_request_and_a_sweep_that_loads() {
    let with = |sweeps: &str| {
        let mut run = mix(HOME_AND_ORDER);
        run.spec.sweeps = serde_yaml::from_str(sweeps).unwrap();
        validate(&run, &common::config()).map_err(|invalid| invalid.message)
    };
    with("warmLatency: {connections: 2}").unwrap();
    let few = with("{throughput: {connections: [1, 4]}}").unwrap_err();
    assert!(few.contains("raise connections"), "{few}");
    let cold = with("coldStart: {samples: 5}").unwrap_err();
    assert!(cold.contains("no mix"), "{cold}");
    let mut payload = mix(HOME_AND_ORDER);
    payload.spec.workloads.truncate(1);
    payload.spec.sweeps = serde_yaml::from_str("payload: {connections: 1}").unwrap();
    validate(&payload, &common::config()).expect("its requests are its own");
    let many: Vec<String> = (0..16)
        .map(|number| format!("{{name: n{number}, weight: 1}}"))
        .collect();
    let mut run = mix(&format!("[{}]", many.join(", ")));
    run.spec.sweeps = serde_yaml::from_str("throughput: {connections: [50]}").unwrap();
    let invalid = validate(&run, &common::config()).unwrap_err();
    assert!(
        invalid.message.contains("more than 16"),
        "with the other workload: {invalid}"
    );
}

#[test]
fn schemes_that_are_not_spoken_are_refused_with_a_way_out() {
    let with = |run: &mut BenchmarkRun, scheme: &str| {
        let mut variants = run.spec.variants.iter_mut();
        let own = variants.find_map(|one| one.container.as_mut());
        let own = own.expect("the fixture has a container");
        own.scheme = serde_json::from_value(scheme.into()).unwrap();
    };
    let mut https = common::parse(common::RUN);
    with(&mut https, "HTTPS");
    validate(&https, &common::config()).unwrap();
    for scheme in ["H2C", "GRPC"] {
        let refused = refused(|run| with(run, scheme));
        assert_eq!(
            refused.field, "spec.variants[2].container.scheme",
            "{scheme}"
        );
        assert!(refused.message.contains("proxy"), "{refused}");
    }
}

#[test]
fn texts_of_containers_and_requests_are_bounded_together() {
    let with = |characters: usize| {
        let mut run = common::parse(common::RUN);
        let own = run
            .spec
            .variants
            .iter_mut()
            .find_map(|one| one.container.as_mut());
        let own = own.expect("the fixture has a container");
        (own.command, own.args, own.env) = (vec![], vec!["\u{e4}".repeat(1000)], vec![]);
        let workload = &mut run.spec.workloads[0];
        workload.method = Method::Post;
        workload.expect.body = Some("hello".into());
        workload.headers = vec![header("X", &"v".repeat(999))];
        workload.body = Some("\u{e4}".repeat(characters - 2005));
        validate(&run, &common::config())
    };
    with(16_384).unwrap();
    let invalid = with(16_385).unwrap_err();
    assert!(invalid.message.contains("16384 characters"), "{invalid}");
}
