# shellcheck shell=bash
link="-X helm.sh/helm/v3/internal/version.version=$version"
go_build helm.sh/helm/v3/cmd/helm
