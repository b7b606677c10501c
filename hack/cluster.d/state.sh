# shellcheck shell=bash
# Where a cluster's state lives.
# Comes in: $cache. Goes out: paths, addresses, and functions that read the state.

cluster_name=${WASMBENCH_CLUSTER:-wasmbench}
state=$cache/cluster        # all that clusters keep
run=$state/run              # all that must not outlive them
substrate=$run/substrate    # written first: whose Docker daemon it is, ours or the host's
here=$run/clusters/$cluster_name  # all that must not outlive this one
settings=$here/settings           # written last by `up`: its presence means "complete"
audit_folder=$state/audit/$cluster_name
kubeconfig=$state/kubeconfig
[ "$cluster_name" = wasmbench ] || kubeconfig+=-$cluster_name
docker_root=$state/docker   # data of the private Docker daemon, with the node image
docker_socket=$run/docker.sock
log=$state/log

# All addresses are from 198.18.0.0/15, which is reserved for benchmarks, so they
# do not collide with the machine's own networks.
link=wasmbench0                 # the host's end of the link into the cluster
host_address=198.18.7.1
inner_address=198.18.7.2        # its far end, where the API server is published
resolver_address=198.18.7.9
docker_pool=198.18.16.0/20
service_subnet=198.18.64.0/20
pod_subnet=198.19.0.0/16
# The range for IPv6 is 2001:2::/48 (RFC 5180). The link to the host has IPv4 only.
docker_subnet_v6=2001:2:0:16::/64
service_subnet_v6=2001:2:0:64::/112
pod_subnet_v6=2001:2:0:1900::/56

# Only one command at a time changes the cluster. The file descriptor is closed
# for everything that outlives the command, or the lock would never be released.
take_lock() {
  mkdir -p "$state"
  exec 8>"$state/lock"
  flock -n 8 && return
  echo 'Waiting for another hack/cluster to finish...'
  flock -w 1800 8 || die 'another hack/cluster has been busy for half an hour; look at it with: ps -ef | grep hack/cluster'
}

# Whether another cluster is up, or half of it.
has_others() { [ -n "$(find "$run/clusters" -mindepth 1 -maxdepth 1 ! -name "$cluster_name" 2>/dev/null)" ]; }

setting() { sed -n "s/^$1=//p" "$substrate" "$settings" 2>/dev/null || true; }

require_cluster() {
  [ -f "$settings" ] || die "no cluster is up; start one with: hack/cluster up"
}

# A process is ours only if its start time also matches: process ids are reused.
start_time() { cut -d')' -f2- "/proc/$1/stat" 2>/dev/null | cut -d' ' -f21; }

# The process that holds the private Docker daemon's namespaces, if it lives.
holder() {
  local pid started
  read -r pid started 2>/dev/null <"$run/holder" || return 1
  [ -n "$started" ] && [ "$(start_time "$pid")" = "$started" ] && echo "$pid"
}

inside() { nsenter --net="/proc/$(holder)/ns/net" "$@"; }

# Talks to the private daemon with the client that came with it, because a newer
# one elsewhere on PATH may refuse to talk to an older daemon.
use_private_docker() {
  export DOCKER_HOST=unix://$docker_socket PATH=/usr/sbin:/usr/bin:$PATH
  unset DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CERT_PATH
}

# For commands that need a running cluster.
use_cluster() {
  require_cluster
  [ "$(setting docker)" = own ] || return 0
  holder >/dev/null || die "the cluster's Docker daemon is gone; hack/cluster up starts it anew"
  use_private_docker
}

nodes() { docker ps --filter "label=io.x-k8s.kind.cluster=$cluster_name" --format '{{.Names}}' | sort; }

# The kubectl that is in the cache: a read-only command must not start a build.
kube() { "$(go_tools_dir kubectl)/kubectl" --kubeconfig "$kubeconfig" "$@"; }
