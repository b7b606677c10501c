# shellcheck shell=bash
go_build go.etcd.io/etcd/server/v3
# Go names the program after the last folder of its path.
mv "$out/server" "$out/etcd"
