# shellcheck shell=bash
# `up`: finds the running cluster, or goes through all steps.
# Comes in: flags. Goes out: a cluster, described by $substrate and $settings.

cluster_up() {
  local nodes='' audit='' shims='' with_registry='' family='' docker
  parse_up_flags "$@"
  preflight
  take_lock
  if [ -f "$settings" ] && find_cluster; then
    [ -z "$shims" ] || add_shims
    [ -z "$with_registry" ] || add_registry
    return
  fi
  clear_remains

  nodes=${nodes:-1} audit=${audit:-off} family=${family:-ipv4}
  ! has_others || [ "$family" = ipv4 ] ||
    die "the network of the other cluster has ipv4 addresses only; run 'hack/cluster down' first"
  node_image=$KIND_NODE_IMAGE
  docker=$(setting docker)
  [ -n "$docker" ] || choose_docker
  echo 'Starting a Kubernetes cluster (the first time on a machine about 10 minutes, later 30 seconds)'
  mkdir -p "$here" "$log"
  if ! has_others; then
    echo "docker=$docker" >"$substrate"
    save_kernel_settings
  fi
  build_tools kind kubectl
  if [ "$docker" = own ]; then
    install_packages
    build_tools kubernetes containerd etcd coredns
    if has_others; then use_private_docker; else start_docker; fi
    make_node_image
    [ "$family" = ipv4 ] || logged "$log/network.log" 'make the network of the nodes' make_network
  fi
  create_cluster "$docker" "$nodes" "$audit" "$family"
  printf '%s\n' "nodes=$nodes" "audit=$audit" "family=$family" >"$settings"
  [ -z "$shims" ] || add_shims
  [ -z "$with_registry" ] || add_registry
  echo "The cluster is up. Use it with:  export KUBECONFIG=$kubeconfig"
}

# Builds what `up` would build, and starts nothing: for a machine that does other things meanwhile.
cluster_prepare() {
  local nodes='' audit='' shims='' with_registry='' family=''
  parse_up_flags "$@"
  preflight
  build_tools kind kubectl
  official_image || build_tools kubernetes containerd etcd coredns
  [ -z "$with_registry" ] || build_tools registry
  [ -z "$shims" ] || build_shims
}

parse_up_flags() {
  while [ $# -gt 0 ]; do
    case $1 in
      --nodes | --nodes=*)
        [[ $1 == *=* ]] || {
          set -- "--nodes=${2:-}" "${@:3}"
        }
        nodes=${1#*=}
        [[ $nodes =~ ^[1-9]$ ]] || die "--nodes takes a number from 1 to 9, not '$nodes'"
        ;;
      --ipv6) family=ipv6 ;;
      --dual-stack) family=dual ;;
      --audit) audit=on ;;
      --shims) shims=on ;;
      --registry) with_registry=on ;;
      *) die "up has no flag '$1'; hack/cluster help lists them" ;;
    esac
    shift
  done
}

# True if the recorded cluster is up, healthy and matches the flags.
find_cluster() {
  if [ "$(setting docker)" = own ]; then
    holder >/dev/null || return 1
    use_private_docker
  fi
  local is_nodes is_audit is_family
  is_nodes=$(setting nodes) is_audit=$(setting audit) is_family=$(setting family)
  [ -z "$nodes" ] || [ "$nodes" = "$is_nodes" ] ||
    die "a cluster with $is_nodes node(s) is up, not $nodes; run 'hack/cluster down' first"
  [ -z "$audit" ] || [ "$audit" = "$is_audit" ] ||
    die "the cluster that is up writes no audit log; run 'hack/cluster down' first"
  [ -z "$family" ] || [ "$family" = "${is_family:-ipv4}" ] ||
    die "the cluster that is up has ${is_family:-ipv4} addresses, not $family; run 'hack/cluster down' first"
  if ! all_ready "$is_nodes" 2; then
    # A busy machine may be late with a heartbeat: give it time before throwing
    # the cluster away.
    echo 'The cluster that is up is not ready; waiting a minute for it'
    all_ready "$is_nodes" 60 || return 1
  fi
  echo "The cluster is already up ($is_nodes node(s)). Use it with:  export KUBECONFIG=$kubeconfig"
}

all_ready() { # NODES SECONDS
  timeout "$(($2 + 5))" "$(go_tools_dir kubectl)/kubectl" --kubeconfig "$kubeconfig" \
    wait --for=condition=Ready nodes --all --timeout="$2s" >/dev/null 2>&1 &&
    [ "$(kube get nodes --no-headers | wc -l)" = "$1" ]
}

choose_docker() {
  docker=host
  official_image && return
  docker=own
  preflight_private
}

# A reboot, a kill or an interrupted `up` leaves parts behind. Where the Docker daemon is gone, so are all its clusters.
clear_remains() {
  [ "$(setting docker)" != own ] || holder >/dev/null || rm -rf "$run/clusters"
  [ -d "$run" ] || return 0
  [ -d "$here" ] || ! has_others || return 0
  step 'Clear the remains of a cluster that ended halfway' remove_cluster
}

# True if a Docker daemon answers and has, or can pull, kind's own image.
official_image() {
  have docker && timeout 20 docker info >/dev/null 2>&1 || return 1
  docker image inspect "$KIND_NODE_IMAGE" >/dev/null 2>&1 && return
  echo "  Pulling $KIND_NODE_IMAGE with the machine's Docker"
  docker pull --quiet "$KIND_NODE_IMAGE" >/dev/null 2>&1
}

build_tools() {
  local module
  for module in "$@"; do
    [ -d "$(go_tools_dir "$module")" ] || step "Build $module $(go_version "$module")" go_tools_quietly "$module"
  done
}

go_tools_quietly() { go_tools "$1" >/dev/null; }
