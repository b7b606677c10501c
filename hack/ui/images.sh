# shellcheck shell=bash
# The images of the Prometheus operator and of what it starts, made the way hack/images makes its own: from
# scratch, with one static program each.
# Comes in: hack/go/{prometheus-operator,prometheus,alertmanager}. Goes out: OCI archives in the cache,
#   and references for the manifests.
# Why not in hack/images: any change there gives all images of the product another tag.

store=$cache/ui
# buildah, with its storage in $store.
# shellcheck source=hack/images.d/archive.sh
source "$hack/images.d/archive.sh"

monitoring_images=(prometheus-operator prometheus-config-reloader prometheus alertmanager)

folder_with() { go_tools_dir "$(go_module "$1")"; } # PROGRAM

# The name of a program's folder identifies everything that goes into it.
reference() { # IMAGE
  local folder
  folder=$(folder_with "$1")
  echo "localhost/wasmbench-ui/$1:$(fingerprint "$hack/ui/Containerfile" <<<"${folder##*/}")"
}

archive() { # IMAGE
  local reference
  reference=$(reference "$1")
  echo "$store/$1-${reference##*:}.tar"
}

build_programs() {
  local module
  for module in prometheus-operator prometheus alertmanager; do
    [ -d "$(go_tools_dir "$module")" ] || step "Build $module $(go_version "$module")" build_module "$module"
  done
}

build_module() { go_tools "$1" >/dev/null; }

build_images() {
  local name
  build_programs
  mkdir -p "$store"
  exec 9>"$store/lock"
  flock 9
  for name in "${monitoring_images[@]}"; do
    [ -e "$(archive "$name")" ] || step "Make the image $name" make_monitoring_image "$name"
  done
  exec 9>&-
}

make_monitoring_image() { # IMAGE
  install_buildah
  logged "$cache/log/ui-$1.log" "make the image '$1'" assemble_program "$1"
}

assemble_program() { # IMAGE
  local image archive
  image=$(reference "$1")
  archive=$(archive "$1")
  # Timestamps are fixed, so that the same content gives the same image.
  in_store bud --isolation chroot --timestamp 0 --target "$1" --tag "$image" \
    --file "$hack/ui/Containerfile" "$(folder_with "$1")"
  # Only the newest archive is kept, and nothing in buildah's storage.
  rm -f "$store/$1"-????????????????.tar "$archive.partial"
  in_store push --quiet "$image" "oci-archive:$archive.partial:$image"
  in_store rmi --force "$image"
  mv "$archive.partial" "$archive"
}

# The native gateway with another entrypoint: one image for each build of the gateway.
native_archive() { "$hack/images" list | awk '$1 == "native" { print $3 }'; }
slower_reference() {
  local native
  native=$(native_archive)
  echo "localhost/wasmbench-ui/slower:$(fingerprint "$hack/ui/Containerfile" <<<"$native")"
}
slower_archive() {
  local reference
  reference=$(slower_reference)
  echo "$store/slower-${reference##*:}.tar"
}

make_slower() {
  local image archive native
  image=$(slower_reference)
  archive=$(slower_archive)
  native=$(native_archive)
  [ ! -e "$archive" ] || return 0
  mkdir -p "$store/empty"
  in_store bud --isolation chroot --timestamp 0 --target slower --tag "$image" --build-arg "NATIVE=oci-archive:$native" \
    --file "$hack/ui/Containerfile" "$store/empty"
  rm -f "$store"/slower-????????????????.tar "$archive.partial"
  in_store push --quiet "$image" "oci-archive:$archive.partial:$image"
  in_store rmi --force "$image"
  mv "$archive.partial" "$archive"
}

# Goes out: the reference, for the tests.
load_slower() {
  install_buildah
  logged "$cache/log/ui-slower.log" "make the image 'slower'" make_slower
  "$hack/cluster" load "$(slower_archive)" >&2
  slower_reference
}

load_images() {
  local name archives=()
  for name in "${monitoring_images[@]}"; do archives+=("$(archive "$name")"); done
  "$hack/cluster" load "${archives[@]}"
}
