# shellcheck shell=bash
# `down`: removes what `up` made, even if only half of it is there.
# Comes in: $run. Goes out: the machine as it was before, except for the caches.

cluster_down() {
  take_lock
  [ -d "$run" ] || {
    echo 'No cluster is up.'
    return
  }
  step 'Remove the cluster' remove_cluster
}

remove_cluster() {
  if [ "$(setting docker)" = host ]; then
    remove_registry
    "$(go_tools_dir kind)/kind" delete cluster --name "$cluster_name" --kubeconfig "$kubeconfig" >/dev/null 2>&1 ||
      die "kind could not delete the cluster; is the machine's Docker daemon running?"
  else
    remove_private_docker
  fi
  restore_kernel_settings
  rm -rf "$run" "$kubeconfig" "$kubeconfig.lock"
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

# The kubelet sets some values that belong to the kernel, not to the node; their
# previous values are restored. The inotify limit is raised here: on cgroup v2
# each container takes an instance, and many systems allow only 128.
kernel_settings=(
  fs.inotify.max_user_instances
  vm.overcommit_memory kernel.panic kernel.panic_on_oops
  kernel.keys.root_maxkeys kernel.keys.root_maxbytes
)

save_kernel_settings() {
  sysctl "${kernel_settings[@]}" >"$run/sysctl" 2>/dev/null || true
  [ "$(id -u)" != 0 ] || [ "$(sysctl -n fs.inotify.max_user_instances)" -ge 1024 ] ||
    sysctl --quiet --write fs.inotify.max_user_instances=1024 >/dev/null 2>&1 || true
}

restore_kernel_settings() {
  [ ! -s "$run/sysctl" ] || sysctl --quiet --load "$run/sysctl" >/dev/null 2>&1 || true
}
