# shellcheck shell=bash
link="-X github.com/prometheus/common/version.Version=${version#v}"
go_build github.com/prometheus/alertmanager/cmd/alertmanager
