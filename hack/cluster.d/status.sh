# shellcheck shell=bash
# `status` and `audit-log`: what runs, for people.
# Comes in: the state. Goes out: text; exit code 1 when no healthy cluster is up.

row() { printf '%-12s %s\n' "$1" "$2"; }

cluster_status() {
  local healthy=1 size
  if [ ! -f "$settings" ]; then
    row Cluster 'not up (start it with: hack/cluster up)'
  elif [ "$(setting docker)" = own ] && ! holder >/dev/null; then
    row Cluster 'ended halfway (hack/cluster up starts it anew)'
  else
    status_of_cluster && healthy=0
  fi
  size=$(du -sh "$cache" 2>/dev/null | cut -f1)
  row Cache "$cache (${size:-empty})"
  return "$healthy"
}

status_of_cluster() {
  local version ready total name=kind
  [ "$(setting docker)" = host ] || name='kind on a locally built node image'
  row Cluster "$cluster_name"
  row Substrate "$name"
  row Addresses "$(setting family)"
  row Audit "$(setting audit)"
  row Kubeconfig "$kubeconfig"
  version=$(kube --request-timeout=5s get nodes -o 'jsonpath={.items[0].status.nodeInfo.kubeletVersion}' 2>/dev/null) || {
    row Kubernetes 'the API server does not answer (hack/cluster up mends that)'
    return 1
  }
  row Kubernetes "$version"
  total=$(setting nodes)
  ready=$(kube get nodes --no-headers | awk '$2 == "Ready"' | wc -l)
  row Nodes "$ready of $total ready"
  [ "$ready" = "$total" ]
}

cluster_audit_log() {
  require_cluster
  [ "$(setting audit)" = on ] ||
    die "the cluster that is up writes no audit log; run 'hack/cluster down', then 'hack/cluster up --audit'"
  echo "$audit_folder/audit.log"
}
