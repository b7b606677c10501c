# shellcheck shell=bash
# The images that kubeadm expects on a node, each under its usual name.
# Comes in: the Go programs, $rootfs (for kube-proxy's nft). Goes out: images in
#   the private Docker daemon, listed in $system_images.
# Why: registry.k8s.io cannot be reached everywhere.

registry=registry.k8s.io
kubernetes_images=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy)
system_images=()

# image FOLDER [CHANGES...] -- NAMES...: one layer, several names.
image() {
  local folder=$1 first name
  local -a changes=(--change 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin')
  shift
  while [ "$1" != -- ]; do
    changes+=(--change "$1")
    shift
  done
  first=$registry/$2
  tar -C "$folder" --owner=0 --group=0 -c . | docker import "${changes[@]}" - "$first"
  for name in "${@:2}"; do
    docker tag "$first" "$registry/$name"
    system_images+=("$registry/$name")
  done
}

build_system_images() {
  local work=$state/images.partial name
  rm -rf "$work"
  mkdir -p "$work"/{kubernetes,etcd,coredns,pause}

  mkdir -p "$work"/kubernetes/{tmp,etc,run,usr/local/bin}
  cp "$(go_tools_dir kubernetes)/kubernetes" "$work/kubernetes/usr/local/bin/"
  for name in "${kubernetes_images[@]}"; do ln -s kubernetes "$work/kubernetes/usr/local/bin/$name"; done
  copy_with_libraries "$work/kubernetes" /usr/sbin/nft
  # Without it nft prints protocols as numbers. kube-proxy, which checks its maps once an hour, then takes their entries
  # for stale and removes them: services can no longer be reached.
  install -m 644 "$rootfs/etc/protocols" "$work/kubernetes/etc/protocols"
  image "$work/kubernetes" -- "${kubernetes_images[@]/%/:$KUBERNETES_VERSION}"

  mkdir -p "$work"/etcd/{tmp,etc,usr/local/bin}
  cp "$(go_tools_dir etcd)/etcd" "$work/etcd/usr/local/bin/"
  image "$work/etcd" -- "etcd:$ETCD_IMAGE_TAG"

  mkdir -p "$work"/coredns/{tmp,etc}
  cp "$(go_tools_dir coredns)/coredns" "$work/coredns/"
  image "$work/coredns" 'ENTRYPOINT ["/coredns"]' -- "coredns/coredns:$COREDNS_VERSION"

  # kind's containerd asks for one tag, kubeadm checks for the other.
  gcc -static -Os -s -o "$work/pause/pause" -DVERSION="$PAUSE_IMAGE_TAG" \
    "$(cd "$(go_source kubernetes)" && go list -m -f '{{.Dir}}' k8s.io/kubernetes)/build/pause/linux/pause.c"
  image "$work/pause" 'ENTRYPOINT ["/pause"]' 'USER 65535:65535' -- "pause:$PAUSE_IMAGE_TAG" pause:3.10

  rm -rf "$work"
}

# A program of the node's file system with the libraries it loads.
copy_with_libraries() { # FOLDER PROGRAM
  local library
  mkdir -p "$1"/usr/{sbin,lib,lib64}
  for library in lib lib64 sbin; do ln -sfn "usr/$library" "$1/$library"; done
  cp "$rootfs$2" "$1$2"
  chroot "$rootfs" ldd "$2" | grep -o '/lib[^ ]*' | while read -r library; do
    install -D -m 755 "$rootfs$library" "$1/usr$library"
  done
}
