# shellcheck shell=bash
# The chart's rules without a cluster: promtool reads them, and runs hack/surface/rules_test.yaml, which
# names them as `rules.yaml`.
# Comes in: the chart, HELM. Goes out: promtool's words.

# What Prometheus is given of a PrometheusRule: all below `spec`.
rules_of_chart() {
  "$HELM" template wasmbench charts/wasmbench --namespace wasmbench-system --set prometheusRule.enabled=true |
    awk '
      /^---/ { rule = 0; spec = 0 }
      /^kind: PrometheusRule$/ { rule = 1 }
      /^[^ #]/ { spec = 0 }
      rule && spec { print substr($0, 3) }
      rule && /^spec:$/ { spec = 1 }
    '
}

check_rules() {
  local promtool folder rules status=0
  promtool=$(hack/tool promtool)
  rules=$(rules_of_chart)
  [ -n "$rules" ] || die "the chart makes no PrometheusRule with prometheusRule.enabled=true"
  folder=$(mktemp -d)
  echo "$rules" >"$folder/rules.yaml"
  cp hack/surface/rules_test.yaml "$folder/"
  "$promtool" check rules --lint=all --lint-fatal "$folder/rules.yaml" || status=1
  "$promtool" test rules "$folder/rules_test.yaml" || status=1
  rm -rf "$folder"
  return "$status"
}
