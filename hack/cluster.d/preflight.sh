# shellcheck shell=bash
# Reports at once what would fail in ten minutes.
# Comes in: the machine. Goes out: nothing, or one sentence with the remedy.

preflight() {
  local tool
  [ "$(uname -s)" = Linux ] || die "the local cluster needs Linux; use an existing cluster's kubeconfig elsewhere"
  for tool in flock ip jq; do
    have "$tool" || [ "$(id -u)" = 0 ] || die "'$tool' is missing; install it (Debian: apt-get install util-linux iproute2 jq)"
  done
  have go || [ -x "$(go_tools_dir kind)/kind" ] ||
    die "Go is missing, which builds kind; install Go 1.26 or newer (https://go.dev/doc/install) and put it on PATH"
}
