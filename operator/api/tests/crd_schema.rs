//! What every field of the generated CRDs must have: a description for `kubectl explain`, and
//! bounds, without which the API server could neither reject nonsense nor estimate the cost of the
//! CEL rules.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on panics"
)]

use kube::CustomResourceExt;
use kube_cel::{CompiledSchema, compile_schema, estimate_rule_cost};
use serde_json::Value;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule};

/// Fields of the spec that may change after creation.
const MUTABLE: [&str; 2] = ["suspend", "ttlSecondsAfterFinished"];
/// Formats that bound a string: a time has a fixed shape.
const BOUNDED_FORMATS: [&str; 1] = ["date-time"];
/// Formats that the API server knows; it warns about others.
const KNOWN_FORMATS: [&str; 5] = ["date-time", "double", "float", "int32", "int64"];

fn schema_of(crd: &impl serde::Serialize) -> Value {
    let crd = serde_json::to_value(crd).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

/// The schema of runs.
fn schema() -> Value {
    schema_of(&BenchmarkRun::crd())
}

fn schemas() -> [Value; 2] {
    [schema(), schema_of(&BenchmarkSchedule::crd())]
}

/// Calls `look` for each schema below `schema`, with its path.
fn walk(schema: &Value, path: &str, look: &mut impl FnMut(&str, &Value)) {
    look(path, schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        walk(field, &format!("{path}.{name}"), look);
    }
    if schema["items"].is_object() {
        walk(&schema["items"], &format!("{path}[]"), look);
    }
    if schema["additionalProperties"].is_object() {
        walk(
            &schema["additionalProperties"],
            &format!("{path}{{}}"),
            look,
        );
    }
}

/// Paths of all schemas that `wrong` complains about.
fn paths_where(wrong: impl Fn(&str, &Value) -> bool) -> Vec<String> {
    let (mut found, mut count) = (vec![], 0);
    for schema in schemas() {
        walk(&schema, "", &mut |path, schema| {
            count += 1;
            if wrong(path, schema) {
                found.push(path.to_owned());
            }
        });
    }
    assert!(count >= 200, "only {count} schemas: the walk misses some");
    found
}

fn is_field(path: &str) -> bool {
    !path.ends_with("[]") && !path.ends_with("{}")
}

#[test]
fn every_field_has_a_description() {
    let undescribed = paths_where(|path, schema| {
        is_field(path)
            && schema["description"]
                .as_str()
                .is_none_or(|text| text.len() < 10)
    });
    assert!(
        undescribed.is_empty(),
        "write a doc comment for: {undescribed:#?}"
    );
}

#[test]
fn every_string_has_a_length_or_a_closed_set_of_values() {
    let unbounded = paths_where(|_, schema| {
        let format = schema["format"].as_str();
        schema["type"] == "string"
            && schema["maxLength"].is_null()
            && schema["enum"].is_null()
            && format.is_none_or(|format| !BOUNDED_FORMATS.contains(&format))
    });
    assert!(
        unbounded.is_empty(),
        "add #[schemars(length(max = ..))] to: {unbounded:#?}"
    );
}

#[test]
fn every_list_has_a_length_and_a_merge_strategy() {
    let unbounded = paths_where(|_, schema| {
        schema["type"] == "array"
            && (schema["maxItems"].is_null() || schema["x-kubernetes-list-type"].is_null())
    });
    assert!(
        unbounded.is_empty(),
        "add length(max = ..) and a merge strategy to: {unbounded:#?}"
    );
}

#[test]
fn every_map_has_a_size() {
    let unbounded = paths_where(|_, schema| {
        schema["additionalProperties"].is_object() && schema["maxProperties"].is_null()
    });
    assert!(unbounded.is_empty(), "add maxProperties to: {unbounded:#?}");
}

#[test]
fn every_number_that_a_user_writes_has_a_range() {
    let unbounded = paths_where(|path, schema| {
        let number = schema["type"] == "integer" || schema["type"] == "number";
        path.starts_with(".spec")
            && number
            && (schema["minimum"].is_null() || schema["maximum"].is_null())
    });
    assert!(
        unbounded.is_empty(),
        "add #[schemars(range(..))] to: {unbounded:#?}"
    );
}

#[test]
fn the_api_server_supports_every_format() {
    let unknown = paths_where(|_, schema| {
        schema["format"]
            .as_str()
            .is_some_and(|format| !KNOWN_FORMATS.contains(&format))
    });
    assert!(
        unknown.is_empty(),
        "the API server warns about the format of: {unknown:#?}"
    );
}

#[test]
fn no_field_accepts_unknown_fields() {
    let open = paths_where(|_, schema| {
        !schema["x-kubernetes-preserve-unknown-fields"].is_null()
            || (schema["type"] == "object"
                && schema["properties"].is_null()
                && schema["additionalProperties"].is_null())
    });
    assert!(
        open.is_empty(),
        "the list of fields is closed on purpose: {open:#?}"
    );
}

/// Calls `look` with each rule, its path and the compiled schema that it belongs to.
fn rules(schema: &Value, look: &mut impl FnMut(&str, &Value, &CompiledSchema)) {
    walk(schema, "", &mut |path, schema| {
        let compiled = compile_schema(schema);
        for rule in schema["x-kubernetes-validations"]
            .as_array()
            .into_iter()
            .flatten()
        {
            look(path, rule, &compiled);
        }
    });
}

#[test]
fn every_rule_compiles_and_is_cheap_enough_for_the_api_server() {
    let mut count = 0;
    for schema in schemas() {
        rules(&schema, &mut |path, rule, compiled| {
            count += 1;
            let errors = compiled.compilation_errors();
            assert!(errors.is_empty(), "{path}: {errors:?}");
            let text = rule["rule"].as_str().unwrap();
            let warnings = estimate_rule_cost(text, compiled);
            assert!(warnings.is_empty(), "{path}: {warnings:#?}");
        });
    }
    assert!(count >= 9, "only {count} rules: the walk misses some");
}

#[test]
fn every_rule_has_a_message_of_its_own() {
    // The same rule may stand at several fields.
    let mut messages = std::collections::BTreeMap::new();
    rules(&schema(), &mut |path, rule, _| {
        let message = rule["message"].as_str().unwrap_or_default().to_owned();
        assert!(
            message.len() > 20,
            "{path}: a rule without a message: {rule}"
        );
        let other = messages.insert(message, rule["rule"].clone());
        assert!(
            other.is_none_or(|other| other == rule["rule"]),
            "{path}: two rules with one message: {rule}"
        );
    });
    assert!(messages.len() >= 9, "{messages:?}");
}

#[test]
fn spec_fields_are_immutable_unless_listed_as_mutable() {
    let schema = schema();
    let spec = &schema["properties"]["spec"];
    let fields: Vec<&String> = spec["properties"].as_object().unwrap().keys().collect();
    let rules = spec["x-kubernetes-validations"].as_array().unwrap();
    let rule = rules
        .iter()
        .filter_map(|rule| rule["rule"].as_str())
        .find(|rule| rule.contains("oldSelf"))
        .unwrap();
    assert!(fields.len() > MUTABLE.len(), "{fields:?}");
    for field in fields {
        let guarded = rule.contains(&format!("self.{field} == oldSelf.{field}"));
        let mutable = MUTABLE.contains(&field.as_str());
        assert_ne!(
            guarded, mutable,
            "spec.{field} must either stand in IMMUTABLE_RULE or be meant to change"
        );
    }
}

/// The path of a template's spec in the schema of schedules.
const TEMPLATE: &str = "/properties/spec/properties/template/properties/spec";

#[test]
fn a_template_has_every_rule_of_a_run_except_immutability() {
    let [run, schedule] = schemas();
    let texts = |schema: &Value| {
        let mut texts = vec![];
        rules(schema, &mut |path, rule, _| {
            texts.push(format!("{path}: {}", rule["rule"]));
        });
        texts
    };
    let of_run = texts(&run["properties"]["spec"]).into_iter();
    let wanted: Vec<String> = of_run.filter(|text| !text.contains("oldSelf")).collect();
    let template = schedule.pointer(TEMPLATE).unwrap();
    assert_eq!(texts(template), wanted);
    let fields = |schema: &Value| schema["properties"].clone();
    assert_eq!(fields(template), fields(&run["properties"]["spec"]));
}
