# shellcheck shell=bash
# Debian packages needed without the machine's Docker: the Docker daemon, the tool
# that builds the node's file system, a C compiler for the pause program.
# Comes in: apt's sources as they are. Goes out: the commands on PATH.

install_packages() {
  local -A package_of=(
    [dockerd]=docker.io [mmdebstrap]=mmdebstrap [jq]=jq [gcc]=gcc [ip]=iproute2
    [iptables]=iptables [runc]=runc [flock]=util-linux
  )
  local command missing=()
  for command in "${!package_of[@]}"; do
    have "$command" || missing+=("${package_of[$command]}")
  done
  # Static linking needs the C library's archive, for which there is no command to look for.
  [ -e /usr/include/stdlib.h ] || missing+=(libc6-dev)
  [ ${#missing[@]} -gt 0 ] || return 0
  step "Install ${missing[*]}" logged "$log/packages.log" "install ${missing[*]} with apt-get" apt_install "${missing[@]}"
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -y -q --no-install-recommends "$@"
}
