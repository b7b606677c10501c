# shellcheck shell=bash
# Checks the chart's rules without a cluster: promtool lints them, and runs hack/ui/rules_test.yaml.
# Goes out: promtool's output.

check_rules() {
  local promtool
  promtool=$(hack/tool promtool)
  "$promtool" check rules --lint=all --lint-fatal charts/wasmbench/monitoring/prometheus-rules.yaml
  "$promtool" test rules hack/ui/rules_test.yaml
}
