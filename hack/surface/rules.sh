# shellcheck shell=bash
# Checks the chart's rules without a cluster: promtool lints them, and runs hack/surface/rules_test.yaml.
# Goes out: promtool's output.

check_rules() {
  local promtool
  promtool=$(hack/tool promtool)
  "$promtool" check rules --lint=all --lint-fatal charts/wasmbench/monitoring/prometheus-rules.yaml
  "$promtool" test rules hack/surface/rules_test.yaml
}
