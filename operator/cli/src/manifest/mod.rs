//! The check of a file before anything is created from it: against the schema and the rules of the
//! CRD of this build, offline. The text of a file in, its runs and schedules or all that is wrong
//! with it out; of other objects only what [`placeholder`] finds. Pure: it reads nothing, and an administrator's limits are unknown to it.

pub mod image;
mod metadata;
pub mod name;
mod place;
mod placeholder;
mod structure;

use std::fmt;
use std::sync::LazyLock;

use kube::CustomResourceExt as _;
use kube_cel::{ValidationErrors, Validator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, GROUP, VERSION};

use crate::manifest::place::line_of;
use crate::manifest::structure::nearest;
use crate::objects::placed_objects;

/// The kinds that are checked by their schema.
const KINDS: [&str; 2] = ["BenchmarkRun", "BenchmarkSchedule"];
/// The marker of what `init` could not know.
pub const PLACEHOLDER: &str = "CHANGE-ME";

static RUN: LazyLock<Value> = LazyLock::new(|| schema(serde_json::to_value(BenchmarkRun::crd())));
static SCHEDULE: LazyLock<Value> =
    LazyLock::new(|| schema(serde_json::to_value(BenchmarkSchedule::crd())));

/// The schema of the first version of a CRD.
fn schema(crd: serde_json::Result<Value>) -> Value {
    let mut crd = crd.unwrap_or_default();
    let schema = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema");
    schema.map(Value::take).unwrap_or_default()
}

/// Something that is wrong with a file, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, such as `spec.variants[0].name`; empty for the whole file.
    pub field: String,
    /// What is wrong, and how to write it.
    pub message: String,
    /// The line of the file, beginning with 1, if it is known.
    pub line: Option<usize>,
}

impl Problem {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
            line: None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

/// All that is wrong with a file; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The runs and schedules of a file, or all that is wrong with them. They are as written: the API
/// server is to see every field, too.
pub fn checked(text: &str) -> Result<Vec<Value>, Problems> {
    let unreadable = |error: String| {
        let message = format!("it does not read as Kubernetes objects in JSON or YAML: {error}");
        Problems(vec![Problem::new("", message)])
    };
    let objects = placed_objects(text).map_err(unreadable)?;
    let (mut ours, mut problems) = (vec![], vec![]);
    for object in objects {
        let own = problems_of(&object.value);
        let is_ours = own.is_some();
        let found = own.unwrap_or_else(|| placeholder::problems(&object.value));
        let placed = found.into_iter().map(|problem| {
            let field = format!("{}{}", object.within, problem.field);
            let line = line_of(text, object.document, &field);
            Problem { line, ..problem }
        });
        problems.extend(placed);
        if is_ours {
            ours.push(object.value);
        }
    }
    if problems.is_empty() {
        Ok(ours)
    } else {
        Err(Problems(problems))
    }
}

/// One of the [`checked`] objects with its type.
pub fn typed<T: DeserializeOwned>(object: &Value) -> Result<T, Problems> {
    let typed = serde_json::from_value(object.clone());
    typed.map_err(|error| Problems(vec![Problem::new("", error.to_string())]))
}

/// What is wrong with an object; `None` if it is not of our API.
fn problems_of(object: &Value) -> Option<Vec<Problem>> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let in_group = version.split('/').next() == Some(GROUP);
    let schema = match kind {
        "BenchmarkRun" => &*RUN,
        "BenchmarkSchedule" => &*SCHEDULE,
        _ => {
            if !in_group {
                return None;
            }
            let meant = nearest(kind, KINDS).unwrap_or(KINDS[0]);
            let message = format!("there is no \"{kind}\" in {GROUP}; write {meant}");
            return Some(vec![Problem::new("kind", message)]);
        }
    };
    let mut found = vec![];
    let expected = format!("{GROUP}/{VERSION}");
    if version != expected {
        let message = format!("\"{version}\" is not served; write {expected}");
        found.push(Problem::new("apiVersion", message));
    }
    found.extend(metadata::problems(object));
    let mut written = object.clone();
    if let Some(fields) = written.as_object_mut() {
        // The API server takes no status from a file.
        fields.remove("status");
    }
    let wrong = structure::problems(schema, &written, "");
    // As on the API server, the rules are for objects of the right shape.
    if wrong.is_empty() {
        found.extend(broken_rules(schema, &written));
    }
    found.extend(wrong);
    Some(found)
}

/// The path of the field `name` in the one at the path `outer`.
fn within(outer: &str, name: &str) -> String {
    match outer {
        "" => name.to_owned(),
        _ => format!("{outer}.{name}"),
    }
}

/// What the CRD's rules refuse.
fn broken_rules(schema: &Value, object: &Value) -> Vec<Problem> {
    let checked = Validator::new().validate(schema, object, None);
    let refused = checked.err().map(ValidationErrors::into_vec);
    let problem = |one: kube_cel::ValidationError| Problem::new(one.field_path, one.message);
    refused.into_iter().flatten().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with `more` in its spec, which begins in line 5.
    fn run(more: &str) -> String {
        format!(
            "apiVersion: wasmbench.dev/v1alpha1\nkind: BenchmarkRun\nmetadata: {{name: own}}\nspec:\n{more}\n  \
             variants:\n    - name: native\n      preset: native\n    - name: embedded\n      preset: wasmtime-embedded\n  \
             sweeps: {{warmLatency: {{}}}}\n"
        )
    }

    const WORKLOADS: &str = "  workloads: [{name: hello}]";

    fn refusal(text: &str) -> String {
        checked(text).unwrap_err().to_string()
    }

    #[test]
    fn a_correct_run_is_returned_as_written_and_foreign_objects_are_left_out() {
        let text = format!(
            "kind: Namespace\nmetadata: {{name: a}}\n---\n{}",
            run(WORKLOADS)
        );
        let found = checked(&text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["metadata"]["name"], "own");
        assert!(typed::<BenchmarkRun>(&found[0]).is_ok());
    }

    #[test]
    fn an_unknown_field_is_refused_with_the_nearest_known_one_and_its_line() {
        let text = run(&format!("  blockz: 3\n{WORKLOADS}"));
        assert_eq!(
            refusal(&text),
            "spec.blockz: there is no such field; did you mean blocks? (line 5)"
        );
        let text = run("  workloads:\n    - name: hello\n      metod: POST");
        assert_eq!(
            refusal(&text),
            "spec.workloads[0].metod: there is no such field; did you mean method? (line 7)"
        );
    }

    #[test]
    fn a_wrong_type_is_refused_with_how_to_write_it() {
        let gate = "  expectations:\n    - name: gate\n      metric: p50\n      variant: embedded\n      workload: hello\n      \
                    atLeast: 0.97";
        let refused = refusal(&run(&format!("{gate}\n{WORKLOADS}")));
        assert!(
            refused.contains("spec.expectations[0].atLeast: write \"0.97\" in quotes (line 10)"),
            "{refused}"
        );
        let refused = refusal(&run(&format!("  blocks: five\n{WORKLOADS}")));
        assert_eq!(
            refused,
            "spec.blocks: \"five\" is no whole number; write one, without quotes and without a unit (line 5)"
        );
        let refused = refusal(&run("  workloads: hello"));
        assert!(
            refused.contains("spec.workloads: write a list"),
            "{refused}"
        );
    }

    #[test]
    fn bounds_choices_and_forms_are_those_of_the_crd() {
        let refused = refusal(&run(&format!("  blocks: 400\n{WORKLOADS}")));
        assert_eq!(
            refused,
            "spec.blocks: 400 is above the maximum of 50 (line 5)"
        );
        let refused = refusal(&run("  workloads: [{name: hello, path: price}]"));
        assert!(
            refused.contains("spec.workloads[0].path: \"price\" is not of the form ^/"),
            "{refused}"
        );
        let refused = refusal(&run("  workloads: [{name: hello, method: PSOT}]"));
        assert!(
            refused.contains("method: there is no \"PSOT\"; did you mean POST?"),
            "{refused}"
        );
        let refused = refusal(&run(""));
        assert!(
            refused.contains("spec.workloads: it is missing"),
            "{refused}"
        );
    }

    #[test]
    fn a_rule_across_fields_is_that_of_the_crd() {
        let refused = refusal(&run(&format!("  baseline: other\n{WORKLOADS}")));
        assert_eq!(
            refused,
            "spec.baseline: baseline must be the name of one of spec.variants (line 5)"
        );
    }

    #[test]
    fn another_version_or_kind_is_refused_with_the_right_one() {
        let version = run(WORKLOADS).replace("v1alpha1", "v1");
        assert_eq!(
            refusal(&version),
            "apiVersion: \"wasmbench.dev/v1\" is not served; write wasmbench.dev/v1alpha1 (line 1)"
        );
        let kind = run(WORKLOADS).replace("BenchmarkRun", "Benchmarkrun");
        assert_eq!(
            refusal(&kind),
            "kind: there is no \"Benchmarkrun\" in wasmbench.dev; write BenchmarkRun (line 2)"
        );
    }

    #[test]
    fn placeholders_and_upper_case_images_are_refused() {
        let with = |image: &str| {
            let own =
                format!("preset: native\n    - name: own\n      container: {{image: {image}}}");
            refusal(&run(WORKLOADS).replacen("preset: native", &own, 1))
        };
        let placeholder = with("registry.example.com/CHANGE-ME/service:CHANGE-ME");
        assert!(
            placeholder
                .contains("spec.variants[1].container.image: replace the placeholder CHANGE-ME"),
            "{placeholder}"
        );
        let upper = with("registry.example.com/Team/server:1.0");
        assert!(upper.contains("in lower case"), "{upper}");
    }

    #[test]
    fn a_placeholder_in_a_foreign_object_is_refused_with_its_line() {
        let copy = "kind: Deployment\nmetadata: {name: a}\nspec:\n  nodeSelector:\n    host: CHANGE-ME\n  args: [-c, x]\n---\n";
        let text = format!("{copy}{}", run(WORKLOADS));
        assert_eq!(
            refusal(&text),
            "spec.nodeSelector.host: replace the placeholder CHANGE-ME (line 5)"
        );
        assert!(checked(&text.replace("CHANGE-ME", "bench-1")).is_ok());
    }

    #[test]
    fn every_document_and_item_is_checked_with_its_own_line() {
        let good = run(WORKLOADS);
        let two = format!("{good}---\n{}", run(&format!("  blockz: 3\n{WORKLOADS}")));
        let line = good.lines().count() + 1 + 5;
        assert!(
            refusal(&two).ends_with(&format!("(line {line})")),
            "{}",
            refusal(&two)
        );
        let list = "kind: List\nitems:\n  - apiVersion: wasmbench.dev/v1alpha1\n    kind: BenchmarkRun\n    \
                    metadata: {name: Own}\n";
        let refused = refusal(list);
        assert!(
            refused.contains("metadata.name: 'Own' is no name"),
            "{refused}"
        );
        assert!(refused.contains("(line 5)"), "{refused}");
    }

    #[test]
    fn metadata_has_known_fields_alone_and_labels_are_text() {
        let with = |metadata: &str| run(WORKLOADS).replace("{name: own}", metadata);
        assert_eq!(
            refusal(&with("{name: own, label: {team: shop}}")),
            "metadata.label: there is no such field; did you mean labels? (line 3)"
        );
        assert_eq!(
            refusal(&with("{name: own, labels: {week: 7}}")),
            "metadata.labels.week: write \"7\" in quotes (line 3)"
        );
        assert_eq!(
            refusal(&with("{name: 7}")),
            "metadata.name: write \"7\" in quotes (line 3)"
        );
        let saved = "{name: own, uid: abc, generation: 1, creationTimestamp: null, labels: {a: b}, \
                     managedFields: [{manager: kubectl, fieldsV1: {'f:spec': {}}}], ownerReferences: [{kind: A}]}";
        assert!(checked(&with(saved)).is_ok());
    }

    #[test]
    fn a_name_is_needed_and_may_be_generated() {
        let without = run(WORKLOADS).replace("{name: own}", "{}");
        assert!(refusal(&without).starts_with("metadata.name: give the object a name"));
        let generated = run(WORKLOADS).replace("{name: own}", "{generateName: own-}");
        assert!(checked(&generated).is_ok());
    }
}
