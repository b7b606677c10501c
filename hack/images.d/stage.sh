# shellcheck shell=bash
# The build contexts: static binaries and the other files of the image.
# Comes in: the catalogue, the workspace, hack/wasm, hack/tool, hack/runtime, hack/kernels. Goes out: one folder per image.

stage_of() { echo "$store/stage/$1"; }

# Paths of the parts that several images share: modules by guest, folders by runtime, the load generator.
declare -A guests=() runtimes=()
generator=

# A line for each step, on standard error: standard output is for the callers of hack/images.
report() { step "$@" >&2; }

stage() { # NAME...
  have cargo || die "cargo is missing: install Rust from https://rustup.rs"
  get_parts "$@"
  for name in "$@"; do stage_one "$name"; done
}

get_parts() { # NAME...
  local name part
  for name in "$@"; do
    for part in ${guests_of[$name]:-}; do
      [ -n "${guests[$part]:-}" ] || report "Build the Wasm guest $part" get_guest "$part"
    done
    part=${runtime_of[$name]:-}
    [ -z "$part" ] || [ -n "${runtimes[$part]:-}" ] || report "Get the runtime $part" get_runtime "$part"
    [ "$name" != probe ] || report "Build the load generator" get_generator
  done
  report "Compile the binaries of the images" \
    logged "$cache/log/images-cargo.log" "compile the binaries of the images" compile "$store/binaries" "$@"
}

get_guest() { guests[$1]=$("$hack/wasm" build "$1"); }

get_generator() { generator=$("$hack/tool" generator); }

get_runtime() {
  case $1 in
    kernel-*) runtimes[$1]=$("$hack/kernels" "${1#kernel-}") ;;
    *) runtimes[$1]=$("$hack/runtime" "$1") ;;
  esac
}

# The build context of one image.
stage_one() { # NAME
  local name=$1 context allocator guest runtime
  context=$(stage_of "$name")
  read -r guest _ <<<"${guests_of[$name]:-}"
  guest=${guests[${guest:-none}]:-} runtime=${runtimes[${runtime_of[$name]:-none}]:-}
  rm -rf "$context"
  mkdir -p "$context"
  if [ "$name" = server-wasmedge-aot ]; then
    compile_with_wasmedge "$runtime" "$guest" "$context/gateway.wasm"
    return
  fi
  if is_wasm "$name"; then
    put 644 "$guest" "$context/gateway.wasm"
    return
  fi
  if [ -n "$runtime" ]; then
    mkdir "$context/root"
    cp -a "$runtime/." "$context/root"
  fi
  # The binaries of wasmcloud, action-wasmer, action-wamr and the services are in the runtime's folder.
  [ -z "${binary_of[$name]:-}" ] ||
    put 755 "$store/binaries/${binary_of[$name]}" "$context/${entry_of[$name]}"
  case $name in
    embedded)
      put 644 "$guest" "$context/transform.wasm"
      for allocator in OnDemand Pooling; do
        "$context/gateway" precompile "$allocator" "$guest" "$context/transform-${allocator,,}.cwasm"
      done
      ;;
    probe)
      put 755 "$generator" "$context/generator"
      put_actions "$context/actions"
      ;;
    kernel-wasmtime) put 755 "$store/binaries/kernel-wasmtime" "$context/root/executor" ;;
    wasmtime-serve) put_component "$runtime" "$guest" "$context/root" ;;
    wasmcloud) put 644 "$guest" "$context/root/http.wasm" ;;
    service-*)
      mkdir -p "$context/root/app"
      [ ! -d "$repository/hack/services/${name#service-}" ] || cp -a "$repository/hack/services/${name#service-}/." "$context/root/app"
      ;;
    *-cli | v8)
      put_modules "${runtime_of[$name]}" "$runtime" "$guest" "$context/root"
      [ "$name" != wasmedge-cli ] || put_server "$runtime" "${guests[server-wasmedge]}" "$context/root"
      ;;
  esac
}

# The module for answers and the one for /engine, and the code that the runtime compiles them to: for any
# processor of the architecture, because the node's is not known.
put_modules() { # RUNTIME FOLDER MODULE ROOT
  local stem
  put 644 "$3" "$4/transform.wasm"
  "$4/gateway" compute-module >"$4/compute.wasm"
  for stem in transform compute; do
    case $1 in
      wasmtime)
        "$2/usr/bin/wasmtime" compile --target "$(rustc -vV | sed -n 's/^host: //p')" \
          -o "$4/$stem.cwasm" "$4/$stem.wasm"
        ;;
      wasmedge) compile_with_wasmedge "$2" "$4/$stem.wasm" "$4/$stem-aot.wasm" ;;
      wasmer) "$2/usr/bin/wasmer" compile -o "$4/$stem.wasmu" "$4/$stem.wasm" ;;
      v8) put 644 "$repository/gateways/cli/v8/wasi.cjs" "$4/wasi.cjs" ;;
    esac
  done
}

# The code that probes send to functions: modules, and native programs from the same sources.
put_actions() { # FOLDER
  mkdir "$1"
  put 644 "${guests[action]}" "$1/hash.wasm"
  put 644 "${guests[action-large]}" "$1/hash-large.wasm"
  put 644 "$store/binaries/wasm-guest-action" "$1/hash"
  put 644 "$store/binaries/wasm-guest-action-large" "$1/hash-large"
}

# The gateway as a guest that listens itself, as plain Wasm and compiled by wasmedge.
put_server() { # RUNTIME MODULE ROOT
  put 644 "$2" "$3/server.wasm"
  compile_with_wasmedge "$1" "$2" "$3/server-aot.wasm"
  run_wasmedge "$1" --version | sed -n '1s/.* version //p' >"$3/wasmedge.version"
}

compile_with_wasmedge() { # RUNTIME MODULE DESTINATION
  logged "$cache/log/images-wasmedge.log" "compile ${2##*/} with wasmedge" \
    run_wasmedge "$1" compile --optimize 3 --generic-binary "$2" "$3"
}

# This machine's C library may be older than the one that wasmedge was built with.
run_wasmedge() { # RUNTIME ARGUMENT...
  local runtime=$1 loader folders
  loader=$(find "$runtime" -name 'ld-linux*.so.*')
  folders=$(find "$runtime/usr/lib" -maxdepth 1 -name '*-linux-gnu*')
  "$loader" --library-path "$folders" "$runtime/usr/bin/wasmedge" "${@:2}"
}

# The component that is served, as it is and compiled.
put_component() { # FOLDER COMPONENT ROOT
  put 644 "$2" "$3/http.wasm"
  "$1/usr/bin/wasmtime" compile --target "$(rustc -vV | sed -n 's/^host: //p')" -o "$3/http.cwasm" "$3/http.wasm"
}

# Static, because an image has no C library; all at once, because they share most of the compiled
# code.
compile() { # DIRECTORY NAME...
  local directory=$1 target name packages=() built digits
  shift
  digits=$(build_tag)
  target=$(rustc -vV | sed -n 's/^host: //p')
  for name in "$@"; do packages+=(${package_of[$name]:+--package "${package_of[$name]}"}); done
  # The plugin is in no image, but shares the same crates: built separately, it would recompile them all.
  packages+=(--package kubectl-wasmbench)
  # Goes into the probe's image, next to the probe itself.
  [[ " $* " != *" probe "* ]] || packages+=(--package wasm-guest-action)
  # In an image in addition to the front, which is in all images of kernels.
  [[ " $* " != *" kernel-wasmtime "* ]] || packages+=(--package kernel-wasmtime)
  cd "$repository"
  # The path of cargo's folder would make the binaries differ between machines. The repository's path does
  # not get into them (cargo compiles members by relative paths); remapping it here would make every clone
  # recompile everything.
  WASMBENCH_BUILD=$digits RUSTFLAGS="-C target-feature=+crt-static --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
    cargo build --locked --profile "$profile" --target "$target" "${packages[@]}"
  built=$(cargo metadata --format-version 1 --no-deps --locked | jq -r .target_directory)/$target/$profile
  mkdir -p "$directory"
  for name in "$@"; do
    [ -z "${binary_of[$name]:-}" ] || put 755 "$built/${binary_of[$name]}" "$directory/${binary_of[$name]}"
  done
  [[ " $* " != *" kernel-wasmtime "* ]] || put 755 "$built/kernel-wasmtime" "$directory/kernel-wasmtime"
  rm -rf "$store/plugin"
  mkdir -p "$store/plugin/$profile-$digits"
  put 755 "$built/kubectl-wasmbench" "$store/plugin/$profile-$digits/kubectl-wasmbench"
  for name in wasm-guest-action wasm-guest-action-large; do
    [[ " $* " != *" probe "* ]] || put 755 "$built/$name" "$directory/$name"
  done
}

put() { # MODE SOURCE DESTINATION
  [ -f "$2" ] || die "the build gave no '$2', which the image needs as '${3##*/}'"
  install -m "$1" "$2" "$3"
}
