# shellcheck shell=bash
# The Wasm shims on the nodes, as an administrator installs them: a program on containerd's PATH and a
# RuntimeClass. The runtimes' names are in containerd's configuration already (kind.sh).
# Comes in: a cluster, hack/shims. Goes out: pods can ask for these RuntimeClasses.

shim_names=(wasmtime)

add_shims() {
  local name program node
  use_cluster
  for name in "${shim_names[@]}"; do
    [ -e "$("$hack/shims/build" --path "$name")" ] ||
      step "Build the shim of $name (the first time 10 minutes)" build_shim "$name"
    program=$("$hack/shims/build" --path "$name")
    for node in $(nodes); do
      docker exec "$node" grep -q "io.containerd.$name.v1" /etc/containerd/config.toml ||
        die "containerd on $node has no runtime '$name': run 'hack/cluster down', then 'hack/cluster up --shims'"
      # Renamed into place: a running shim's file cannot be written.
      docker cp --quiet "$program" "$node:/usr/local/bin/.shim" >/dev/null 2>&1 ||
        docker cp "$program" "$node:/usr/local/bin/.shim" >/dev/null
      docker exec "$node" mv /usr/local/bin/.shim "/usr/local/bin/containerd-shim-$name-v1"
    done
    kube apply --filename "$hack/../manifests/runtimeclasses/$name.yaml" >/dev/null
    echo "The RuntimeClass $name is ready."
  done
}

build_shim() { "$hack/shims/build" "$1" >/dev/null; }
