# shellcheck shell=bash
# `down`: removes what `up` made, even if only half of it is there.
# Comes in: $run, $here. Goes out: the machine as it was before, except for the caches.

cluster_down() {
  take_lock
  if [ ! -d "$here" ] && { [ ! -d "$run" ] || has_others; }; then
    echo 'No cluster is up.'
    return
  fi
  step 'Remove the cluster' remove_cluster
}

# With the last one goes what all of them share.
remove_cluster() {
  if [ "$(setting docker)" = host ] || has_others; then
    [ "$(setting docker)" = host ] || use_private_docker
    remove_registry
    "$(go_tools_dir kind)/kind" delete cluster --name "$cluster_name" --kubeconfig "$kubeconfig" >/dev/null 2>&1 ||
      die "kind could not delete the cluster; is its Docker daemon running?"
  else
    remove_private_docker
  fi
  rm -rf "$here" "$kubeconfig" "$kubeconfig.lock"
  has_others && return
  restore_kernel_settings
  rm -rf "$run" "$state"/kubeconfig-*
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
