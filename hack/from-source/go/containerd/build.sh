# shellcheck shell=bash
module=github.com/containerd/containerd/v2
link="-X $module/version.Version=$version"
# Without the snapshotters that a node never uses and that need C libraries.
go_build -tags 'no_btrfs no_zfs no_aufs no_devmapper' \
  "$module/cmd/containerd" "$module/cmd/ctr" "$module/cmd/containerd-shim-runc-v2"
