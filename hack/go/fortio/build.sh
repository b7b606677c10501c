# shellcheck shell=bash
go_build fortio.org/fortio
