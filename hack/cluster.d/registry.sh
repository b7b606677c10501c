# shellcheck shell=bash
# A registry in the cluster's own network, from which nodes pull: CNCF Distribution, in a container next to
# the nodes. `push` puts images into it.
# Comes in: a cluster, hack/go/registry. Goes out: images whose names begin with $registry_host.

registry_container=$cluster_name-registry
# A name that no network has (RFC 2606): the nodes get the address from their containerd configuration.
registry_host=registry.test:5000

add_registry() {
  local node address
  use_cluster
  build_tools registry
  registry_runs || step 'Start a registry' logged "$log/registry.log" 'start the registry' start_registry
  address=$(registry_address)
  for node in $(nodes); do
    docker exec --interactive "$node" sh -c "mkdir -p $(registry_folder) && cat >$(registry_folder)/hosts.toml" <<TOML
server = "http://$address"
[host."http://$address"]
  capabilities = ["pull", "resolve"]
TOML
  done
  echo "The registry $registry_host is ready."
}

# containerd reads it at every pull.
registry_folder() { echo "/etc/containerd/certs.d/$registry_host"; }

registry_runs() {
  [ "$(docker inspect --format '{{.State.Running}}' "$registry_container" 2>/dev/null)" = true ]
}

registry_address() {
  local address
  address=$(docker inspect --format '{{.NetworkSettings.Networks.kind.IPAddress}}' "$registry_container" 2>/dev/null) ||
    die "no registry runs; start one with: hack/cluster up --registry"
  echo "$address:5000"
}

# This machine has no way into the network of a Docker daemon of the cluster's own, only to what that publishes. Nodes
# pull from the same registry under the name $registry_host.
cluster_registry() {
  use_cluster
  docker port "$registry_container" 5000/tcp 2>/dev/null | head -n 1 | grep . ||
    die "no registry runs; start one with: hack/cluster up --registry"
}

start_registry() {
  local program image folder published=127.0.0.1
  [ "$(setting docker)" != own ] || published=$inner_address
  program=$(go_tools_dir registry)
  image=wasmbench/registry:${program##*-}
  docker rm --force --volumes "$registry_container" >/dev/null 2>&1 || true
  if ! docker image inspect "$image" >/dev/null 2>&1; then
    folder=$state/registry.partial
    rm -rf "$folder"
    mkdir -p "$folder/tmp"
    cp "$program/registry" "$folder/"
    cat >"$folder/config.yml" <<'YAML'
version: 0.1
log: {level: warn}
storage: {filesystem: {rootdirectory: /data}}
http: {addr: ":5000"}
YAML
    tar -C "$folder" --owner=0 --group=0 -c . |
      docker import --change 'ENTRYPOINT ["/registry", "serve", "/config.yml"]' \
        --change 'ENV OTEL_TRACES_EXPORTER=none' - "$image"
    rm -rf "$folder"
  fi
  docker run --detach --network kind --publish "$published::5000" --name "$registry_container" "$image"
  for _ in {1..600}; do
    docker exec "$(nodes | head -n 1)" curl --silent --fail --output /dev/null "http://$(registry_address)/v2/" && return
    sleep 0.1
  done
  docker logs "$registry_container"
  return 1
}

# With the machine's own Docker, removing the cluster would leave the registry behind.
remove_registry() { docker rm --force --volumes "$registry_container" >/dev/null 2>&1 || true; }

# Sends the images of OCI archives to the registry and prints the names under which nodes pull them.
cluster_push() {
  [ $# -gt 0 ] || die 'push needs at least one archive: hack/cluster push ARCHIVE...'
  local archive address node
  for archive in "$@"; do
    [ -f "$archive" ] || die "there is no file '$archive'"
    archive_images "$archive" >/dev/null
  done
  use_cluster
  address=$(registry_address)
  node=$(nodes | head -n 1)
  for archive in "$@"; do push_archive "$node" "$address" "$archive"; done
}

# Pushes through a node's containerd, in a separate containerd namespace: the kubelet does not see the image,
# and nothing is left behind.
push_archive() { # NODE ADDRESS ARCHIVE
  local name path output
  local -a there=(docker exec --interactive "$1" ctr --namespace wasmbench-push images)
  output=$("${there[@]}" import --all-platforms --no-unpack - <"$3" 2>&1) ||
    die "containerd on $1 could not import '$3': ${output##*$'\n'}"
  while read -r _ name; do
    path=${name#*/}
    output=$("${there[@]}" push --plain-http "$2/$path" "$name" 2>&1 </dev/null) ||
      die "'$name' could not be pushed: ${output##*$'\n'}"
    "${there[@]}" rm --sync "$name" </dev/null >/dev/null
    echo "$registry_host/$path"
  done < <(archive_images "$3")
}
