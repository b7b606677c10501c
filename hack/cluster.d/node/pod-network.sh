#!/usr/bin/env bash
# Stands in for kindnet on a node: writes the CNI configuration for this node's
# range of pod addresses, and maintains routes to the ranges of the other nodes.
# It watches instead of polling: a node under measurement must be quiet. It
# enforces no NetworkPolicy.
set -euo pipefail

kube() { kubectl --kubeconfig /etc/kubernetes/kubelet.conf "$@"; }

# Pods must not start before kube-proxy serves the API's address: CoreDNS would
# wait half a minute for its first answer.
wait_for_service_network() {
  local api
  api=$(kube get service kubernetes --namespace default -o 'jsonpath={.spec.clusterIP}')
  until curl --silent --insecure --max-time 1 --output /dev/null "https://$api/healthz"; do sleep 0.3; done
}

write_cni() { # POD_CIDR
  cat >/etc/cni/net.d/.new <<JSON
{
  "cniVersion": "1.0.0",
  "name": "pod-network",
  "plugins": [
    {
      "type": "ptp",
      "ipMasq": true,
      "ipam": {
        "type": "host-local",
        "dataDir": "/run/cni-ipam-state",
        "ranges": [[{"subnet": "$1"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
JSON
  mv /etc/cni/net.d/.new /etc/cni/net.d/10-pod-network.conflist
}

until [ -s /etc/kubernetes/kubelet.conf ]; do sleep 0.5; done
me=$(hostname)
fields='{.metadata.name} {.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}'
# Ends when the connection does; systemd then starts it again.
kube get nodes --watch -o "jsonpath=$fields" | while read -r name cidr address; do
  # A new node has neither range nor address yet; the watch reports it again when it has.
  [ -n "$address" ] || continue
  if [ "$name" != "$me" ]; then
    ip route replace "$cidr" via "$address"
  elif [ ! -e /etc/cni/net.d/10-pod-network.conflist ]; then
    wait_for_service_network
    write_cni "$cidr"
  fi
done
