//! The operator has only the rights that it needs, and reports what it does.

use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::operator_namespace;

#[tokio::test]
async fn the_operator_may_do_what_it_needs_and_nothing_else() {
    let namespace = operator_namespace();
    let account = format!("--as=system:serviceaccount:{namespace}:wasmbench");
    let may = |verb: &'static str, what: &'static str, place: String| {
        let account = account.clone();
        async move {
            // This command would take `pods/exec` as a pod named `exec`.
            let (what, sub) = what.split_once('/').unwrap_or((what, ""));
            let sub = format!("--subresource={sub}");
            let ask = ["auth", "can-i", verb, what, &sub, &account, "-n", &place];
            let answer = kubectl(&ask).await;
            answer.stdout.trim() == "yes"
        }
    };
    let elsewhere = "default".to_owned();
    for (verb, what) in [
        ("get", "secrets"),
        ("list", "secrets"),
        ("create", "pods/exec"),
        ("get", "nodes/proxy"),
        ("create", "serviceaccounts"),
        ("create", "serviceaccounts/token"),
        ("create", "rolebindings"),
        ("escalate", "clusterroles"),
        ("impersonate", "users"),
        ("create", "jobs"),
        ("get", "pods/log"),
        ("create", "deployments"),
        ("patch", "nodes"),
    ] {
        assert!(
            !may(verb, what, elsewhere.clone()).await,
            "{verb} {what} is allowed"
        );
    }
    for (verb, what) in [
        ("create", "jobs"),
        ("get", "pods/log"),
        ("update", "leases"),
    ] {
        assert!(
            may(verb, what, namespace.clone()).await,
            "{verb} {what} is refused"
        );
    }
}

#[tokio::test]
async fn the_operators_metrics_are_served() {
    let namespace = operator_namespace();
    let pods = [
        "get",
        "pods",
        "-n",
        &namespace,
        "-o",
        "name",
        "-l",
        "app.kubernetes.io/component=operator",
    ];
    let pod = kubectl(&pods).await.stdout.trim().replace("pod/", "");
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}:8080/proxy/metrics");
    let text = kubectl(&["get", "--raw", &path]).await.stdout;
    for metric in [
        "wasmbench_reconcile_duration_seconds",
        "wasmbench_runs",
        "wasmbench_build_info",
    ] {
        assert!(text.contains(metric), "{metric} is missing:\n{text}");
    }
}
