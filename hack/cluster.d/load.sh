# shellcheck shell=bash
# `load`: puts images onto every node, as if they had been pulled.
# Comes in: OCI archives (buildah push IMAGE oci-archive:FILE:NAME:TAG). Goes
#   out: the images in every node's containerd, under the names in the archive.
# Why not `kind load`: it sends everything again each time, and keeps the old
#   image when a name moves to a new one.

cluster_load() {
  [ $# -gt 0 ] || die 'load needs at least one archive: hack/cluster load ARCHIVE...'
  local archive node pid failed='' pids=()
  for archive in "$@"; do
    [ -f "$archive" ] || die "there is no file '$archive'; make one with: buildah push IMAGE oci-archive:$archive:localhost/wasmbench/NAME:TAG"
    archive_images "$archive" >/dev/null
  done
  use_cluster
  for node in $(nodes); do
    load_node "$node" "$@" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  [ -z "$failed" ] || exit 1
}

# Prints one line for what was loaded, and one for what was already there.
load_node() { # NODE ARCHIVE...
  local node=$1 archive name present loaded='' kept=''
  shift
  present=$(docker exec "$node" ctr --namespace k8s.io images list 2>/dev/null | awk '{ print $3, $1 }')
  for archive in "$@"; do
    name=${archive##*/}
    if archive_images "$archive" | grep -qvxFf <(echo "$present"); then
      import_archive "$node" "$archive"
      loaded+=" $name"
    else
      kept+=" $name"
    fi
  done
  [ -z "$loaded" ] || echo "loaded onto $node:$loaded"
  [ -z "$kept" ] || echo "already on $node:$kept"
}

# The images in an archive, one a line: digest and name.
archive_images() { # ARCHIVE
  local index
  index=$(tar -xOf "$1" index.json 2>/dev/null) || index=$(tar -xOf "$1" ./index.json 2>/dev/null) ||
    die "'$1' is no OCI archive (it has no index.json); make one with: buildah push IMAGE oci-archive:FILE:localhost/wasmbench/NAME:TAG"
  jq -er '.manifests[] | [.digest, .annotations["io.containerd.image.name"] // .annotations["org.opencontainers.image.ref.name"] // ""]
    | select(.[1] | test("[/:]")) | join(" ")' <<<"$index" ||
    die "no image in '$1' has a full name; give it one: buildah push IMAGE oci-archive:FILE:localhost/wasmbench/NAME:TAG"
}

import_archive() { # NODE ARCHIVE
  local output
  output=$(docker exec --interactive "$1" ctr --namespace k8s.io images import --all-platforms - <"$2" 2>&1) ||
    die "containerd on $1 could not import '$2': ${output##*$'\n'}"
}
