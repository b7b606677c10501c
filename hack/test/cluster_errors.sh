# shellcheck shell=bash
# Every mistake gets a message of one sentence that names the remedy.

# Mistakes that need no cluster, no root and no network: `make unit` tests them.
error_tests() {
  it 'an unknown command names the help' fails_with "no command 'frobnicate'; hack/cluster help" "$cluster" frobnicate
  it 'an unknown flag names the help' fails_with "no flag '--frob'; hack/cluster help" "$cluster" up --frob
  it 'a command without arguments refuses one' fails_with "'down' takes no arguments" "$cluster" down now
  it 'an invalid number of nodes is refused' fails_with "a number from 1 to 9, not 'many'" "$cluster" up --nodes many
  it 'a missing number of nodes is refused' fails_with "a number from 1 to 9, not ''" "$cluster" up --nodes
  it 'kubeconfig without a cluster names the way to one' \
    fails_with 'no cluster is up; start one with: hack/cluster up' elsewhere "$cluster" kubeconfig
  it 'status without a cluster names the way to one' \
    fails_mentioning 'start it with: hack/cluster up' elsewhere "$cluster" status
  it 'load without a file names what it takes' fails_with 'load needs at least one archive' "$cluster" load
  it 'load of a missing file names how to make one' \
    fails_with 'buildah push IMAGE oci-archive:' "$cluster" load "$work/none.tar"
  echo text >"$work/text.tar"
  it 'load of something else is refused with the reason' fails_with 'is no OCI archive' "$cluster" load "$work/text.tar"
  it 'an unknown tool names the help' fails_with "no tool is called 'frob'; hack/tool --help" "$hack/tool" frob
  commands_without go
  it 'without Go it names the version to install' \
    fails_with 'install Go 1.26 or newer' elsewhere env "PATH=$work/without-go" "$cluster" up
}

# Mistakes that need root and a running cluster.
more_error_tests() {
  it 'another number of nodes than is running requires down first' \
    fails_with "run 'hack/cluster down' first" "$cluster" up --nodes 3
  it 'other addresses than those in use require down first' \
    fails_with 'has ipv4 addresses, not ipv6' "$cluster" up --ipv6
  it 'without root and Docker it names what is needed' fails_with 'starting one takes root' as_nobody
  commands_without apt-get
  it 'without apt-get it advises to start Docker' \
    fails_with 'apt-get is missing); start Docker first' elsewhere env "PATH=$work/without-apt-get" "$cluster" up
  it 'too small a disk is named with what is needed there' fails_with 'needs 5 GB of free disk under' on_small_disk
  it 'an address in use is named with its link' \
    fails_with 'are in use: wasmbench0 has 198.18.7.1/30' elsewhere "$cluster" up
}

# like `fails_with`, but the command may print more than one line.
fails_mentioning() {
  local text=$1 output
  shift
  ! output=$("$@" 2>&1) || return 1
  [[ $output == *"$text"* ]]
}

as_nobody() {
  # The clone itself may be in a folder that only root can read.
  cp -r "$hack" "$work/hack"
  install -d -m 777 "$work/empty"
  chmod 755 "$work"
  elsewhere setpriv --reuid=65534 --regid=65534 --clear-groups "$work/hack/cluster" up
}

# A folder with all commands but one.
commands_without() { # COMMAND
  local dir IFS=:
  mkdir -p "$work/without-$1"
  for dir in $PATH; do
    [ ! -d "$dir" ] || find -L "$dir" -maxdepth 1 -type f -executable ! -name "$1" -print0 2>/dev/null |
      xargs -0 -r ln -sf -t "$work/without-$1"
  done
}

on_small_disk() {
  # shellcheck disable=SC2016 # expanded by the inner shell
  elsewhere unshare --mount --propagation private bash -c \
    'mkdir -p "$1" && mount -t tmpfs -o size=64m tmpfs "$1" && exec "$2" up' - "$work/empty" "$cluster"
}
