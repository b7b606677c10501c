# shellcheck shell=bash
# Images whose only layer is a Wasm module or component, as the runwasi shims expect them.
# Comes in: a Wasm file. Goes out: an OCI archive. It contains no Linux file system, so no
#   Containerfile could describe it; a shim compiles the layer once and keeps the result.

wasm_layer_type=application/vnd.bytecodealliance.wasm.component.layer.v0+wasm

assemble_wasm() { # MODULE REFERENCE ARCHIVE
  local layout config layer manifest
  layout=$(mktemp -d "$store/layout.XXXXXX")
  mkdir -p "$layout/blobs/sha256"
  layer=$(blob "$layout" "$wasm_layer_type" <"$1")
  # No layer is unpacked, so there is no diff id. The user is the same as in the other images. The module's
  # digest is included because Kubernetes tells images apart by this document alone.
  config=$(jq -nc --arg version "$(version)" --arg revision "$(revision)" --argjson layer "$layer" '{
      architecture: "wasm", os: "wasi", created: "1970-01-01T00:00:00Z",
      config: {User: "65532:65532", Entrypoint: ["/gateway.wasm"], Labels: {
        "org.opencontainers.image.version": $version, "org.opencontainers.image.revision": $revision,
        "dev.wasmbench.module": $layer.digest}},
      rootfs: {type: "layers", diff_ids: []}
    }' | blob "$layout" application/vnd.oci.image.config.v1+json)
  manifest=$(jq -nc --argjson config "$config" --argjson layer "$layer" '{
      schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: $config, layers: [$layer]
    }' | blob "$layout" application/vnd.oci.image.manifest.v1+json)
  jq -nc --argjson manifest "$manifest" --arg name "$2" '{
      schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
      manifests: [$manifest + {platform: {architecture: "wasm", os: "wasi"}, annotations: {
        "org.opencontainers.image.ref.name": $name, "io.containerd.image.name": $name}}]
    }' >"$layout/index.json"
  echo '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
  tar -C "$layout" --sort=name --mtime=@0 --owner=0 --group=0 -cf "$3" oci-layout index.json blobs
  rm -rf "$layout"
}

# Stores standard input as a blob and prints its descriptor.
blob() { # LAYOUT MEDIA-TYPE
  local file=$1/blob digest
  cat >"$file"
  digest=$(sha256sum "$file" | cut -d' ' -f1)
  jq -nc --arg type "$2" --arg digest "sha256:$digest" --argjson size "$(stat -c %s "$file")" \
    '{mediaType: $type, digest: $digest, size: $size}'
  mv "$file" "$1/blobs/sha256/$digest"
}
