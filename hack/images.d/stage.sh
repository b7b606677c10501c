# shellcheck shell=bash
# The build contexts: static binaries and what lies beside them in the image.
# Comes in: the workspace, hack/wasm, hack/tool. Goes out: one folder per image.

declare -A package_of=(
  [operator]=wasmbench-controller [probe]=wasmbench-probe [native]=gateway-native
  [embedded]=gateway-embedded [upstream]=gateway-upstream
)
declare -A binary_of=(
  [operator]=wasmbench-operator [probe]=wasmbench-probe [native]=gateway-native
  [embedded]=gateway-embedded [upstream]=gateway-upstream
)
# Under which name the binary lies in the image, where it is another.
declare -A entry_of=([native]=gateway [embedded]=gateway [upstream]=gateway)

stage_of() { echo "$store/stage/$1"; }

stage() { # NAME...
  local name context binaries module fortio server
  have cargo || die "cargo is missing: install Rust from https://rustup.rs"
  for name in "$@"; do
    case $name in
      embedded) module=$("$hack/wasm" build transform) ;;
      probe) fortio=$("$hack/tool" fortio) ;;
      server) server=$("$hack/wasm" build server) ;;
    esac
  done
  binaries=$store/binaries
  logged "$cache/log/images-cargo.log" "compile the binaries of the images" compile "$binaries" "$@"
  for name in "$@"; do
    context=$(stage_of "$name")
    rm -rf "$context"
    mkdir -p "$context"
    if [ "$name" = server ]; then
      put 644 "$server" "$context/gateway.wasm"
      continue
    fi
    put 755 "$binaries/${binary_of[$name]}" "$context/${entry_of[$name]:-${binary_of[$name]}}"
    case $name in
      embedded) put 644 "$module" "$context/transform.wasm" ;;
      probe) put 755 "$fortio" "$context/fortio" ;;
    esac
  done
}

# Static, because an image has no C library; all at once, because they share most of what is
# compiled.
compile() { # DIRECTORY NAME...
  local directory=$1 target name packages=() built
  shift
  target=$(rustc -vV | sed -n 's/^host: //p')
  for name in "$@"; do packages+=(${package_of[$name]:+--package "${package_of[$name]}"}); done
  # Not in an image, but made of the same parts: apart it would compile them all again.
  packages+=(--package kubectl-wasmbench)
  cd "$repository"
  # Cargo's folder would make the binaries differ from those of another machine. The repository's own
  # does not get in (cargo compiles members by relative paths), and here it would make every clone
  # compile everything anew.
  RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
    cargo build --locked --release --target "$target" "${packages[@]}"
  built=$(cargo metadata --format-version 1 --no-deps --locked | jq -r .target_directory)/$target/release
  mkdir -p "$directory"
  for name in "$@"; do
    [ -z "${binary_of[$name]:-}" ] || put 755 "$built/${binary_of[$name]}" "$directory/${binary_of[$name]}"
  done
  put 755 "$built/kubectl-wasmbench" "$directory/kubectl-wasmbench"
}

put() { # MODE SOURCE DESTINATION
  [ -f "$2" ] || die "the build gave no '$2', which the image needs as '${3##*/}'"
  install -m "$1" "$2" "$3"
}
