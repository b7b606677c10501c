# Every task of the project. CI tests only through these targets, so that anyone can reproduce it.

CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/wasmbench
export CARGO_TARGET_DIR ?= $(CACHE)/target
# Plain cargo builds there, too.
ifeq (,$(wildcard .cargo/config.toml))
$(shell mkdir -p .cargo && printf '[build]\ntarget-dir = "%s"\n' '$(CARGO_TARGET_DIR)' >.cargo/config.toml)
endif

.DEFAULT_GOAL := help
.PHONY: help demo demo-studies test lint unit test-page e2e e2e-quick test-systems test-ipv6 test-release test-ui pictures bench selftest generate images cluster-up cluster-down lint-workflows deny deny-advisories clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Cluster, images, chart, a sample run, its result
	@hack/demo

demo-studies: ## The studies, shortened, and their published figures next to those found; 55 minutes
	@hack/studies/run

test: ## Everything: lint, unit, property, golden, mock API server, docs, real cluster
	@hack/test/all

lint: lint-workflows ## Formatting, clippy, rustdoc, shellcheck, the workflows
	cargo fmt --all --check
	cargo fmt --all --check --manifest-path gateways/shims/Cargo.toml
	cargo fmt --all --check --manifest-path gateways/runtimes/Cargo.toml
	cargo fmt --all --check --manifest-path gateways/wasmcloud/Cargo.toml
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --workspace --test e2e -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --document-private-items
	@test -z "$$(gofmt -l operator/generator)" || { gofmt -d operator/generator; exit 1; }
	@hack/lint-shell
	@hack/tool --check

lint-workflows: ## The workflows of .github, with actionlint
	@hack/lint-workflows

unit: ## All tests that need no cluster; FILTER=name runs some of the Rust tests
	@hack/test/unit $(FILTER)

test-page: ## The steps of docs/adding-a-variant.md and docs/adding-a-sweep.md, on copies of the checkout
	@hack/test/pages

e2e: ## Tests on the real cluster; FILTER=name runs some of them
	@hack/e2e/run $(FILTER)

e2e-quick: ## Of these, the main job, hostile tenants and lifecycles, without Wasm shims
	@hack/e2e/run --quick

test-systems: ## Presets on the real cluster whose runtime is compiled first: wasmtime's command line, Wasmer, wasmCloud; and services as people run them
	@hack/e2e/run --systems

test-ipv6: ## The presets, all workloads and own images on a cluster whose pods have IPv6 addresses only
	@hack/cluster up --ipv6 --nodes 2
	@hack/e2e/run presets:: main_job:: shims::

test-release: ## A release into a registry on this machine, and an installation from there, on a cluster of its own
	@hack/test/release

test-ui: ## What Prometheus is given and a browser shows, on the real cluster with the real ones; FILTER=name
	@hack/ui/run $(FILTER)

pictures: ## The pictures of docs/images anew, by the test of the dashboard that uses all of it
	@mkdir -p docs/images
	@WASMBENCH_PICTURES=$(CURDIR)/docs/images hack/ui/run dashboard::story::

bench: ## Performance figures as 'bench: <name> <value> <unit>' lines
	@hack/bench

selftest: ## Planted differences that must be found again; nearly two hours on a quiet machine
	@hack/selftest

generate: ## Write what is generated: the CRDs, the API reference, lists of images, the pages of the studies
	BLESS=1 cargo test --quiet --workspace --test all -- in_sync:: api_reference::

images: ## Build all images as OCI archives
	@hack/images build

cluster-up: ## Start the local cluster, or find it running
	@hack/cluster up

cluster-down: ## Remove the local cluster
	@hack/cluster down

deny: ## Licences, sources and duplicates of all dependencies; builds cargo-deny first
	@hack/deny

deny-advisories: ## The same, and known vulnerabilities: fetches their database
	@hack/deny advisories

clean: cluster-down ## Remove the cluster and every cache
	rm -rf "$(CACHE)"
