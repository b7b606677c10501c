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
  [[ $api != *:* ]] || api="[$api]"
  until curl --silent --insecure --max-time 1 --output /dev/null "https://$api/healthz"; do sleep 0.3; done
}

# One range for IPv4, one for IPv6, or both. By IPv6 pods reach nothing beyond the nodes, which have routes
# to all pods: nothing needs to be masqueraded.
write_cni() { # RANGES
  jq --null-input --arg ranges "$1" '($ranges / " ") as $ranges | {
    cniVersion: "1.0.0",
    name: "pod-network",
    plugins: [
      {
        type: "ptp",
        ipMasq: ($ranges | any(contains(":")) | not),
        ipam: {
          type: "host-local",
          dataDir: "/run/cni-ipam-state",
          ranges: [$ranges[] | [{subnet: .}]],
          routes: [$ranges[] | {dst: (if contains(":") then "::/0" else "0.0.0.0/0" end)}]
        }
      },
      {type: "portmap", capabilities: {portMappings: true}}
    ]
  }' >/etc/cni/net.d/.new
  mv /etc/cni/net.d/.new /etc/cni/net.d/10-pod-network.conflist
}

family() { [[ $1 = *:* ]] && echo 6 || echo 4; }

# To each range of another node through its address of the same family.
add_routes() { # RANGES ADDRESSES
  local range address
  for range in $1; do
    for address in $2; do
      [ "$(family "$range")" != "$(family "$address")" ] || ip "-$(family "$range")" route replace "$range" via "$address"
    done
  done
}

until [ -s /etc/kubernetes/kubelet.conf ]; do sleep 0.5; done
me=$(hostname)
fields='{.metadata.name}|{.spec.podCIDRs[*]}|{.status.addresses[?(@.type=="InternalIP")].address}{"\n"}'
# Ends when the connection does; systemd then starts it again.
kube get nodes --watch -o "jsonpath=$fields" | while IFS='|' read -r name ranges addresses; do
  # A new node has neither range nor address yet; the watch reports it again when it has.
  if [ -z "$ranges" ] || [ -z "$addresses" ]; then continue; fi
  if [ "$name" != "$me" ]; then
    add_routes "$ranges" "$addresses"
  elif [ ! -e /etc/cni/net.d/10-pod-network.conflist ]; then
    wait_for_service_network
    write_cni "$ranges"
  fi
done
