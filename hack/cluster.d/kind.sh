# shellcheck shell=bash
# The cluster itself: kind runs kubeadm in one container per node.
# Comes in: a Docker daemon, $node_image, the wanted number of nodes, audit and family of addresses.
# Goes out: $kubeconfig, and a cluster whose nodes and DNS are ready.

# The configuration is generated here rather than kept as a file, because each
# workaround goes in only where it is needed.
kind_config() { # DOCKER NODES AUDIT FAMILY
  local docker=$1 nodes=$2 audit=$3 family=$4 i
  cat <<YAML
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
name: $cluster_name
networking:
  ipFamily: $family
  podSubnet: $(subnets "$family" "$pod_subnet" "$pod_subnet_v6")
  serviceSubnet: $(subnets "$family" "$service_subnet" "$service_subnet_v6")
YAML
  # kube-proxy in our own node image has nft but no iptables, and the private
  # Docker daemon lives in another network namespace.
  [ "$docker" = host ] || cat <<YAML
  kubeProxyMode: nftables
  apiServerAddress: $inner_address
YAML
  echo 'nodes:'
  echo '- role: control-plane'
  [ "$audit" = off ] || cat <<YAML
  extraMounts:
  - hostPath: $here/audit-policy.yaml
    containerPath: /etc/kubernetes/audit/policy.yaml
    readOnly: true
  - hostPath: $audit_folder
    containerPath: /var/log/kubernetes
YAML
  for ((i = 1; i < nodes; i++)); do echo '- role: worker'; done
  containerd_patch
  kubeadm_patch "$audit"
}

subnets() { # FAMILY IPV4 IPV6
  case $1 in
    ipv4) echo "$2" ;;
    ipv6) echo "$3" ;;
    dual) echo "$2,$3" ;;
  esac
}

# CAP_SYS_RESOURCE is bit 24 of the bounding set.
lacks_sys_resource() {
  local set
  set=$(sed -n 's/^CapBnd:\t*//p' /proc/self/status)
  ((!(16#$set >> 24 & 1)))
}

cgroup_v1() { [ ! -f /sys/fs/cgroup/cgroup.controllers ]; }

containerd_patch() {
  echo 'containerdConfigPatches:'
  runtimes_patch
  cgroup_v1 || lacks_sys_resource || return 0
  echo '- |-'
  if lacks_sys_resource; then
    # Lowering a process's out-of-memory score takes that capability.
    echo '  [plugins."io.containerd.grpc.v1.cri"]'
    echo '    restrict_oom_score_adj = true'
  fi
  if cgroup_v1; then
    # Under the systemd driver on v1 the Wasm shims put containers outside
    # their pod's cgroup, where limits and statistics miss them.
    echo '  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]'
    echo '    SystemdCgroup = false'
  fi
}

# The Wasm runtimes are known from the start, so that their shims can be added to a cluster that is up.
runtimes_patch() {
  local name
  for name in "${runtime_names[@]}"; do
    echo '- |-'
    runtimes_of "$name" | sed 's/^/  /'
  done
}

kubeadm_patch() { # AUDIT
  cat <<'YAML'
kubeadmConfigPatches:
- |
  kind: KubeletConfiguration
  maxPods: 250
  serializeImagePulls: false
YAML
  # kind itself already sets the disk eviction thresholds to zero.
  ! cgroup_v1 || cat <<'YAML'
  failCgroupV1: false
  cgroupDriver: cgroupfs
YAML
  [ "$1" = off ] || cat <<'YAML'
- |
  kind: ClusterConfiguration
  apiServer:
    extraArgs:
    - name: audit-policy-file
      value: /etc/kubernetes/audit/policy.yaml
    - name: audit-log-path
      value: /var/log/kubernetes/audit.log
    extraVolumes:
    - name: audit-policy
      hostPath: /etc/kubernetes/audit
      mountPath: /etc/kubernetes/audit
      readOnly: true
      pathType: Directory
    - name: audit-log
      hostPath: /var/log/kubernetes
      mountPath: /var/log/kubernetes
      pathType: DirectoryOrCreate
YAML
}

create_cluster() { # DOCKER NODES AUDIT FAMILY
  local text='Start one node'
  [ "$2" = 1 ] || text="Start $2 nodes"
  kind_config "$@" >"$here/kind.yaml"
  if [ "$3" = on ]; then
    rm -rf "$audit_folder" && mkdir -p "$audit_folder"
    cp "$hack/cluster.d/audit-policy.yaml" "$here/"
  fi
  step "$text with kubeadm" logged "$log/kind.log" 'create the cluster' run_kind "$1"
  local node
  for node in $(nodes); do remove_hook "$node"; done
  step 'Wait for all nodes and for DNS' logged "$log/ready.log" 'see all nodes and DNS ready' wait_ready
}

# kind runs a script at the start of every container, but only under runc, which no other cluster does. containerd 2
# ignores that setting once its configuration has tables under the plugin's new name, as those of the Wasm runtimes
# are. Whoever compares runtimes should not have to know this.
remove_hook() { # NODE
  docker exec "$1" sh -c 'cd /etc/containerd && jq "del(.hooks)" cri-base.json >without-hook.json &&
    mv without-hook.json cri-base.json && systemctl restart containerd'
}

run_kind() { # DOCKER
  local -a within=()
  # kind picks and checks ports in the network namespace that it runs in, so it must run in the daemon's.
  [ "$1" = host ] || within=(nsenter "--net=/proc/$(holder)/ns/net")
  rm -f "$kubeconfig"
  "${within[@]}" "$(go_tools_dir kind)/kind" create cluster --image "$node_image" \
    --config "$here/kind.yaml" --kubeconfig "$kubeconfig" --wait 180s 8>&-
}

wait_ready() {
  kube wait --for=condition=Ready nodes --all --timeout=600s
  kube --namespace kube-system rollout status deployment coredns --timeout=600s
  # The first pods of a namespace need this ServiceAccount, which appears a moment after the namespace.
  kube wait --for=create serviceaccount/default --namespace default --timeout=300s
}
