# shellcheck shell=bash
# The Go module v0.316.0 is Prometheus 3.16.0.
link="-X github.com/prometheus/common/version.Version=3.${version#v0.3}"
module=github.com/prometheus/prometheus
# With discovery by the Kubernetes API alone: the clouds' clients take most of the time and of the size.
go_build -tags 'netgo remove_all_sd enable_kubernetes_sd' "$module/cmd/prometheus" "$module/cmd/promtool"
