# shellcheck shell=bash
# The Go module v0.316.0 is Prometheus 3.16.0.
link="-X github.com/prometheus/common/version.Version=3.${version#v0.3}"
module=github.com/prometheus/prometheus
# With Kubernetes service discovery only: the cloud SDKs take most of the build time and size.
go_build -tags 'netgo remove_all_sd enable_kubernetes_sd' "$module/cmd/prometheus" "$module/cmd/promtool"
