# Installs wasmbench into the local cluster: sourced by every script that measures there, so that all of
# them measure the same thing. In: WASMBENCH_NAMESPACE. Out: KUBECONFIG, KUBECTL, HELM, PATH with the
# kubectl plugin, and the operator running.
# shellcheck shell=bash

# shellcheck source=hack/lib/common.sh
source "${BASH_SOURCE[0]%/*}/common.sh"

: "${WASMBENCH_NAMESPACE:=wasmbench-system}"

# The cluster, its tools and the images in it.
prepare_cluster() {
  hack/cluster up
  KUBECONFIG=$(hack/cluster kubeconfig)
  KUBECTL=$(hack/tool kubectl)
  HELM=$(hack/tool helm)
  export KUBECONFIG KUBECTL HELM
  PATH=$(dirname "$KUBECTL"):$PATH
  # Computed once, because the tree may be edited meanwhile.
  IMAGE_TAG=$(hack/images tag)
  hack/images load "${images[@]}"
}

# The images that the script needs: names, or groups of them.
images=(usual)

# The namespaces where runs may have cold starts. They must exist.
cold_start_namespaces=default

# Further Helm arguments, for scripts that need them.
chart_options=()

# The chart with the images of this checkout.
install_chart() {
  "$KUBECTL" create namespace "$WASMBENCH_NAMESPACE" --dry-run=client -o yaml |
    "$KUBECTL" apply -f - >/dev/null
  # Probes read the node's cgroups through hostPath mounts, which only `privileged` allows.
  "$KUBECTL" label --overwrite namespace "$WASMBENCH_NAMESPACE" \
    pod-security.kubernetes.io/enforce=privileged >/dev/null
  "$HELM" upgrade --install wasmbench charts/wasmbench --namespace "$WASMBENCH_NAMESPACE" \
    --set image.tag="${IMAGE_TAG:?}" ${cold_start_namespaces:+--set "coldStart.namespaces={$cold_start_namespaces}"} "${chart_options[@]}" \
    --wait --timeout 600s >/dev/null
}

# The kubectl plugin, first on PATH.
build_plugin() {
  PATH=$(hack/images plugin):$PATH
  export PATH
}

# need COMMAND PACKAGE: installs the distribution's package if the command is missing. With RUNLEVEL=1 a
# package installs its service without starting it.
need() {
  command -v "$1" >/dev/null && return
  RUNLEVEL=1 apt-get install -y -q --no-install-recommends "$2" >/dev/null && return
  echo "${0##*/}: $1 is missing, and apt-get could not install it" >&2
  exit 1
}
