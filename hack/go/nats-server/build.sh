# shellcheck shell=bash
go_build github.com/nats-io/nats-server/v2
