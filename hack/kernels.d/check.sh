# shellcheck shell=bash
# Calls all kernels on all executors.
# Comes in: executors, modules. Goes out: a table of times, and failures on standard error.

failed=

fail() {
  failed=on
  echo "check: $*" >&2
}

check() { # ROUNDS
  local rounds=$1 name checks
  declare -A expected=() times=()
  columns=()
  builder=$(make_builder)
  modules=$(get wasm)
  check_modules
  run_all gcc ''
  run_all clang ''
  run_all scalar-clang ''
  for name in wasm2c-gcc wasm2c-clang v8; do
    for checks in Guard Explicit Clamp None; do
      [ "$name-$checks" = v8-Clamp ] || run_all "$name" "$checks"
    done
  done
  for name in wamr wasm3; do run_all "$name" Explicit; done
  for checks in Guard Explicit; do run_all wasmer "$checks"; done
  print_times
  check_outside
  check_threads
  check_tier
  [ -z "$failed" ]
}

# What the first version of the format has not.
later=(mutable-globals saturating-float-to-int sign-extension simd multi-value bulk-memory reference-types)

check_modules() {
  local work module name
  work=$(mktemp -d "$builder/tmp/check-XXXXXX")
  cp "$modules"/*.wasm "$work"
  for module in "$work"/*.wasm; do
    name=${module##*/} module=${module#"$builder"}
    chroot "$builder" wasm-validate "${later[@]/#/--disable-}" "$module" || fail "$name is not of the first version"
    ! chroot "$builder" wasm-objdump -x -j Import "$module" 2>/dev/null | grep -q '^ - ' || fail "$name imports something"
  done
  rm -rf "$work"
}

# Starts the executor in the folder `root`, as in its image; its first line is in `ready`.
start() { # CHECKS [THREADS]
  local options=(--threads "${2:-1}")
  [ -z "$1" ] || options+=(--bounds-checks "$1")
  coproc executor { exec env -i PATH="$PATH" chroot "$root" /executor "${options[@]}" /kernels; }
  # Copies: bash forgets the originals when the process ends.
  process=$executor_PID calls=${executor[1]} answers=${executor[0]}
  read -r -u "$answers" ready || die "the executor does not start"
}

stop() {
  eval "exec $calls>&- $answers<&-"
  wait "$process" 2>/dev/null || true
}

# call NAME REPEATS: sets `answer` to what follows the number of the call, and `took` to its microseconds.
call() {
  local began=${EPOCHREALTIME/./} number
  echo "7 $1 $2" >&"$calls"
  read -r -u "$answers" number answer || answer='! the process ended'
  took=$((${EPOCHREALTIME/./} - began))
  [ "${number:-7}" = 7 ] || fail "$1: the answer has another number: $number"
}

run_all() { # NAME CHECKS
  local column=$1${2:+-$2} kernel repeats round checksum
  columns+=("$column")
  root=$(get "$1")
  start "$2"
  echo "$column: $ready"
  while read -r kernel repeats; do
    for ((round = 0; round < rounds; round++)); do
      call "$kernel" "$repeats"
      checksum=${answer%% *}
      : "${expected[$kernel]:=$checksum}"
      [ "$checksum" = "${expected[$kernel]}" ] || fail "$kernel on $column: $answer, and with gcc ${expected[$kernel]}"
      ((took >= ${times[$column $kernel]:-$took})) || times[$column $kernel]=$took
      : "${times[$column $kernel]:=$took}"
    done
  done <"$sources/kernels.txt"
  stop
}

print_times() {
  local kernel column
  printf '\nshortest of %s calls, in ms\n%-15s' "$rounds" kernel
  printf ' %s' "${columns[@]}"
  while read -r kernel _; do
    printf '\n%-15s' "$kernel"
    for column in "${columns[@]}"; do
      awk -v us="${times[$column $kernel]}" -v width="${#column}" 'BEGIN { printf " %*.1f", width, us / 1000 }'
    done
    for column in gcc clang; do
      [[ $kernel = empty || $kernel = filled ]] || [ "${times[$column $kernel]}" -ge 20000 ] || printf ' (%s: less than 20 ms)' "$column"
    done
  done <"$sources/kernels.txt"
  printf '\n\n'
}

# Addresses of the module `outside`: inside, on the edge, behind it, far behind it.
check_outside() {
  local name checks address row
  for name in wasm2c-gcc wasm2c-clang v8; do
    root=$(get "$name")
    for checks in Guard Explicit Clamp None; do
      [ "$name-$checks" != v8-Clamp ] || continue
      row="outside: $name $checks"
      for address in 65528 65529 65536 2147483647; do
        # What bash reports if the process ends: the answer shows it, too.
        { start "$checks" && call outside "$address" && stop; } 2>/dev/null
        row+=" $address ${answer% [0-9]*},"
        case $checks-$address in
          *-65528) [[ $answer = 4000000000000000* ]] || fail "$name $checks: an access inside: $answer" ;;
          Guard-* | Explicit-*) [[ $answer = '! '*bounds* ]] || fail "$name $checks: an access outside: $answer" ;;
        esac
      done
      echo "${row%,}"
    done
  done
}

# Traps on some threads, while others compute.
check_threads() {
  local name id checksum wrong
  for name in wasm2c-gcc wasm2c-clang v8; do
    root=$(get "$name") wrong=
    start Guard 4
    call mvt 9
    checksum=${answer%% *}
    for id in {0..39}; do
      if ((id % 2)); then echo "$id outside 65536"; else echo "$id mvt 9"; fi
    done >&"$calls"
    for _ in {0..39}; do
      read -r -u "$answers" id answer
      if ((id % 2)); then [[ $answer = '! '*bounds* ]]; else [[ $answer = $checksum' '* ]]; fi || wrong+=" $id $answer"
    done
    stop
    [ -z "$wrong" ] || fail "$name with four threads:$wrong"
  done
}

# What V8 compiled before the first call.
check_tier() {
  local compilers
  compilers=$(env -i PATH="$PATH" chroot "$root" /usr/bin/node --trace-wasm-compilation-times /executor /kernels </dev/null |
    sed -n 's/^Compiled function .* using \([A-Za-z]*\),.*/\1/p' | sort | uniq -c)
  echo "functions by compiler of V8:$compilers"
  [[ $compilers = *TurboFan && $compilers != *Liftoff* ]] || fail "V8 does not compile all with TurboFan at the start"
}
