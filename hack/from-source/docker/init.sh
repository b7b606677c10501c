#!/usr/bin/env bash
# Process 1 of the private Docker daemon's namespaces: gives the daemon its own
# /run, starts the daemon and its name server, and ends when the daemon ends. As
# process 1 it also reaps orphans, which bash does while it waits.
#
# Usage: init.sh RUN_DIRECTORY COREDNS
set -euo pipefail
run=$1 coredns=$2

# Nothing of the daemon's run state may be seen or left on the host.
mount -t tmpfs -o mode=755 tmpfs /run
ip link set lo up

# While no upstream answers, the daemon's embedded DNS hangs for seconds per query;
# this name server answers at once that there is no such name.
ip address add "$(sed -n 's/^ *bind //p' "$run/Corefile")/32" dev lo
"$coredns" -conf "$run/Corefile" >"$run/name-server.log" 2>&1 &

dockerd --config-file "$run/daemon.json" &
daemon=$!
trap 'kill "$daemon"' TERM
while kill -0 "$daemon" 2>/dev/null; do wait "$daemon" || true; done
