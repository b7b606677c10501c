# shellcheck shell=bash
# Tests of a running cluster. They leave it running.

running_tests() {
  it 'a second up finds the first' prints 'already up' timeout 5 "$cluster" up
  it 'status names substrate, version, nodes and kubeconfig' status_is_complete
  it 'the node is ready and has the pinned version of Kubernetes' pinned_version
  it 'helm works with the printed kubeconfig' helm_works
  it 'a node takes 250 pods' prints 250 kube get nodes -o 'jsonpath={.items[0].status.allocatable.pods}'
  make_archive one
  it 'load makes an image usable by a pod' loaded_image_runs one
  it 'load finds an image that is already there' prints 'already on' timeout 5 "$cluster" load "$work/image.tar"
  make_archive two
  it 'load replaces an image whose content changed' loaded_image_runs two
  it 'up --registry gives a cluster that is up a registry' prints 'is ready' timeout 120 "$cluster" up --registry
  make_archive three
  it 'an image that was pushed is pulled by a pod' pushed_image_runs
  it 'a pod finds the API by the name of its service' dns_works
}

status_is_complete() {
  local word
  for word in Substrate "$(. "$hack/versions.env" && echo "${KUBERNETES_VERSION%.*}")" '1 of 1 ready' kubeconfig; do
    prints "$word" "$cluster" status
  done
}

pinned_version() {
  kube wait --for=condition=Ready node --all --timeout=10s
  prints "$(kube version -o json | jq -r .clientVersion.gitVersion)" kube get nodes
}

helm_works() { KUBECONFIG=$("$cluster" kubeconfig) "$("$hack/tool" helm)" list --all-namespaces; }

# Writes an OCI archive of one static program by hand, in the form that buildah
# gives it: the test needs no image builder. Two contents have different digests
# under one name.
make_archive() { # CONTENT
  local dir=$work/oci layer config manifest
  rm -rf "$dir" "$work/root"
  mkdir -p "$dir/blobs/sha256" "$work/root"
  cp "$("$hack/tool" generator)" "$work/root/program"
  echo "$1" >"$work/root/content"
  tar -C "$work/root" -cf "$work/layer" .
  layer=$(blob "$work/layer")
  jq -n --arg layer "$layer" --arg content "$1" '{architecture: "amd64", os: "linux",
    config: {Entrypoint: ["/program"], Cmd: ["version"], Env: ["CONTENT=\($content)"]},
    rootfs: {type: "layers", diff_ids: ["sha256:\($layer)"]}}' >"$work/config"
  config=$(blob "$work/config")
  jq -n --arg layer "$layer" --arg config "$config" \
    --argjson layerSize "$(stat -c %s "$work/layer")" --argjson configSize "$(stat -c %s "$work/config")" '
    "application/vnd.oci.image." as $type | {schemaVersion: 2, mediaType: "\($type)manifest.v1+json",
    config: {mediaType: "\($type)config.v1+json", digest: "sha256:\($config)", size: $configSize},
    layers: [{mediaType: "\($type)layer.v1.tar", digest: "sha256:\($layer)", size: $layerSize}]}' >"$work/manifest"
  manifest=$(blob "$work/manifest")
  jq -n --arg manifest "$manifest" --argjson size "$(stat -c %s "$work/manifest")" '{schemaVersion: 2, manifests: [{
    mediaType: "application/vnd.oci.image.manifest.v1+json", digest: "sha256:\($manifest)", size: $size,
    annotations: {"org.opencontainers.image.ref.name": "localhost/wasmbench/cluster-test:1"}}]}' >"$dir/index.json"
  echo '{"imageLayoutVersion": "1.0.0"}' >"$dir/oci-layout"
  tar -C "$dir" -cf "$work/image.tar" .
}

blob() { # FILE
  local digest
  digest=$(sha256sum "$1" | cut -d' ' -f1)
  cp "$1" "$work/oci/blobs/sha256/$digest"
  echo "$digest"
}

loaded_image_runs() { # CONTENT
  prints 'loaded onto' "$cluster" load "$work/image.tar"
  local pod=cluster-test-$1 seen
  kube delete pod "$pod" --ignore-not-found --now
  kube run "$pod" --image localhost/wasmbench/cluster-test:1 --image-pull-policy=Never --restart=Never
  kube wait --for=jsonpath='{.status.phase}'=Succeeded "pod/$pod" --timeout=30s
  prints "$(. "$hack/versions.env" && echo "${FORTIO_VERSION#v}")" kube logs "$pod"
  seen=$(kube get pod "$pod" -o 'jsonpath={.status.containerStatuses[0].imageID}')
  kube delete pod "$pod" --now
  echo "the pod ran $seen"
  [[ $seen == *"$(jq -r '.manifests[0].digest' "$work/oci/index.json")"* || $seen == *"$(sha256sum <"$work/config" | cut -d' ' -f1)"* ]]
}

pushed_image_runs() {
  local name pod=cluster-test-pushed
  name=$("$cluster" push "$work/image.tar")
  echo "pushed as $name"
  kube delete pod "$pod" --ignore-not-found --now
  kube run "$pod" --image "$name" --image-pull-policy=Always --restart=Never
  kube wait --for=jsonpath='{.status.phase}'=Succeeded "pod/$pod" --timeout=30s
  prints "$(. "$hack/versions.env" && echo "${FORTIO_VERSION#v}")" kube logs "$pod"
  kube delete pod "$pod" --now
}

# output_of_pod NAME NODE ARGUMENTS...: what the test program prints in a pod.
output_of_pod() {
  local pod=$1 node=$2 phase
  shift 2
  kube delete pod "$pod" --ignore-not-found --now
  kube run "$pod" --image localhost/wasmbench/cluster-test:1 --image-pull-policy=Never --restart=Never \
    --overrides "{\"spec\": {\"nodeName\": \"$node\"}}" -- "$@"
  for _ in {1..100}; do
    phase=$(kube get pod "$pod" -o 'jsonpath={.status.phase}')
    [[ $phase != Succeeded && $phase != Failed ]] || break
    sleep 0.2
  done
  kube logs "$pod"
  kube delete pod "$pod" --now
}

# /version may be read without a name or a token.
dns_works() {
  prints "$(kube version -o json | jq -r .serverVersion.gitVersion)" \
    output_of_pod cluster-test-dns "" curl -k https://kubernetes.default.svc.cluster.local/version
}
