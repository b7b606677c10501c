# shellcheck shell=bash
go_build sigs.k8s.io/krew/cmd/krew
