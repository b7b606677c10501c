# shellcheck shell=bash
module=github.com/argoproj/argo-rollouts
go_build "$module/cmd/rollouts-controller"
# The CRDs of this version are in its module, too.
install -D -m 644 -t "$out/crds" "$(go list -m -f '{{.Dir}}' "$module")"/manifests/crds/*-crd.yaml
