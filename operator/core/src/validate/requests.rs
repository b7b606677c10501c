//! What the workloads send: the CRD's rules again, with one more that CEL cannot say, that a header
//! stands once whatever its case.

use std::collections::BTreeSet;

use wasmbench_api::run::{
    BODY_MESSAGE, BODY_METHOD_MESSAGE, BenchmarkRunSpec, Expectation, HEAD_MESSAGE, MAX_BODY_BYTES,
    MAX_TEXT, MIX_CONNECTIONS_MESSAGE, MIX_MESSAGE, MIX_SAME_MESSAGE, MIX_SWEEPS_MESSAGE,
    MIXES_MESSAGE, Method, OwnContainer, POINTER_MESSAGE, TEXT_MESSAGE, TWIN, Workload,
};
use wasmbench_model::points::{connections_of, points_of};
use wasmbench_model::wire::record::Point;

use crate::validate::names::unique;
use crate::validate::{Invalid, invalid};

/// Most requests of all workloads, those of mixes included.
const MOST_PARTS: usize = 16;
/// Longest JSON Pointer, in characters, so that a run with as many as it may have stays below 64 KiB.
const MAX_POINTER: usize = 96;

/// Checks what each workload sends, and that the texts of all of them are short enough.
pub(super) fn check(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    spec.workloads
        .iter()
        .try_for_each(|workload| check_mix(spec, workload))?;
    let parts: Vec<Workload> = spec.workloads.iter().flat_map(Workload::parts).collect();
    if parts.len() > MOST_PARTS {
        return Err(invalid("spec.workloads", MIXES_MESSAGE));
    }
    parts.iter().try_for_each(check_workload)?;
    // The twin repeats what the baseline says.
    let variants = spec.variants.iter().filter(|one| one.name != TWIN);
    let containers = variants.filter_map(|one| one.container.as_ref());
    let run: usize = containers.map(of_container).sum();
    let sent: usize = parts.iter().map(of_workload).sum();
    if run + sent > MAX_TEXT {
        return Err(invalid("spec.workloads", TEXT_MESSAGE));
    }
    Ok(())
}

fn check_mix(spec: &BenchmarkRunSpec, workload: &Workload) -> Result<(), Invalid> {
    let requests = &workload.requests;
    if requests.is_empty() {
        return Ok(());
    }
    let field = format!("spec.workloads[{}].requests", workload.name);
    unique(&field, requests.iter().map(|one| one.name.as_str()))?;
    let plain = Workload {
        requests: vec![],
        path: "/".to_owned(),
        method: Method::Get,
        headers: vec![],
        body: None,
        body_bytes: None,
        body_from: None,
        action: None,
        expect: Expectation::default(),
        ..workload.clone()
    };
    let is_plain = Workload {
        requests: vec![],
        ..workload.clone()
    } == plain;
    if !is_plain || requests.len() < 2 || requests.iter().any(|one| one.weight == 0) {
        return Err(invalid(field, MIX_MESSAGE));
    }
    if requests.iter().any(|one| one.expect.same_across_variants) {
        return Err(invalid(field, MIX_SAME_MESSAGE));
    }
    let points = points_of(spec);
    if points.iter().any(|point| point.probe_creates_pods()) {
        return Err(invalid("spec.sweeps", MIX_SWEEPS_MESSAGE));
    }
    // Payload loads with requests of its own.
    let with_mix = points.iter().filter(|point| **point != Point::Payload);
    let mut loads = with_mix.filter_map(|point| connections_of(&spec.sweeps, *point));
    if loads.any(|(connections, _)| (connections as usize) < requests.len()) {
        return Err(invalid("spec.sweeps", MIX_CONNECTIONS_MESSAGE));
    }
    Ok(())
}

fn check_workload(workload: &Workload) -> Result<(), Invalid> {
    let field = |name: &str| format!("spec.workloads[{}].{name}", workload.name);
    check_headers(&field("headers"), workload)?;
    let generated = workload.body_bytes;
    let bodies = [
        workload.body.is_some(),
        generated.is_some(),
        workload.body_from.is_some(),
    ];
    let bodies = bodies.iter().filter(|is_there| **is_there).count();
    if bodies > 1 {
        return Err(invalid(field("body"), BODY_MESSAGE));
    }
    if bodies > 0 && !workload.method.takes_body() {
        return Err(invalid(field("method"), BODY_METHOD_MESSAGE));
    }
    if generated.is_some_and(|bytes| !(1..=MAX_BODY_BYTES).contains(&bytes)) {
        let message = format!("a body has from 1 to {MAX_BODY_BYTES} bytes: choose another number");
        return Err(invalid(field("bodyBytes"), message));
    }
    let mut places = workload.expect.json.keys();
    if places.any(|place| !is_pointer(place)) {
        return Err(invalid(field("expect.json"), POINTER_MESSAGE));
    }
    if workload.method == Method::Head && workload.expect.looks_at_body() {
        return Err(invalid(field("expect"), HEAD_MESSAGE));
    }
    Ok(())
}

/// Whether a text is a JSON Pointer that is short enough.
fn is_pointer(text: &str) -> bool {
    (text.is_empty() || text.starts_with('/')) && text.chars().count() <= MAX_POINTER
}

fn check_headers(field: &str, workload: &Workload) -> Result<(), Invalid> {
    let mut seen = BTreeSet::new();
    for header in &workload.headers {
        if let Some(why) = header.wrong() {
            return Err(invalid(format!("{field}[{}]", header.name), why));
        }
        if !seen.insert(header.name.to_ascii_lowercase()) {
            let message = format!(
                "'{}' is listed twice: put all of its values into one, separated by commas",
                header.name
            );
            return Err(invalid(field, message));
        }
    }
    Ok(())
}

/// Characters of the texts of a container that are bounded together.
fn of_container(own: &OwnContainer) -> usize {
    let lists = own.command.iter().chain(&own.args);
    let variables = own.env.iter().flat_map(|one| [&one.name, &one.value]);
    lists
        .chain(variables)
        .map(|text| text.chars().count())
        .sum()
}

/// The same of a workload.
fn of_workload(workload: &Workload) -> usize {
    let headers = workload.headers.iter();
    let headers = headers.flat_map(|one| [&one.name, &one.value]);
    let expect = &workload.expect;
    let expected = [&expect.body, &expect.body_prefix, &expect.body_suffix];
    let texts = headers.chain(&workload.body);
    let texts = texts.chain(expected.into_iter().flatten());
    texts.map(|text| text.chars().count()).sum()
}
