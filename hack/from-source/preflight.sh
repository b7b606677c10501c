# shellcheck shell=bash
# Reports at once what would fail in ten minutes, where the machine's Docker is not used.
# Comes in: the machine. Goes out: nothing, or one sentence with the remedy.

free_gigabytes() { # DIRECTORY, which need not exist yet
  local dir=$1
  while [ ! -d "$dir" ]; do dir=${dir%/*} dir=${dir:-/}; done
  df -Pk "$dir" | awk 'NR == 2 { print int($4 / 1048576) }'
}

require_space() { # GIGABYTES DIRECTORY
  local free
  free=$(free_gigabytes "$2")
  [ "$free" -ge "$1" ] ||
    die "the cluster needs $1 GB of free disk under $2, where $free GB are left; make room there or set ${3:-XDG_CACHE_HOME} to a larger disk"
}

preflight_private() {
  [ "$(id -u)" = 0 ] ||
    die "no Docker daemon with $KIND_NODE_IMAGE could be reached, and starting one takes root; start Docker, or run: sudo -E hack/cluster up"
  have apt-get ||
    die "no Docker daemon with $KIND_NODE_IMAGE could be reached, and starting one takes Debian's packages (apt-get is missing); start Docker first"
  require_space 5 "$cache"
  if [ ! -d "$(go_tools_dir kubernetes)" ]; then
    # Sources and objects of the Go programs, kept by Go until `go clean`.
    require_space 4 "$(go env GOMODCACHE)" GOMODCACHE
    require_space 10 "$(go env GOCACHE)" GOCACHE
  fi
  [ ${#docker_socket} -le 100 ] ||
    die "$docker_socket is too long a path for a socket; set XDG_CACHE_HOME to a shorter one"
  local taken
  taken=$(ip -o address show | awk '$4 ~ /^(198\.1[89]\.|2001:2:)/ { print $2, "has", $4; exit }')
  [ -z "$taken" ] ||
    die "the cluster's addresses (198.18.0.0/15, 2001:2::/48) are in use: $taken; remove that link first (ip link delete ${taken%% *}) or end what made it"
}
