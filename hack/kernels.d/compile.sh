#!/usr/bin/env bash
# Compiles kernels, with the compilers of the folder that hack/kernels makes.
# Comes in: copies of the sources, in this script's folder. Goes out: the folder `output`.
set -euo pipefail
cd "$(dirname "$0")"

# No compiler may round otherwise than another, or than the modules' format prescribes.
c_flags=(-O3 -std=gnu11 -pthread -ffp-contract=off -fno-math-errno)
strict=(-Wall -Wextra -Werror)
# The first version of WebAssembly, and no library.
wasm_flags=(--target=wasm32 -mcpu=mvp -ffreestanding -fno-builtin -nostdlib
  -Xlinker --no-entry -Xlinker --strip-all -Xlinker --stack-first -z stack-size=65536)
kernels=()
while read -r name _; do kernels+=("$name"); done <kernels.txt

identifier() { echo "k${1//-/}"; }

compile_wasm() {
  local kernel
  for kernel in "${kernels[@]}"; do
    clang "${c_flags[@]}" "${strict[@]}" "${wasm_flags[@]}" -o "output/$kernel.wasm" "c/$kernel.c"
  done
  # In no table: for tests.
  wat2wasm -o output/outside.wasm outside.wat
  chmod 644 output/*
}

# Lists kernels for C.
write_table() { # KERNEL...
  local kernel
  for kernel in "$@"; do echo "KERNEL(\"$kernel\", $(identifier "$kernel"))"; done >table.h
}

compile_natively() { # COMPILER
  local kernel objects=()
  write_table "${kernels[@]}"
  for kernel in "${kernels[@]}"; do
    "$1" "${c_flags[@]}" "${strict[@]}" -DKERNEL="run_$(identifier "$kernel")" -c -o "$kernel.o" "c/$kernel.c"
    objects+=("$kernel.o")
  done
  link "$1" c/native.c "${objects[@]}"
}

# All four bounds checks in one program.
compile_translated() { # COMPILER
  local kernel checks objects=()
  kernels+=(outside)
  write_table "${kernels[@]}"
  for kernel in "${kernels[@]}"; do
    for checks in Guard Explicit Clamp None; do
      translate "$1" "$kernel" "$checks" "$checks$(identifier "$kernel")"
      objects+=("$checks$(identifier "$kernel")".{code,instance}.o)
    done
  done
  link "$1" -DWASM2C_VERSION="$(wasm2c --version)" "${runtime_flags[@]}" wasm2c/runtime.c "${objects[@]}"
}

# How the runtime's own header is configured, the same for all: the checks are in wasm2c/bounds-checks.h.
runtime_flags=(-I. -Ic -Iwasm2c -DWASM_RT_USE_MMAP=1 -DWASM_RT_MEMCHECK_GUARD_PAGES=1
  -DWASM_RT_NONCONFORMING_UNCHECKED_STACK_EXHAUSTION=1)

translate() { # COMPILER KERNEL CHECKS MODULE
  wasm2c --no-debug-names -n "$4" -o "$4.c" "modules/$2.wasm"
  # Behind the code's own macros, before the functions that are made of them.
  sed -i 's|^DEFINE_LOAD(i32_load,|#include "wasm2c/bounds-checks.h"\n&|' "$4.c"
  grep -q bounds-checks "$4.c"
  "$1" "${c_flags[@]}" "${runtime_flags[@]}" -D"${3^^}" -c -o "$4.code.o" "$4.c"
  "$1" "${c_flags[@]}" "${strict[@]}" "${runtime_flags[@]}" -DMODULE="$4" -c -o "$4.instance.o" wasm2c/instance.c
}

# Static, because an image has no C library.
link() { # COMPILER ARGUMENT...
  local version
  version=$("$1" -dumpfullversion 2>/dev/null || "$1" -dumpversion)
  "$1" "${c_flags[@]}" "${strict[@]}" -I. -Ic -DCOMPILER="$1" -DCOMPILER_VERSION="$version" \
    -static -s -o output/executor c/executor.c "${@:2}"
}

case $1 in
  wasm) compile_wasm ;;
  gcc | clang) compile_natively "$1" ;;
  scalar-clang)
    c_flags+=(-fno-vectorize -fno-slp-vectorize)
    compile_natively clang
    ;;
  wasm2c-*) compile_translated "${1#wasm2c-}" ;;
esac
