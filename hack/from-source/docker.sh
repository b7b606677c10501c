# shellcheck shell=bash
# A Docker daemon for the cluster only, in its own namespaces.
# Comes in: dockerd, runc, CoreDNS. Goes out: DOCKER_HOST; a link to the host; or, on `down`, nothing is left.
# Why namespaces: the host's firewall rules, mounts and links stay as they are,
#   and ending one process ends everything.

start_docker() {
  step "Start a Docker daemon of the cluster's own" launch_docker
  use_private_docker
}

write_docker_config() {
  local runtime='{}'
  if lacks_sys_resource; then
    runtime=$(jq -n --arg path "$run/oci-runtime" \
      '{"default-runtime": "wasmbench", runtimes: {wasmbench: {path: $path}}}')
  fi
  jq -n --argjson runtime "$runtime" --arg root "$docker_root" --arg socket "unix://$docker_socket" \
    --arg pool "$docker_pool" --arg resolver "$resolver_address" '{
      "data-root": $root,
      hosts: [$socket],
      "default-address-pools": [{base: $pool, size: 24}],
      dns: [$resolver],
      "exec-opts": ["native.cgroupdriver=cgroupfs"],
      "cgroup-parent": "/wasmbench"
    } + $runtime' >"$run/daemon.json"
  cat >"$run/Corefile" <<TXT
. {
  bind $resolver_address
  template ANY ANY {
    rcode NXDOMAIN
  }
}
TXT
}

launch_docker() {
  local coredns pid
  coredns=$(go_tools_dir coredns)/coredns
  mkdir -p "$run" "$docker_root"
  # Copied, because the clone may be moved while the cluster runs.
  cp "$hack"/from-source/docker/{init.sh,oci-runtime} "$run/"
  write_docker_config
  # --kill-child: when this process is killed the kernel kills its child, which
  # is process 1 of the namespace, and with it every process inside.
  (
    close_inherited
    exec setsid unshare --net --mount --propagation private --pid --fork --kill-child --mount-proc \
      "$run/init.sh" "$run" "$coredns" >"$log/dockerd.log" 2>&1 </dev/null
  ) &
  pid=$!
  echo "$pid $(start_time "$pid")" >"$run/holder"
  connect_docker "$pid"
  use_private_docker
  for _ in {1..1200}; do
    if docker version >/dev/null 2>&1; then
      # Containers that a killed daemon left in its data would restart by themselves.
      docker ps --all --quiet | xargs -r docker rm --force --volumes >/dev/null
      return
    fi
    holder >/dev/null || break
    sleep 0.1
  done
  tail -n 15 "$log/dockerd.log" >&2
  die "the Docker daemon did not start; its whole log is $log/dockerd.log"
}

# The daemon outlives this command. If it inherited a lock, ours or the caller's (`flock FILE hack/cluster up`),
# that lock would be held as long as the cluster lives.
close_inherited() {
  local fd
  for fd in "/proc/$BASHPID/fd/"*; do
    fd=${fd##*/}
    ((fd <= 2)) || exec {fd}>&-
  done
}

# A veth pair: one end on the host, the other inside.
connect_docker() { # PID
  for _ in {1..100}; do
    [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ] && break
    sleep 0.02
  done
  ip link add "$link" type veth peer name uplink netns "$1"
  ip address add "$host_address/30" dev "$link"
  ip link set "$link" up
  inside ip address add "$inner_address/30" dev uplink
  inside ip link set uplink up
}

# kind uses the network of this name, and would make one with addresses of its own choice.
make_network() {
  docker network rm kind >/dev/null 2>&1 || true
  docker network create --driver bridge --ipv6 --subnet "$docker_subnet_v6" kind
}

remove_private_docker() {
  local pid
  if pid=$(holder); then
    (
      use_private_docker
      timeout 30 docker ps --all --quiet | xargs -r timeout 60 docker rm --force --volumes
    ) >/dev/null 2>&1 || true
    stop_holder "$pid"
  fi
  # The kernel removes the veth pair with its namespace, a moment later.
  for _ in {1..50}; do
    ip link show "$link" >/dev/null 2>&1 || break
    sleep 0.1
  done
  remove_cgroups
}

# SIGTERM first, so that the daemon can close its databases.
stop_holder() { # PID
  local init
  init=$(pgrep --parent "$1" || true)
  [ -z "$init" ] || kill -TERM "$init" 2>/dev/null || true
  for _ in {1..100}; do
    holder >/dev/null || return 0
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
  while holder >/dev/null; do sleep 0.1; done
}

# The daemon's containers are all below one directory per controller (on v2
# there is only one hierarchy). The kernel frees them a moment after the last
# process ended, hence the repetition.
remove_cgroups() {
  local dir
  for _ in {1..50}; do
    for dir in /sys/fs/cgroup/wasmbench /sys/fs/cgroup/*/wasmbench; do
      [ ! -d "$dir" ] || find "$dir" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
    compgen -G '/sys/fs/cgroup/*/wasmbench' >/dev/null || [ -d /sys/fs/cgroup/wasmbench ] || return 0
    sleep 0.1
  done
  die "cgroup directories named wasmbench under /sys/fs/cgroup cannot be removed; does something still run in them?"
}
