# shellcheck shell=bash
go_build golang.org/x/perf/cmd/benchstat
