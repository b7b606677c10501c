# shellcheck shell=bash
# Builds the pinned Go programs into the cache, each once.
# Comes in: hack/go/<module>/ (go.mod, go.sum, build.sh, for some a main.go), hack/from-source/go/<module>/, operator/generator.
# Goes out: $cache/tools/<module>-<fingerprint>/<program>.
# Why: released binaries cannot be downloaded everywhere, Go modules can; and
# go.sum pins every byte that goes in.
# shellcheck disable=SC2154 # hack and cache come from common.sh

# go_module PROGRAM: the module that builds it.
go_module() {
  case $1 in
    generator | kind | helm | kubectl | etcd | coredns | registry | actionlint | packaging | krew | alertmanager | nats-server | shop | spin-operator) echo "$1" ;;
    prometheus | promtool) echo prometheus ;;
    prometheus-operator | prometheus-config-reloader) echo prometheus-operator ;;
    rollouts-controller) echo argo-rollouts ;;
    containerd | ctr | containerd-shim-runc-v2) echo containerd ;;
    kubernetes | kubeadm | kubelet | kube-apiserver | kube-controller-manager | kube-scheduler | kube-proxy) echo kubernetes ;;
    *) return 1 ;;
  esac
}

# go_source MODULE: the folder of its sources. The load generator is part of the product; some are only on nodes of our own.
go_source() {
  case $1 in
    generator) echo "$hack/../operator/generator" ;;
    containerd | coredns | etcd | kubernetes) echo "$hack/from-source/go/$1" ;;
    *) echo "$hack/go/$1" ;;
  esac
}

# go_version MODULE: its pinned version.
go_version() {
  local name=${1^^}
  name=${name//-/_}_VERSION
  [ "$1" != kubectl ] || name=KUBERNETES_VERSION
  [ "$1" != packaging ] || name=GOPHER_LUA_VERSION
  [ "$1" != generator ] || name=FORTIO_VERSION
  [ "$1" != shop ] || name=PQ_VERSION
  echo "${!name}"
}

# go_build [FLAGS] PACKAGES: what every build.sh calls. Static, because the
# programs run in images that hold nothing else.
go_build() {
  GOFLAGS='-mod=readonly -trimpath -buildvcs=false' GOWORK=off CGO_ENABLED=0 \
    go build -ldflags "-s -w ${link:-}" -o "$out/" "$@"
}

# Linker flags that give a Kubernetes program its version; without them it reports
# v0.0.0-master, which kubeadm refuses.
kubernetes_version_flags() {
  local minor=${version#v1.} package
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- '-X %s.%s ' \
      "$package" "gitVersion=$version" "$package" gitMajor=1 \
      "$package" "gitMinor=${minor%%.*}" "$package" gitTreeState=clean
  done
}

# A build.sh reads $version and $out, and may set $link.
go_compile() { # MODULE OUTPUT_DIRECTORY
  local out=$2 version link=
  version=$(go_version "$1")
  mkdir -p "$out"
  cd "$(go_source "$1")" || return
  # shellcheck disable=SC1091 # the build.sh of the module
  source ./build.sh
}

go_tools_dir() { # MODULE
  echo "$cache/tools/$1-$(go_version "$1" | fingerprint "$(go_source "$1")")"
}

# go_tools MODULE: the folder with its programs, built if need be.
go_tools() {
  local module=$1 dir log=$cache/log/go-$1.log
  dir=$(go_tools_dir "$module")
  if [ ! -d "$dir" ]; then
    have go || die "building $module needs Go; install Go 1.26 or newer (https://go.dev/doc/install) and put it on PATH"
    mkdir -p "$cache/tools"
    (
      # Two callers may want the same program at the same time: the second waits.
      flock 9
      [ ! -d "$dir" ] || exit 0
      # Only this module's: prometheus-operator is not another version of prometheus.
      rm -rf "$cache/tools/$module-"[0-9a-f]*
      logged "$log" "build $module" go_compile "$module" "$dir.partial"
      mv "$dir.partial" "$dir"
    ) 9>"$cache/tools/.$module.lock"
  fi
  echo "$dir"
}
