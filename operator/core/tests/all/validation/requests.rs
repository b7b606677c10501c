//! What workloads may send.

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
fn what_services_take_may_be_sent() {
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
