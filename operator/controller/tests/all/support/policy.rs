//! One admission policy of the chart, evaluated without a cluster.

use kube_cel::{AdmissionRequest, VapEvaluator, VapExpression};
use serde_json::{Value, json};
use wasmbench_api::labels;

use super::chart::{of_kind, render};

/// The operator's username on the API server.
pub const OPERATOR: &str = "system:serviceaccount:wasmbench-system:wasmbench";
/// The username of a cold-start probe.
pub const COLD_START: &str = "system:serviceaccount:wasmbench-system:wasmbench-cold-start";

pub struct Policy {
    pub spec: Value,
    /// The spec of its binding.
    pub binding: Value,
    /// The object that the binding gives it, if any.
    params: Option<Value>,
    /// The resource that the requests are about.
    resource: String,
}

impl Policy {
    /// The chart's policy whose name ends in `suffix`, rendered with these Helm arguments.
    pub fn named(suffix: &str, arguments: &[&str]) -> Self {
        let objects = render(arguments);
        let name = format!("wasmbench-{suffix}");
        let find = |kind: &str| {
            let mut found = of_kind(&objects, kind).into_iter();
            found
                .find(|object| object["metadata"]["name"] == name.as_str())
                .cloned()
        };
        let binding = find("ValidatingAdmissionPolicyBinding").unwrap();
        assert_eq!(binding["spec"]["policyName"], name.as_str());
        assert_eq!(binding["spec"]["validationActions"], json!(["Deny"]));
        let policy = find("ValidatingAdmissionPolicy").unwrap();
        assert_eq!(policy["spec"]["failurePolicy"], "Fail");
        Self {
            spec: policy["spec"].clone(),
            binding: binding["spec"].clone(),
            params: None,
            resource: "pods".into(),
        }
    }

    /// The same policy, applied to objects of another kind.
    pub fn on(&self, resource: &str) -> Self {
        Self {
            spec: self.spec.clone(),
            binding: self.binding.clone(),
            params: self.params.clone(),
            resource: resource.into(),
        }
    }

    /// The same policy, with these of its rules only: others may need what the evaluator does not have.
    pub fn with_rules(mut self, is_wanted: impl Fn(&Value) -> bool) -> Self {
        let rules = self.spec["validations"].as_array_mut().unwrap();
        rules.retain(is_wanted);
        self
    }

    /// The same policy, with this object as its parameter.
    pub fn with_params(self, params: Value) -> Self {
        Self {
            params: Some(params),
            ..self
        }
    }

    /// An expression with the policy's variables inlined, because the evaluator does not support
    /// them.
    fn expression(&self, text: &str) -> VapExpression {
        let mut text = text.to_owned();
        let variables = self.spec["variables"].as_array();
        for variable in variables.into_iter().flatten().rev() {
            let name = format!("variables.{}", variable["name"].as_str().unwrap());
            let value = variable["expression"].as_str().unwrap();
            let plain = value.chars().all(|c| c.is_alphanumeric() || c == '.');
            let value = if plain {
                value.to_owned()
            } else {
                format!("({value})")
            };
            text = text.replace(&name, &value);
        }
        // The evaluator also treats label keys as field names, and escapes what a field name may
        // not contain.
        for key in [
            labels::COMPONENT,
            labels::EPOCH,
            labels::INSTANCE,
            labels::PART_OF,
            labels::RUN_UID,
            labels::SCHEDULE_UID,
        ] {
            let escaped = key.replace('.', "__dot__").replace('/', "__slash__");
            let escaped = escaped.replace('-', "__dash__");
            text = text.replace(&format!("'{key}'"), &format!("'{escaped}'"));
        }
        VapExpression {
            expression: text,
            message: None,
            message_expression: None,
        }
    }

    fn expressions(&self, list: &str) -> Vec<VapExpression> {
        let all = self.spec[list].as_array().unwrap().iter();
        all.map(|one| self.expression(one["expression"].as_str().unwrap()))
            .collect()
    }

    /// Whether the policy looks at this request at all.
    pub fn matches(&self, evaluator: &VapEvaluator) -> bool {
        let results = evaluator.evaluate(&self.expressions("matchConditions"));
        results.iter().all(|result| result.passed)
    }

    /// Messages of the rules that refuse what the operator creates.
    pub fn refusals(&self, object: &Value, namespace: &str) -> Vec<String> {
        self.refusals_of(OPERATOR, object, namespace)
    }

    /// Messages of the rules that refuse what this account creates.
    pub fn refusals_of(&self, username: &str, object: &Value, namespace: &str) -> Vec<String> {
        let evaluator = VapEvaluator::builder()
            .object(object.clone())
            .old_object(Value::Null)
            .request(self.request("CREATE", username, namespace));
        let evaluator = match &self.params {
            Some(params) => evaluator.params(params.clone()),
            None => evaluator,
        };
        self.refused(&evaluator.build())
    }

    /// Messages of the rules that refuse this account's update of `old` to `new`.
    pub fn update_refused(
        &self,
        username: &str,
        old: &Value,
        new: &Value,
        namespace: &str,
    ) -> Vec<String> {
        let evaluator = VapEvaluator::builder()
            .object(new.clone())
            .old_object(old.clone())
            .request(self.request("UPDATE", username, namespace))
            .build();
        self.refused(&evaluator)
    }

    fn request(&self, operation: &str, username: &str, namespace: &str) -> AdmissionRequest {
        let mut request = by(username, namespace);
        request.operation = operation.into();
        request.resource.resource.clone_from(&self.resource);
        request
    }

    /// Messages of the rules that refuse this account's deletion of `object`.
    pub fn deletion_refused(&self, username: &str, object: &Value) -> Vec<String> {
        self.deletion_refused_in(username, object, "team-a")
    }

    /// The same in this namespace.
    pub fn deletion_refused_in(
        &self,
        username: &str,
        object: &Value,
        namespace: &str,
    ) -> Vec<String> {
        let evaluator = VapEvaluator::builder()
            .object(Value::Null)
            .old_object(object.clone())
            .request(self.request("DELETE", username, namespace))
            .build();
        self.refused(&evaluator)
    }

    fn refused(&self, evaluator: &VapEvaluator) -> Vec<String> {
        assert!(
            self.matches(evaluator),
            "the policy must look at what we create"
        );
        let results = evaluator.evaluate(&self.expressions("validations"));
        let rules = self.spec["validations"].as_array().unwrap();
        assert!(!rules.is_empty() && rules.len() == results.len());
        rules
            .iter()
            .zip(results)
            .filter(|(_, result)| !result.passed)
            .map(|(rule, result)| {
                let reason = rule["reason"].as_str();
                assert!(matches!(reason, Some("Forbidden" | "Invalid")), "{rule}");
                let details = result.message.unwrap_or_default();
                assert!(
                    !details.contains("error"),
                    "{details}: {}",
                    result.expression
                );
                rule["message"].as_str().unwrap().to_owned()
            })
            .collect()
    }
}

pub fn by(username: &str, namespace: &str) -> AdmissionRequest {
    AdmissionRequest {
        operation: "CREATE".into(),
        username: username.into(),
        namespace: namespace.into(),
        ..AdmissionRequest::default()
    }
}
