# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that read this file
# Pushes to a registry. Comes in: its name. Goes out: $registry, and options of helm for it.

# use_registry REGISTRY: one at localhost, or any with WASMBENCH_PLAIN_HTTP=1, is spoken to without TLS.
use_registry() {
  registry=${1%/} skopeo_options=() helm_options=()
  [[ $registry = */* ]] || die "'$registry' is no registry with a path: write it like registry.example.com/team/wasmbench"
  if [[ $registry = localhost[:/]* || -n ${WASMBENCH_PLAIN_HTTP:-} ]]; then
    skopeo_options=(--dest-tls-verify=false) helm_options=(--plain-http)
  fi
  need skopeo skopeo
}

# push_image ARCHIVE NAME:TAG [OPTIONS...]
push_image() {
  skopeo copy --quiet "${skopeo_options[@]}" "${@:3}" "oci-archive:$1" "docker://$registry/$2"
}
