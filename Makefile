PYTHON ?= python3
WORKERS ?= 3

BIN := .venv/bin
STAMP := .venv/.stamp
LOCKED := .venv/.locked
LOCK := requirements/lock.txt
# Long tests begin first and run apart (tests/long.py). One process more than there are
# cores: tests wait for servers, locks and browsers.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
# Compiled bytecode, wherever a user's settings forbid it: each of some hundred programs that
# the tests start would otherwise compile all of standout anew.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := src tests $(wildcard benchmarks tools)

say = @printf '\n== %s\n' '$(1)'

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test quick check lint types imports format bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv from the lock; instant when nothing changed

# The packages depend on the lock alone, so an edit of pyproject.toml costs seconds.
$(STAMP): pyproject.toml $(LOCKED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(LOCKED): $(LOCK)
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "standout needs Python 3.11 or newer, but there is no '$(PYTHON)'. Try: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "standout needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Try: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	@touch $@

demo: $(STAMP) ## see standout find outliers
	@$(BIN)/standout demo

serve: $(STAMP) ## see a study being answered live, in a browser
	@$(BIN)/standout serve --demo

test: $(STAMP) ## all tests, then the kernel tests again without compilation
	@scripts/install-system.sh
	$(call say,pytest)
	$(PYTEST)
	$(call say,pytest: kernels as plain Python)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m kernel tests

quick: $(STAMP) ## the tests that take no time, for the inner loop
	$(PYTEST) -m 'not long'

lint: $(STAMP) ## format and style
	$(call say,ruff format)
	$(BIN)/ruff format --check $(SOURCES)
	$(call say,ruff check)
	$(BIN)/ruff check $(SOURCES)

types: $(STAMP) ## static types
	$(call say,mypy)
	$(BIN)/mypy

imports: $(STAMP) ## which layer may import which
	$(call say,lint-imports)
	$(BIN)/lint-imports --no-logo

check: $(STAMP) ## everything that has to pass: lint, types, imports, test
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory types
	@$(MAKE) --no-print-directory imports
	@$(MAKE) --no-print-directory test

format: $(STAMP) ## rewrite the sources in the project's format
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench: $(STAMP) ## run every benchmarks/bench_*.py
	@set -e; for file in benchmarks/bench_*.py; do \
	  [ -e "$$file" ] || { echo "no benchmarks/bench_*.py yet"; break; }; \
	  printf '\n== %s\n' "$$file"; $(BIN)/python "$$file"; \
	done

lock: ## pin and hash every dependency again (UPGRADE=1 for newer versions)
	@[ -x $(BIN)/uv ] || $(MAKE) --no-print-directory setup
	@cp $(LOCK) $(LOCK).new
	$(BIN)/uv pip compile pyproject.toml --extra dev --output-file $(LOCK).new --no-config --quiet \
	  --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	  --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade)
	@# An unchanged lock keeps its date, and so .venv stays as it is.
	@if cmp -s $(LOCK).new $(LOCK); then rm $(LOCK).new; else mv $(LOCK).new $(LOCK); fi

clean: ## remove .venv and everything made by the tools
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +
