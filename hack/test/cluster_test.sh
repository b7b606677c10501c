#!/usr/bin/env bash
# Tests of hack/cluster against the real thing, named as sentences.
#
#   hack/test/cluster_test.sh --errors  how it reports mistakes; needs no cluster, and is part of make unit
#   hack/test/cluster_test.sh           also on the running cluster, or one that it starts, which stays up
#   hack/test/cluster_test.sh --full    also takes it down, kills it, makes it larger
set -uo pipefail
hack=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cluster=$hack/cluster
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# it NAME COMMAND...: the test NAME passes if COMMAND succeeds.
it() {
  local name=$1
  shift
  # Not as the condition itself: `set -e` would be off in it.
  (set -e; "$@") >"$work/out" 2>&1
  # shellcheck disable=SC2181
  if [ $? = 0 ]; then
    echo "ok - $name"
    passed=$((passed + 1))
  else
    echo "not ok - $name"
    tail -n 30 "$work/out" | sed 's/^/    /'
    failed=$((failed + 1))
  fi
}

# fails_with TEXT COMMAND...: COMMAND fails with one line that contains TEXT.
fails_with() {
  local text=$1 output
  shift
  ! output=$("$@" 2>&1) || { echo "it did not fail: $output" && return 1; }
  echo "$output"
  [ "$(wc -l <<<"$output")" = 1 ] && [[ $output == *"$text"* ]]
}

# prints TEXT COMMAND...: COMMAND succeeds and its output contains TEXT.
prints() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || { echo "it failed: $output" && return 1; }
  echo "$output"
  [[ $output == *"$text"* ]]
}

kube() { "$("$hack/tool" kubectl)" --kubeconfig "$("$cluster" kubeconfig)" "$@"; }

# As on a machine where no cluster was ever started.
elsewhere() { XDG_CACHE_HOME=$work/empty DOCKER_HOST=unix://$work/none "$@"; }

# shellcheck source=hack/test/cluster_errors.sh
source "$hack/test/cluster_errors.sh"
# shellcheck source=hack/test/cluster_running.sh
source "$hack/test/cluster_running.sh"
# shellcheck source=hack/test/cluster_full.sh
source "$hack/test/cluster_full.sh"

error_tests
if [ "${1:-}" != --errors ]; then
  "$cluster" up || exit
  more_error_tests
  running_tests
fi
case ${1:-} in
  --full) full_tests ;;
esac

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
