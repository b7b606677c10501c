# shellcheck shell=bash
# The Wasm shims on the nodes, as an administrator would install them: a program on containerd's PATH, the libraries
# that it ships, and a RuntimeClass. containerd has the runtimes' names from the start (kind.sh), or gets them here.
# Comes in: a cluster, hack/shim. Goes out: pods can use these RuntimeClasses.

shim_names=(wasmtime wasmedge)
# Plus a runtime without a shim: tests check what happens to its pods.
runtime_names=("${shim_names[@]}" wasmbench-broken)

add_shims() {
  local name program node mark pid failed='' pids=()
  build_shims
  use_cluster
  for node in $(nodes); do add_runtimes "$node"; done
  for name in "${shim_names[@]}"; do
    program=$("$hack/shim" --path "$name")
    mark=$(mark_of "${program%/*}")
    pids=()
    for node in $(nodes); do
      copy_shim "$name" "$program" "$mark" "$node" &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    [ -z "$failed" ] || exit 1
    kube apply --filename "$hack/../manifests/runtimeclasses/$name.yaml" >/dev/null
    echo "The RuntimeClass $name is ready."
  done
}

# What tells the files of one build from those of another. All nodes get the same, so it is computed once.
mark_of() { fingerprint "$1" </dev/null; }

# The program last: with its libraries, a shim is complete.
copy_shim() { # NAME PROGRAM MARK NODE
  [ ! -d "${2%/*}/lib" ] || copy_to_node "${2%/*}/lib" "$3" "$4" "/usr/local/lib/containerd-shim-$1"
  copy_to_node "$2" "$3" "$4" "/usr/local/bin/containerd-shim-$1-v1"
}

# Renames into place, because a running shim's files cannot be overwritten. Skips what is already there.
copy_to_node() { # SOURCE MARK NODE TARGET
  [ "$(docker exec "$3" cat "$4.content" 2>/dev/null || true)" != "$2" ] || return 0
  docker exec "$3" rm -rf "$4.new"
  docker cp --quiet "$1" "$3:$4.new" >/dev/null 2>&1 || docker cp "$1" "$3:$4.new" >/dev/null
  docker exec "$3" sh -c 'rm -rf "$1" && mv "$1.new" "$1" && echo "$2" >"$1.content"' - "$4" "$2"
}

# containerd ignores the plugin that its configuration version does not have.
runtimes_of() { # NAME...
  local plugin name
  for plugin in io.containerd.grpc.v1.cri io.containerd.cri.v1.runtime; do
    for name in "$@"; do
      echo "[plugins.\"$plugin\".containerd.runtimes.$name]"
      echo "  runtime_type = \"io.containerd.$name.v1\""
    done
  done
}

# For a cluster that is older than a runtime. Pods keep running while containerd restarts.
add_runtimes() { # NODE
  local name missing=()
  for name in "${runtime_names[@]}"; do
    docker exec "$1" grep -q "io.containerd.$name.v1" /etc/containerd/config.toml || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  runtimes_of "${missing[@]}" | docker exec --interactive "$1" tee -a /etc/containerd/config.toml >/dev/null
  docker exec "$1" systemctl restart containerd
}

build_shims() {
  local name
  for name in "${shim_names[@]}"; do
    [ -e "$("$hack/shim" --path "$name")" ] ||
      step "Build the shim of $name (the first time 7 to 15 minutes)" build_shim "$name"
  done
}

build_shim() { "$hack/shim" "$1" >/dev/null; }
