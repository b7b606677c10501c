# shellcheck shell=bash
link=$(kubernetes_version_flags)
go_build .
