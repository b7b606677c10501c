# shellcheck shell=bash
# The node's file system: what kind's images/base/Dockerfile does, replayed on
# a Debian made from packages, with the files of the pinned kind module.
# Comes in: Debian packages, kind's files, containerd and Kubernetes programs,
#   hack/from-source/node/. Goes out: $rootfs, a folder.
# Why: base image and node image cannot be pulled here, and `kind build
#   node-image` always pulls.

rootfs_packages=(
  systemd systemd-sysv conntrack iptables nftables iproute2 ethtool mount kmod
  libseccomp2 pigz e2fsprogs ca-certificates curl jq procps
  runc containernetworking-plugins
)

rootfs_key() {
  fingerprint "$hack/from-source/node" "$hack/from-source/rootfs.sh" <<<"$NODE_DEBIAN_RELEASE $KIND_VERSION
    $(go_tools_dir containerd) $(go_tools_dir kubernetes)"
}

make_rootfs() {
  rootfs=$state/rootfs-$(rootfs_key)
  [ ! -d "$rootfs" ] || return 0
  rm -rf "$state"/rootfs-*
  step "Make the node's file system from Debian $NODE_DEBIAN_RELEASE" \
    logged "$log/rootfs.log" "make the node's file system" build_rootfs "$rootfs.partial"
  mv "$rootfs.partial" "$rootfs"
}

build_rootfs() { # DIRECTORY
  # The Release files of a mirror's frozen snapshot may have expired.
  mmdebstrap -q --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="$(IFS=, && echo "${rootfs_packages[*]}")" "$NODE_DEBIAN_RELEASE" "$1"
  add_kind_files "$1"
  trim_services "$1"
  add_programs "$1"
  add_network "$1"
  rm -rf "${1:?}"/var/cache/apt/* "${1:?}"/var/lib/apt/lists/*
}

add_kind_files() {
  local files dir
  files=$(cd "$hack/go/kind" && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)/images/base/files
  for dir in etc etc/containerd etc/default etc/sysctl.d etc/systemd/system etc/systemd/system/kubelet.service.d; do
    find "$files/$dir" -maxdepth 1 -type f -exec install -D -m 644 -t "$1/$dir" {} +
  done
  install -D -m 755 -t "$1/usr/local/bin" "$files"/usr/local/bin/*
  install -D -m 755 -t "$1/kind/bin" "$files"/kind/bin/*
  install -d "$1/etc/kubernetes/manifests" "$1/etc/cni/net.d" "$1/opt/cni"
  ln -sfn /usr/lib/cni "$1/opt/cni/bin"
  printf %s "$KUBERNETES_VERSION" >"$1/kind/version"
}

# A node boots only what a node needs, as in kind's own image.
trim_services() {
  local units=$1/lib/systemd/system unit
  rm -f "$units"/sysinit.target.wants/systemd-tmpfiles-setup.service \
    "$units"/{multi-user,local-fs,basic}.target.wants/* \
    "$units"/sockets.target.wants/*{udev,initctl}* \
    "$1"/etc/systemd/system/*.wants/*
  echo ReadKMsg=no >>"$1/etc/systemd/journald.conf"
  ln -sfn /usr/lib/systemd/systemd "$1/usr/sbin/init"
  # binfmt_misc is the kernel's, not the node's.
  ln -sfn /dev/null "$1/etc/systemd/system/systemd-binfmt.service"
  install -m 644 -D -t "$1/etc/systemd/system" "$hack/from-source/node/pod-network.service"
  install -d "$1/etc/systemd/system/multi-user.target.wants"
  for unit in kubelet containerd undo-mount-hacks pod-network; do
    ln -sfn "/etc/systemd/system/$unit.service" "$1/etc/systemd/system/multi-user.target.wants/"
  done
}

add_programs() {
  local containerd kubernetes name
  containerd=$(go_tools_dir containerd) kubernetes=$(go_tools_dir kubernetes)
  install -m 755 -t "$1/usr/local/bin" "$containerd"/{containerd,ctr,containerd-shim-runc-v2}
  install -m 755 -t "$1/usr/bin" "$kubernetes/kubernetes"
  for name in kubeadm kubelet kubectl; do ln -sfn kubernetes "$1/usr/bin/$name"; done
  # The OCI spec that containers start from: containerd's own without rlimits,
  # plus the hook that kind adds to hide the host's identity.
  chroot "$1" ctr oci spec |
    jq '.hooks.createContainer += [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' \
      >"$1/etc/containerd/cri-base.json"
}

# kindnet and the local-path provisioner are images that cannot be pulled here.
add_network() {
  install -m 755 -t "$1/kind/bin" "$hack/from-source/node/pod-network.sh"
  install -m 644 -D -t "$1/kind/manifests" "$hack"/from-source/node/default-{cni,storage}.yaml
}
