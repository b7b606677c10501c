# shellcheck shell=bash
# The node image: the file system with the system images inside its containerd,
# as kind's buildcontext.go makes it.
# Comes in: $rootfs, the programs. Goes out: $node_image in the private Docker
#   daemon, named by the fingerprint of all that went in.

node_image_key() {
  fingerprint "$hack"/from-source/{images,node-image}.sh <<<"$(rootfs_key) $ETCD_IMAGE_TAG $PAUSE_IMAGE_TAG
    $(go_tools_dir kubernetes) $(go_tools_dir etcd) $(go_tools_dir coredns)"
}

make_node_image() {
  node_image=wasmbench/node:$(node_image_key)
  docker image inspect "$node_image" >/dev/null 2>&1 && return
  make_rootfs
  step "Make the node image, Kubernetes $KUBERNETES_VERSION" \
    logged "$log/node-image.log" 'make the node image' build_node_image
}

build_node_image() {
  local builder
  # Node images of earlier fingerprints are no longer of use, nor are the
  # leftovers of a failed build.
  docker image prune --all --force
  build_system_images

  tar -C "$rootfs" -c . | docker import --change 'ENV container=docker' - wasmbench/node:base
  builder=$(docker run --detach --privileged --entrypoint sleep wasmbench/node:base infinity)
  docker exec --detach "$builder" containerd
  for _ in {1..100}; do
    docker exec "$builder" ctr version >/dev/null 2>&1 && break
    sleep 0.1
  done
  docker save "${system_images[@]}" | docker exec --interactive "$builder" \
    ctr --namespace k8s.io images import --label io.cri-containerd.pinned=pinned --all-platforms --no-unpack -
  docker exec "$builder" ctr --namespace k8s.io images list --quiet
  docker exec "$builder" bash -c 'pkill -x containerd; while pgrep -x containerd; do sleep 0.1; done'
  docker commit --change 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]' --change 'CMD []' "$builder" "$node_image"
  docker rm --force "$builder"
  docker rmi --force wasmbench/node:base "${system_images[@]}"
}
