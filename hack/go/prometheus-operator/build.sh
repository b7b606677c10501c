# shellcheck shell=bash
link="-X github.com/prometheus/common/version.Version=${version#v}"
module=github.com/prometheus-operator/prometheus-operator
go_build "$module/cmd/operator" "$module/cmd/prometheus-config-reloader"
# Its own name is too generic next to the other tools.
mv "$out/operator" "$out/prometheus-operator"
# The CRDs of this version are in its module, too.
install -D -m 644 -t "$out/crds" "$(go list -m -f '{{.Dir}}' "$module")"/example/prometheus-operator-crd/*.yaml
