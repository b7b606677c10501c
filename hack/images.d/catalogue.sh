# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the scripts that read this file
# What each image consists of, and which images there are.
# Comes in: charts/wasmbench/catalogue.json. Goes out: its fields by image, and the names of its groups.

# Folder of the Containerfile; cargo's package and program; path of the program in the build context; runtime by its
# name in hack/runtime, or `kernel-` and its name in hack/kernels; guests by their names in hack/wasm, with spaces
# between; 'true' for a single Wasm file.
declare -A folder_of=() package_of=() binary_of=() entry_of=() runtime_of=() guests_of=() wasm_of=()
# The names of the images that are built if none is named, that are built on request (quick or slow), and only by name.
declare -A group=([usual]='' [quick]='' [slow]='' [named]='')

read_catalogue() {
  local rows row
  have jq || die "jq is missing: install it from your distribution"
  rows=$(jq -r '(.images + .testImages)[] | [.name, .build // "named", .folder, .package, .binary, .entry // .binary,
    .runtime, (.guests // [] | join(" ")), .wasm] | join("|")' "$hack/../charts/wasmbench/catalogue.json")
  while IFS='|' read -r -a row; do
    group[${row[1]}]+=" ${row[0]}"
    folder_of[${row[0]}]=${row[2]} package_of[${row[0]}]=${row[3]} binary_of[${row[0]}]=${row[4]}
    entry_of[${row[0]}]=${row[5]} runtime_of[${row[0]}]=${row[6]} guests_of[${row[0]}]=${row[7]}
    wasm_of[${row[0]}]=${row[8]:-}
  done <<<"$rows"
}
