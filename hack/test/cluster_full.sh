# shellcheck shell=bash
# Tests that take the cluster down or make another. They end with a cluster like the first.

full_tests() {
  it 'up after the daemon was killed starts anew' recovers_from_kill
  it 'up after an interrupted up starts anew' recovers_from_interruption
  "$cluster" down >/dev/null
  snapshot >"$work/before"
  it 'two nodes with an audit log come up' two_nodes
  it 'down leaves nothing behind' leaves_nothing
  it 'a second down reports that there is nothing' prints 'No cluster is up' "$cluster" down
  it 'two calls of up at once make one cluster' concurrent_up
}

recovers_from_kill() {
  local pid started
  read -r pid started <"$(state_file holder)"
  echo "killing the child of $pid, started at $started"
  kill -KILL "$(pgrep --parent "$pid")"
  # The process that waits for it ends a moment later.
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  fails_mentioning 'ended halfway' "$cluster" status
  prints 'The cluster is up' "$cluster" up
  kube wait --for=condition=Ready nodes --all --timeout=10s
}

state_file() { echo "$(dirname "$("$cluster" kubeconfig)")/run/$1"; }

recovers_from_interruption() {
  "$cluster" down
  "$cluster" up &
  local pid=$! link
  for _ in {1..100}; do
    link=$(ip -o link show wasmbench0 2>/dev/null) && break
    sleep 0.1
  done
  [ -n "$link" ]
  kill -KILL "$pid"
  prints 'The cluster is up' "$cluster" up
}

two_nodes() {
  prints 'The cluster is up' "$cluster" up --nodes 2 --audit
  [ "$(kube get nodes --no-headers | grep -c ' Ready ')" = 2 ]
  kube create configmap audited
  grep -q '"name":"audited"' "$("$cluster" audit-log)"
  make_archive one
  [ "$("$cluster" load "$work/image.tar" | grep -c 'loaded onto')" = 2 ]
  pods_talk_across_nodes
}

# A server on the worker answers a client on the control plane.
pods_talk_across_nodes() {
  local address
  kube run server --image localhost/wasmbench/cluster-test:1 --image-pull-policy=Never \
    --overrides '{"spec": {"nodeName": "wasmbench-worker"}}' -- server
  kube wait --for=condition=Ready pod/server --timeout=30s
  address=$(kube get pod server -o 'jsonpath={.status.podIP}')
  prints '200 OK' output_of_pod client wasmbench-control-plane curl "http://$address:8080/debug"
}

# Everything that a cluster creates on a host, in a form that can be compared.
snapshot() {
  ip -o link show | awk '{ print "link", $2 }'
  ip -o address show | awk '{ print "address", $2, $4 }'
  ip route show | sed 's/^/route /'
  sed 's/^/mount /' /proc/self/mounts
  find /run/netns -mindepth 1 2>/dev/null | sed 's/^/netns /' || true
  lsns --noheadings --output NS,TYPE --type net | sed 's/^/namespace /'
  iptables-save 2>/dev/null | sed '/^#/d; s/\[[0-9:]*\]//; s/^/iptables /'
  nft list ruleset 2>/dev/null | sed '/^#/d; s/^/nft /'
  find /sys/fs/cgroup -type d | sed 's/^/cgroup /'
  sysctl vm.overcommit_memory kernel.panic kernel.panic_on_oops fs.inotify.max_user_instances
  # shellcheck disable=SC2009 # names of processes, not their ids
  ps -eo comm= | grep -E '^(dockerd|containerd|kube|etcd|coredns|unshare|init.sh)' | sort | sed 's/^/process /' || true
}

leaves_nothing() {
  snapshot >"$work/during"
  ! diff -q "$work/before" "$work/during" || { echo 'the snapshot sees no cluster' && return 1; }
  "$cluster" down
  # The kernel takes a moment to free a network namespace.
  sleep 1
  snapshot >"$work/after"
  diff "$work/before" "$work/after"
}

concurrent_up() {
  "$cluster" up >"$work/first" 2>&1 &
  local first=$!
  sleep 0.5
  "$cluster" up >"$work/second" 2>&1
  wait "$first"
  cat "$work/first" "$work/second"
  cat "$work/first" "$work/second" | grep -q 'The cluster is up'
  cat "$work/first" "$work/second" | grep -q 'already up'
}
