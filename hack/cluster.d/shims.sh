# shellcheck shell=bash
# The Wasm shims on the nodes, as an administrator installs them: a program on containerd's PATH and a
# RuntimeClass. containerd knows the runtimes' names from the start (kind.sh), or learns them here.
# Comes in: a cluster, hack/shims. Goes out: pods can ask for these RuntimeClasses.

shim_names=(wasmtime)
# Besides, a runtime without a shim: what becomes of its pods is tested.
runtime_names=("${shim_names[@]}" wasmbench-broken)

add_shims() {
  local name program node
  use_cluster
  for node in $(nodes); do add_runtimes "$node"; done
  for name in "${shim_names[@]}"; do
    [ -e "$("$hack/shims/build" --path "$name")" ] ||
      step "Build the shim of $name (the first time 10 minutes)" build_shim "$name"
    program=$("$hack/shims/build" --path "$name")
    for node in $(nodes); do
      # Renamed into place: a running shim's file cannot be written.
      docker cp --quiet "$program" "$node:/usr/local/bin/.shim" >/dev/null 2>&1 ||
        docker cp "$program" "$node:/usr/local/bin/.shim" >/dev/null
      docker exec "$node" mv /usr/local/bin/.shim "/usr/local/bin/containerd-shim-$name-v1"
    done
    kube apply --filename "$hack/../manifests/runtimeclasses/$name.yaml" >/dev/null
    echo "The RuntimeClass $name is ready."
  done
}

# containerd passes over the plugin that its version of the configuration does not have.
runtimes_of() { # NAME...
  local plugin name
  for plugin in io.containerd.grpc.v1.cri io.containerd.cri.v1.runtime; do
    for name in "$@"; do
      echo "[plugins.\"$plugin\".containerd.runtimes.$name]"
      echo "  runtime_type = \"io.containerd.$name.v1\""
    done
  done
}

# Of a cluster that is older than a runtime. Pods live on while containerd starts again.
add_runtimes() { # NODE
  local name missing=()
  for name in "${runtime_names[@]}"; do
    docker exec "$1" grep -q "io.containerd.$name.v1" /etc/containerd/config.toml || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  runtimes_of "${missing[@]}" | docker exec --interactive "$1" tee -a /etc/containerd/config.toml >/dev/null
  docker exec "$1" systemctl restart containerd
}

build_shim() { "$hack/shims/build" "$1" >/dev/null; }
