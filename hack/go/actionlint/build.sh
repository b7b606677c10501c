# shellcheck shell=bash
go_build github.com/rhysd/actionlint/cmd/actionlint
