# shellcheck shell=bash
module=github.com/spinkube/spin-operator
go_build "$module/cmd"
mv "$out/cmd" "$out/spin-operator"
# The CRDs of this version are in its module, too.
install -D -m 644 -t "$out/crds" "$(go list -m -f '{{.Dir}}' "$module")"/config/crd/bases/*.yaml
