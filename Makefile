PYTHON ?= python3
WORKERS ?= 3

BIN := .venv/bin
STAMP := .venv/.stamp
DEMO := .venv/.demo
CORE := .venv/.core
LOCKED := .venv/.locked
LOCK := requirements/lock.txt
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
EDITABLE := $(INSTALL) --no-deps --no-build-isolation -e .
# Long tests begin first and run apart (tests/long.py). One process more than there are
# cores: tests wait for servers, locks and browsers.
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder
# Compiled bytecode, wherever a user's settings forbid it: each of some hundred programs that
# the tests start would otherwise compile all of standout anew.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := src tests $(wildcard benchmarks tools docs)
# What is held to the list of words we do not use (tools/words.txt).
PROSE := src tools benchmarks docs $(wildcard *.md)

say = @printf '\n== %s\n' '$(1)'

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test run-tests plain system warm quick check lint types imports format
.PHONY: bench docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv from the lock; instant when nothing changed

# The packages depend on the locks alone, so an edit of pyproject.toml costs seconds.
# .venv begins with what the package itself needs (enough for the demo); all that
# developers need is added when something asks for it.
$(STAMP): pyproject.toml $(LOCKED)
	$(EDITABLE)
	@touch $@

$(DEMO): pyproject.toml $(CORE)
	$(EDITABLE)
	@touch $@

$(CORE): requirements/core.txt
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "standout needs Python 3.11 or newer, but there is no '$(PYTHON)'. Try: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "standout needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Try: make setup PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(INSTALL) --require-hashes -r requirements/core.txt
	@touch $@

$(LOCKED): $(LOCK) $(CORE)
	@# Another lock than before: begin anew, so that nothing of the old one stays.
	@[ ! -e $@ ] || { $(PYTHON) -m venv --clear .venv && touch $(CORE); }
	@# Bytecode on all cores, and none of other packages' tests: pip would take half a minute.
	$(INSTALL) --no-compile --require-hashes -r $(LOCK)
	@$(BIN)/python -m compileall -q -j 0 -x '/tests?/' .venv/lib >/dev/null 2>&1 || :
	@touch $@

demo: $(DEMO) ## see standout find outliers
	@$(BIN)/standout demo

serve: $(STAMP) ## see a study being answered live, in a browser
	@$(BIN)/standout serve --demo

test: $(STAMP) ## all tests, the kernel tests also without compilation
	@$(MAKE) --no-print-directory -j3 run-tests plain

# FIRST: what else has to pass before they begin.
run-tests: warm system $(FIRST)
	$(call say,pytest)
	$(PYTEST)

# Beside the other tests, so that no core waits; what it prints comes in one piece.
plain: $(STAMP)
	@mkdir -p build
	@NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -p no:cacheprovider -m kernel \
	  $$(grep -rl --include='test_*.py' 'mark\.kernel' tests) >build/plain.txt 2>&1; status=$$?; \
	  printf '\n== pytest: kernels as plain Python\n'; \
	  [ $$status = 0 ] && tail -n 1 build/plain.txt || { cat build/plain.txt; exit $$status; }

system:
	@scripts/install-system.sh

warm: $(STAMP)
	$(call say,standout warm: compile once what most tests need)
	@$(BIN)/standout warm --noise bernoulli --noise gaussian:1

quick: $(STAMP) ## the tests that take no time, for the inner loop
	$(PYTEST) -m 'not long'

lint: $(STAMP) ## format, style, words and spelling
	$(call say,ruff format)
	$(BIN)/ruff format --check $(SOURCES)
	$(call say,ruff check)
	$(BIN)/ruff check $(SOURCES)
	$(call say,words)
	$(BIN)/python tools/check_words.py $(PROSE)
	$(call say,codespell)
	$(BIN)/codespell src docs tools benchmarks $(wildcard *.md)

types: $(STAMP) ## static types
	$(call say,mypy)
	$(BIN)/mypy

imports: $(STAMP) ## which layer may import which
	$(call say,lint-imports)
	$(BIN)/lint-imports --no-logo

docs: $(STAMP) ## the documentation as a site in build/docs; a warning or a dead link is an error
	$(call say,sphinx)
	@rm -rf build/docs
	$(BIN)/python -m sphinx -W --keep-going -q -E -j 2 -d build/doctrees docs build/docs
	$(BIN)/python tools/check_site.py build/docs

check: $(STAMP) ## everything that has to pass: lint, types, imports, docs, test
	@$(MAKE) --no-print-directory -j3 FIRST="lint types imports" run-tests plain docs

format: $(STAMP) ## rewrite the sources in the project's format
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

bench: $(STAMP) ## run every benchmarks/bench_*.py
	@set -e; for file in benchmarks/bench_*.py; do \
	  [ -e "$$file" ] || { echo "no benchmarks/bench_*.py yet"; break; }; \
	  printf '\n== %s\n' "$$file"; $(BIN)/python "$$file"; \
	done

COMPILE := $(BIN)/uv pip compile --no-config --quiet --universal --python-version 3.11 \
  --fork-strategy fewest --generate-hashes --no-header --no-annotate \
  --no-emit-index-url --no-emit-find-links
# An unchanged lock keeps its date, and so .venv stays as it is.
keep = @if cmp -s $(1).new $(1); then rm $(1).new; else mv $(1).new $(1); fi

lock: ## pin and hash every dependency again (UPGRADE=1 for newer versions)
	@[ -x $(BIN)/uv ] || $(MAKE) --no-print-directory setup
	@cp $(LOCK) $(LOCK).new
	$(COMPILE) pyproject.toml --extra dev --output-file $(LOCK).new $(if $(UPGRADE),--upgrade)
	$(call keep,$(LOCK))
	$(COMPILE) pyproject.toml requirements/editable.in -c $(LOCK) --output-file requirements/core.txt.new
	$(call keep,requirements/core.txt)

clean: ## remove .venv and everything made by the tools
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +
