# shellcheck shell=bash
# Images from build contexts, with buildah.
# Comes in: staged folders and Containerfiles. Goes out: OCI archives. buildah's own storage is in
#   the cache, so that nothing is left in the system's folders.

declare -A folder_of=(
  [operator]=operator/controller [probe]=operator/probe [native]=gateways/native
  [embedded]=gateways/embedded [wasmtime-cli]=gateways/cli/wasmtime
  [wasmedge-cli]=gateways/cli/wasmedge [wasmtime-serve]=gateways/cli/serve [v8]=gateways/cli/v8 [upstream]=gateways/upstream
)

# Every file that can change an image: sources without tests, what builds them, what is pinned.
image_inputs() {
  cd "$repository"
  find operator gateways wasm-guest hack/go/fortio crds charts/wasmbench/Chart.yaml hack/images.d \
    \( -name tests -o -name examples -o -name benches -o -name snapshots -o -name '*.md' \) -prune \
    -o -type f -print0
  find hack/shims/wasmtime hack/shims/Cargo.* hack/shims/build -type f -print0
  printf '%s\0' Cargo.toml Cargo.lock rust-toolchain.toml hack/images hack/wasm hack/runtime
}

image_tag() {
  image_inputs | LC_ALL=C sort -z | (cd "$repository" && xargs -0 sha256sum) | sha256sum | sed 's/^/dev-/' | cut -c1-16
}

reference_of() { echo "localhost/wasmbench/$1:$tag"; }
archive_of() { echo "$store/$tag/$1.tar"; }

make_archive() { # NAME
  local archive content
  archive=$(archive_of "$1")
  if is_wasm "$1"; then
    mkdir -p "${archive%/*}"
    logged "$cache/log/images-$1.log" "make the image '$1'" \
      assemble_wasm "$(stage_of "$1")/gateway.wasm" "$(reference_of "$1")" "$archive.partial"
    mv "$archive.partial" "$archive"
    return
  fi
  # What is in the image, so that one whose content did not change only gets the new tag.
  content=$(fingerprint "$(stage_of "$1")" "$repository/${folder_of[$1]}/Containerfile" <<<"$(version)")
  mkdir -p "${archive%/*}"
  install_buildah
  logged "$cache/log/images-$1.log" "make the image '$1'" assemble "$1" "content-$content" "$archive.partial"
  mv "$archive.partial" "$archive"
}

assemble() { # NAME CONTENT ARCHIVE
  local image=localhost/wasmbench/$1:$2
  rm -f "$3"
  # Time stamps are fixed, so that the same content is the same image.
  in_store images --quiet "$image" 2>/dev/null ||
    in_store bud --isolation chroot --timestamp 0 --tag "$image" \
      --build-arg "VERSION=$(version)" --build-arg "REVISION=$(revision)" \
      --file "$repository/${folder_of[$1]}/Containerfile" "$(stage_of "$1")"
  in_store push --quiet "$image" "oci-archive:$3:$(reference_of "$1")"
  remove_old "$1" "$2"
}

# Of each image the newest content is kept, and archives of other tags for a day.
remove_old() { # NAME CONTENT
  in_store images --format '{{.Name}}:{{.Tag}}' | { grep -x "localhost/wasmbench/$1:content-.*" || true; } |
    { grep -vx "localhost/wasmbench/$1:$2" || true; } | xargs -r buildah "${store_options[@]}" rmi
  find "$store" -maxdepth 1 -name 'dev-*' -mtime +0 ! -name "$tag" -exec rm -rf {} +
}

# vfs needs nothing of the kernel, and the images are a few files each.
store_options=(--root "$store/buildah" --runroot "$store/buildah-run" --storage-driver vfs)
in_store() { buildah "${store_options[@]}" "$@"; }

version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$repository/Cargo.toml"; }

revision() { git -C "$repository" rev-parse HEAD 2>/dev/null || echo unknown; }

install_buildah() {
  have buildah && return
  have apt-get || die "buildah is missing: install it from your distribution"
  [ "$(id -u)" = 0 ] || die "buildah is missing: run 'apt-get install buildah' as root"
  logged "$cache/log/images-apt.log" "install buildah with apt-get" \
    apt-get install -y -q --no-install-recommends buildah
}
