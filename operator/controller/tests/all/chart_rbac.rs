//! The rights that the chart grants, in every rendering: exactly what the code needs, and never
//! what would let the operator become someone else.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::chart::{NAMESPACE, of_kind, render, renderings, strings};

/// Resources that would let the operator, or whoever takes it over, become someone else.
const FORBIDDEN_RESOURCES: [&str; 14] = [
    "*",
    "secrets",
    "pods/exec",
    "pods/attach",
    "pods/portforward",
    "pods/ephemeralcontainers",
    "nodes/proxy",
    "serviceaccounts",
    "serviceaccounts/token",
    "roles",
    "clusterroles",
    "rolebindings",
    "clusterrolebindings",
    "namespaces",
];
const FORBIDDEN_VERBS: [&str; 4] = ["*", "escalate", "bind", "impersonate"];

#[test]
fn no_rule_grants_what_would_make_the_operator_someone_else() {
    let mut rules = 0;
    for (file, objects) in renderings() {
        for kind in ["Role", "ClusterRole"] {
            for role in of_kind(&objects, kind) {
                for rule in role["rules"].as_array().unwrap() {
                    rules += 1;
                    let resources = strings(&rule["resources"]);
                    let verbs = strings(&rule["verbs"]);
                    let forbidden = FORBIDDEN_RESOURCES
                        .iter()
                        .any(|one| resources.contains(one))
                        || FORBIDDEN_VERBS.iter().any(|one| verbs.contains(one))
                        || strings(&rule["apiGroups"]).contains("*")
                        || !rule["nonResourceURLs"].is_null();
                    assert!(!forbidden, "{file}: {}: {rule}", role["metadata"]["name"]);
                }
            }
        }
    }
    // One of the renderings grants nothing: there, others grant the rights.
    assert!(rules >= 30, "only {rules} rules");
}

/// The account of the operator.
const OPERATOR: &str = "wasmbench";

/// What roles of this kind and name grant: each resource with its verbs.
fn granted(objects: &[Value], kind: &str, name: &str) -> Vec<String> {
    let roles = of_kind(objects, kind).into_iter();
    let mine = roles.filter(|role| role["metadata"]["name"] == name);
    let mut granted = BTreeSet::new();
    for rule in mine.flat_map(|role| role["rules"].as_array().unwrap()) {
        for resource in strings(&rule["resources"]) {
            let verbs: Vec<&str> = strings(&rule["verbs"]).into_iter().collect();
            granted.insert(format!("{resource}: {}", verbs.join(" ")));
        }
    }
    granted.into_iter().collect()
}

/// The roles that bindings of this kind give to the operator, each with the binding's namespace.
fn bound(objects: &[Value], kind: &str) -> Vec<(String, String)> {
    let bindings = of_kind(objects, kind).into_iter();
    let mine = bindings.filter(|binding| {
        let subjects = binding["subjects"].as_array().unwrap();
        subjects.iter().any(|subject| subject["name"] == OPERATOR)
    });
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    mine.map(|one| {
        (
            text(&one["roleRef"]["name"]),
            text(&one["metadata"]["namespace"]),
        )
    })
    .collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(role, namespace): &(&str, &str)| ((*role).into(), (*namespace).into());
    all.iter().map(owned).collect()
}

/// The whole list, so that a new right shows up in review.
#[test]
fn the_operator_may_do_what_its_code_does_and_no_more() {
    let objects = render(&[]);
    let with_runs = [
        "benchmarkruns/status: patch",
        "benchmarkruns: create delete get list watch",
        "benchmarkschedules/status: patch",
        "benchmarkschedules: get list watch",
        "configmaps: create get list update",
        "events: create list patch",
        "pods: create delete get list watch",
    ];
    let in_no_namespace = [
        "leases: list",
        "nodes: get list watch",
        "runtimeclasses: list watch",
        "subjectaccessreviews: create",
    ];
    let own_namespace = [
        "configmaps: create",
        "events: list",
        "jobs: create delete list watch",
        "leases: create delete get list update watch",
        "pods/log: get",
        "pods: delete get list watch",
    ];
    assert_eq!(
        granted(&objects, "ClusterRole", "wasmbench-runs"),
        with_runs
    );
    assert_eq!(granted(&objects, "ClusterRole", OPERATOR), in_no_namespace);
    assert_eq!(granted(&objects, "Role", OPERATOR), own_namespace);
    assert_eq!(
        bound(&objects, "ClusterRoleBinding"),
        pairs(&[("wasmbench-runs", ""), ("wasmbench", "")])
    );
    let own = pairs(&[("wasmbench", NAMESPACE)]);
    assert_eq!(bound(&objects, "RoleBinding"), own);
}

#[test]
fn listed_namespaces_bound_the_operators_rights_to_pods_and_config_maps() {
    let listed = render(&["--set", "watchNamespaces={team-a,team-b}"]);
    let everywhere = bound(&listed, "ClusterRoleBinding");
    assert_eq!(everywhere, pairs(&[("wasmbench", "")]));
    let here = [
        ("wasmbench-runs", "team-a"),
        ("wasmbench-runs", "team-b"),
        ("wasmbench", NAMESPACE),
    ];
    let mut found = bound(&listed, "RoleBinding");
    found.sort();
    let mut wanted = pairs(&here);
    wanted.sort();
    assert_eq!(found, wanted);
    // The roles themselves, and the policies, are the same either way.
    let all = render(&[]);
    for kind in ["ClusterRole", "Role", "ValidatingAdmissionPolicy"] {
        assert_eq!(of_kind(&listed, kind), of_kind(&all, kind), "{kind}");
    }
}

#[test]
fn cold_start_probes_may_create_pods_read_logs_and_events_only() {
    let granted = |objects: &[Value]| {
        let roles = of_kind(objects, "ClusterRole").into_iter();
        let mine = roles.filter(|role| role["metadata"]["name"] == "wasmbench-cold-start");
        let all = mine.flat_map(|role| role["rules"].as_array().unwrap().clone());
        let text = |rule: Value| {
            let verbs: Vec<&str> = strings(&rule["verbs"]).into_iter().collect();
            let resources: Vec<&str> = strings(&rule["resources"]).into_iter().collect();
            format!("{}: {}", resources.join(" "), verbs.join(" "))
        };
        all.map(text).collect::<Vec<String>>()
    };
    assert_eq!(
        granted(&render(&[])),
        [
            "pods: create delete list watch",
            "pods/log: get",
            "events: list"
        ]
    );
}

#[test]
fn cold_start_probes_have_rights_in_listed_namespaces_only() {
    let bound = |objects: &[Value]| {
        let bindings = |kind| of_kind(objects, kind).into_iter();
        let all = bindings("RoleBinding").chain(bindings("ClusterRoleBinding"));
        let mine = all.filter(|binding| binding["roleRef"]["name"] == "wasmbench-cold-start");
        mine.map(|binding| {
            assert_eq!(binding["subjects"][0]["name"], "wasmbench-cold-start");
            binding["metadata"]["namespace"].clone()
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(bound(&render(&[])), Vec::<Value>::new());
    let listed = render(&["--set", "coldStart.namespaces={team-a,team-b}"]);
    assert_eq!(bound(&listed), ["team-a", "team-b"]);
}

/// Who has which role in which namespace by the bindings of objects that are there already.
fn scalers(objects: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = vec![];
    for binding in of_kind(objects, "RoleBinding") {
        let role = text(&binding["roleRef"]["name"]);
        if role == "wasmbench-scale" || role == "wasmbench-autoscalers" {
            let who = text(&binding["subjects"][0]["name"]);
            let namespace = text(&binding["metadata"]["namespace"]);
            found.push(format!("{who}: {role} in {namespace}"));
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_scaled_except_in_listed_namespaces_and_by_probes_only_where_cold_starts_are_allowed_too()
 {
    let none = render(&[]);
    assert_eq!(scalers(&none), Vec::<String>::new());
    let roles = of_kind(&none, "ClusterRole");
    let mut names = roles.iter().map(|role| role["metadata"]["name"].as_str());
    assert!(names.all(|name| name != Some("wasmbench-scale")));
    let listed = render(&[
        "--set",
        "scale.namespaces={team-a,team-b},coldStart.namespaces={team-b}",
    ]);
    assert_eq!(
        scalers(&listed),
        [
            "wasmbench-cold-start: wasmbench-scale in team-b",
            "wasmbench: wasmbench-autoscalers in team-a",
            "wasmbench: wasmbench-autoscalers in team-b",
            "wasmbench: wasmbench-scale in team-a",
            "wasmbench: wasmbench-scale in team-b",
        ]
    );
    assert_eq!(
        granted(&listed, "ClusterRole", "wasmbench-scale"),
        [
            "deployments/scale: get patch",
            "deployments: get",
            "replicasets: get",
            "rollouts/scale: get patch",
            "rollouts: get",
            "spinapps/scale: get patch",
            "spinapps: get",
            "statefulsets/scale: get patch",
            "statefulsets: get",
        ]
    );
    assert_eq!(
        granted(&listed, "ClusterRole", "wasmbench-autoscalers"),
        ["horizontalpodautoscalers: list", "scaledobjects: list"]
    );
}

/// A token is mounted where a pod requests it, never by default.
#[test]
fn no_service_account_mounts_its_token_by_itself() {
    let objects = render(&[]);
    let accounts = of_kind(&objects, "ServiceAccount");
    assert_eq!(accounts.len(), 2);
    for account in accounts {
        assert_eq!(account["automountServiceAccountToken"], false, "{account}");
    }
}

#[test]
fn cluster_roles_grant_users_runs_and_schedules_and_never_their_status() {
    let objects = render(&[]);
    let cluster_roles = of_kind(&objects, "ClusterRole").into_iter();
    let aggregated = cluster_roles.filter(|role| {
        let mut labels = role["metadata"]["labels"].as_object().unwrap().keys();
        labels.any(|label| label.contains("aggregate-to"))
    });
    let aggregated: Vec<_> = aggregated.collect();
    assert_eq!(aggregated.len(), 2);
    for role in aggregated {
        let rules = role["rules"].as_array().unwrap().iter();
        let granted: Vec<_> = rules.map(|rule| strings(&rule["resources"])).collect();
        let wanted = BTreeSet::from(["benchmarkruns", "benchmarkschedules"]);
        assert_eq!(granted, [wanted]);
    }
}
