# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that read this file
# What every script under hack/ shares: where things are, and how to report.
# Comes in: nothing. Goes out: paths, functions and cargo's folder. Changes nothing by itself.

shopt -s inherit_errexit # a failure inside $(...) ends the script too

hack=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/wasmbench
# One target directory for cargo, whichever script is called first: with another, everything would be recompiled.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$cache/target}
# shellcheck source=hack/versions.env
source "$hack/versions.env"

# How images and shims are compiled: 'release', which is what may be measured, or 'quick', which is what tests run.
export WASMBENCH_PROFILE=${WASMBENCH_PROFILE:-release}
profile=$WASMBENCH_PROFILE

# Prints one sentence about what is wrong and how to fix it, then exits.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# The version of operator, plugin, images and chart.
version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$hack/../Cargo.toml"; }

# A short name for the content of the given files and folders, and of the words
# read from standard input: same inputs, same name, on every machine.
fingerprint() {
  {
    cat
    find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | cut -d' ' -f1
  } | sha256sum | cut -c1-16
}

# logged FILE TEXT COMMAND...: runs a long step silently; if it fails, shows the
# end of its log, what could not be done and where the whole log is. Do not
# call it in a condition: `set -e` would be off in COMMAND.
logged() {
  local log=$1 text=$2 status
  shift 2
  mkdir -p "${log%/*}"
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  [ "$status" != 0 ] || return 0
  printf '\n--- the last lines of %s:\n' "$log" >&2
  tail -n 15 "$log" >&2
  die "could not $text; the whole log is $log"
}

# step TEXT COMMAND...: prints one line for a step, with the time that it took. The command runs in this
# shell, and must be silent or write to its own log.
step() {
  local text=$1 started=$EPOCHREALTIME
  shift
  printf '  %-58s ' "$text"
  "$@"
  awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf "%6.1f s\n", b - a }'
}
