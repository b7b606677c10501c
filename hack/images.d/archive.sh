# shellcheck shell=bash
# Images from build contexts, with buildah.
# Comes in: the catalogue, staged folders and Containerfiles. Goes out: OCI archives. buildah's own storage is in
#   the cache, so that nothing is left in the system's folders.

# Every file below these folders that can get into a binary, for `digest`: no tests, examples, benchmarks or Markdown,
# and not the crates that no image and no plugin is built from.
sources() { # PATH...
  cd "$repository"
  find "$@" \
    \( -name tests -o -name examples -o -name benches -o -name snapshots -o -name '*.md' \
    -o -path operator/e2e -o -path operator/studies \) -prune \
    -o -type f -print0
}

digest() { LC_ALL=C sort -z | (cd "$repository" && xargs -0 sha256sum) | sha256sum | cut -d' ' -f1; }

# Every file that can change an image: sources without tests, build scripts, pinned versions.
image_inputs() {
  sources operator gateways wasm-guest hack/go/nats-server hack/go/shop hack/misbehave hack/services crds charts/wasmbench/Chart.yaml charts/wasmbench/catalogue.json hack/images.d hack/kernels.d
  printf '%s\0' Cargo.toml Cargo.lock rust-toolchain.toml hack/images hack/wasm hack/runtime hack/kernels hack/lib/rustc-for-wasmcloud hack/shim
}

image_tag() { { image_inputs | digest && echo "$profile"; } | sha256sum | sed 's/^/dev-/' | cut -c1-16; }

# A digest of the sources of operator, probe and plugin, in twelve digits: their --version prints it.
build_tag() { { sources operator charts/wasmbench/catalogue.json && printf '%s\0' Cargo.toml Cargo.lock rust-toolchain.toml; } | digest | cut -c1-12; }

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
  # Identifies the image's content, so that an image whose content did not change only gets the new tag.
  content=$(fingerprint "$(stage_of "$1")" "$repository/${folder_of[$1]}/Containerfile" <<<"$(version)")
  mkdir -p "${archive%/*}"
  install_buildah
  logged "$cache/log/images-$1.log" "make the image '$1'" assemble "$1" "content-$content" "$archive.partial"
  mv "$archive.partial" "$archive"
}

assemble() { # NAME CONTENT ARCHIVE
  local image=localhost/wasmbench/$1:$2
  rm -f "$3"
  # Timestamps are fixed, so that the same content gives the same image.
  in_store images --quiet "$image" 2>/dev/null ||
    in_store bud --isolation chroot --timestamp 0 --tag "$image" \
      --build-arg "NAME=$1" --build-arg "RUNTIME=${runtime_of[$1]}" \
      --build-arg "VERSION=$(version)" --build-arg "REVISION=$(revision)" \
      --file "$repository/${folder_of[$1]}/Containerfile" "$(stage_of "$1")"
  in_store push --quiet "$image" "oci-archive:$3:$(reference_of "$1")"
  remove_old "$1" "$2"
}

# The same files in one layer with fresh timestamps: a node that pulls it has to fetch and unpack it, even if it
# already has the original, or an earlier repacked image. Its user is a name, as that of most public images.
repacked_of() { echo "$store/$tag/$1-repacked.tar"; }

repack() { # NAME
  local repacked
  repacked=$(repacked_of "$1")
  [ ! -e "$repacked" ] || return 0
  install_buildah
  logged "$cache/log/images-$1.log" "repack the image '$1'" squash "$1" "$repacked.partial"
  mv "$repacked.partial" "$repacked"
}

squash() { # NAME ARCHIVE
  local image=localhost/wasmbench/$1:repacked context=$store/repack
  rm -rf "$2" "$context"
  mkdir "$context"
  printf '%s\n' "FROM oci-archive:$(archive_of "$1")" 'USER gateway' >"$context/Containerfile"
  in_store bud --isolation chroot --squash --timestamp "$(date +%s)" --tag "$image" "$context"
  in_store push --quiet "$image" "oci-archive:$2:$(reference_of "$1")"
  # The original image was stored as well, under its own name.
  in_store rmi "$image" "$(reference_of "$1")"
  rm -rf "$context"
}

# Keeps the newest content of each image, and archives of other tags for a day. Removes by force, because an
# interrupted build leaves its container; the lock guarantees that nobody else is building.
remove_old() { # NAME CONTENT
  in_store images --format '{{.Name}}:{{.Tag}}' | { grep -x "localhost/wasmbench/$1:content-.*" || true; } |
    { grep -vx "localhost/wasmbench/$1:$2" || true; } | xargs -r buildah "${store_options[@]}" rmi --force
  find "$store" -maxdepth 1 -name 'dev-*' -mtime +0 ! -name "$tag" -exec rm -rf {} +
}

# vfs needs no support from the kernel, and the images are a few files each.
store_options=(--root "$store/buildah" --runroot "$store/buildah-run" --storage-driver vfs)
in_store() { buildah "${store_options[@]}" "$@"; }

revision() { git -C "$repository" rev-parse HEAD 2>/dev/null || echo unknown; }

install_buildah() {
  have buildah && return
  have apt-get || die "buildah is missing: install it from your distribution"
  [ "$(id -u)" = 0 ] || die "buildah is missing: run 'apt-get install buildah' as root"
  logged "$cache/log/images-apt.log" "install buildah with apt-get" \
    apt-get install -y -q --no-install-recommends buildah
}
