# shellcheck shell=bash
# The chart's rules without a cluster: promtool reads them, and runs hack/surface/rules_test.yaml.
# Goes out: promtool's words.

check_rules() {
  local promtool
  promtool=$(hack/tool promtool)
  "$promtool" check rules --lint=all --lint-fatal charts/wasmbench/monitoring/prometheus-rules.yaml
  "$promtool" test rules hack/surface/rules_test.yaml
}
