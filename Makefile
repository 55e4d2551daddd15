# Every target sets up .venv by itself; `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help nki setup demo test bench proof check docs

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## create .venv with every extra that fits this machine
	@scripts/setup

demo: setup ## compare the strategies on a packaged NKI kernel and on the calibration loop
	@scripts/demo

test: setup ## run all tests
	@scripts/test

bench: setup ## measure the suite of kernels: writes results/
	@scripts/bench

nki: setup ## take every packaged NKI kernel all the way: results/nki.json and the table in docs/nki.md
	@scripts/nki

proof: ## check the Lean development
	@scripts/proof

check: setup ## lint, types, import rules and the quick unit tests, in about a minute
	@scripts/check

docs: setup ## build the documentation site in build/docs
	@scripts/docs
