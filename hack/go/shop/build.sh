# shellcheck shell=bash
go_build .
