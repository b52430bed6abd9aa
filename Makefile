# Two commands do everything on a machine with Python (venv, pip) and make: `make demo` and `make test`.
# Each sets up .venv first, if it is not there or older than what it is made from.

.DEFAULT_GOAL := help
.PHONY: help demo test test-adapters test-backends test-dropin test-pages dashboards screenshots lock-backends lock-pages check static docs pages contracts format bench bench-quality bench-peers lock lock-adapters lock-peers clean

BIN := .venv/bin
ADAPTERS := openai-3 openai-2 crewai
FRAMEWORKS := openai-3:langchain openai-3:langgraph openai-3:openai_agents openai-3:plain \
	openai-3:smolagents openai-3:pydantic_ai openai-3:agno openai-3:agent_framework openai-3:haystack \
	openai-3:dspy openai-3:claude_agent_sdk openai-2:strands openai-2:google_adk openai-2:llama_index \
	crewai:crewai crewai:autogen
BACKENDS := $(patsubst requirements/backends/%.in,%,$(wildcard requirements/backends/*.in))
CONSTRAINTS := requirements/constraints.txt
DROPIN := $(patsubst requirements/dropin/%.in,%,$(wildcard requirements/dropin/*.in))
PEERS := $(patsubst requirements/peers/%.in,%,$(wildcard requirements/peers/*.in))
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

# The first Python that starts, is new enough, and can make an environment. Or say which: make test PYTHON=…
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# DEMO=--headless ends with the fleet's report, without waiting for anybody to look.
demo: .venv/ready ## watch an agent loop, be nudged and stopped; then twelve agents, with pages
	@$(BIN)/otel-watchdog demo
	@$(BIN)/otel-watchdog-collector demo $(DEMO)

# Without what has a command of its own below: vendors' packages and servers have environments of their own.
test: static docs pages ## all checks and all tests
	@$(BIN)/pytest --ignore tests/integration/dropin --ignore tests/integration/backends

# Each set-up of tracing has an environment of its own: their packages do not agree with one another.
test-dropin: $(DROPIN:%=.venv-dropin/%/ready) ## beside the tracing set-ups of launcher and vendors, on their packages
	@$(BIN)/pytest -q tests/integration/dropin

# Frameworks that fit together share an environment; each runs in a process of its own.
test-adapters: $(ADAPTERS:%=.venv-adapters/%/ready) ## the adapters on the real frameworks; SLOW, 3 GB
	@rm -f .venv-adapters/results.json; failed=0; \
	for pair in $(FRAMEWORKS); do \
		echo "Testing the adapter for $${pair#*:}."; \
		ADAPTER_RESULTS=.venv-adapters/results.json .venv-adapters/$${pair%:*}/bin/python -m pytest -q \
			-p no:unraisableexception -o filterwarnings=ignore \
			tests/integration/adapters/$${pair#*:} || failed=1; \
	done; \
	test $$failed = 0 && $(BIN)/python tests/integration/adapters/table.py .venv-adapters/results.json

# Each server has an environment of its own and listens on loopback only while its tests run.
test-backends: $(BACKENDS:%=.venv-backends/%/ready) ## Phoenix, MLflow and Prometheus receive a corrected run; SLOW, 2 GB
	@sh requirements/backends/prepare.sh
	@$(BIN)/pytest -q tests/integration/backends
	@PYTHONPATH=. .venv-backends/langfuse4/bin/python -m pytest -q -p no:cacheprovider --override-ini addopts= \
		--import-mode=importlib tests/otel_watchdog/reviews tests/contracts/langfuse

# The browser is Debian's; what drives it, and what looks for faults, has an environment of its own.
test-pages: .venv-pages/ready ## the fleet's pages in a real browser
	@sh requirements/pages/prepare.sh
	@.venv-pages/bin/python -m pytest -q tests/integration/pages

dashboards: .venv-backends/dashboards/ready ## write the dashboards anew
	@.venv-backends/dashboards/bin/python dashboards/build.py

screenshots: .venv-backends/phoenix/ready .venv-pages/ready ## take the pictures of the documentation, with headless Chromium
	@sh requirements/pages/prepare.sh
	@$(BIN)/python docs/screenshots.py
	@.venv-pages/bin/python docs/fleet_screenshots.py

check: static docs pages contracts ## format, lint, types, imports, docs, contracts, examples

static: .venv/ready ## format, lint, types and imports alone
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

docs: .venv/ready ## build the documentation site into docs/_build/html
	@$(BIN)/sphinx-build -b html -n -W --keep-going -E -j auto -q docs docs/_build/html
	@echo "Documentation: docs/_build/html/index.html"

# The blocks of a page build on each other, so these run in order.
pages: .venv/ready ## run the examples of README and docs
	@$(BIN)/pytest -q -p no:randomly README.md docs

contracts: .venv/ready ## what holds for every plug-in, and the examples in docstrings
	@$(BIN)/pytest -q tests/contracts otel_watchdog

format: .venv/ready ## format the code and mend what can be mended
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: .venv/ready ## run the benchmarks
	@for file in benchmarks/*.py; do $(BIN)/python "$$file" || exit; done

bench-quality: .venv/ready ## how often the watchdog is right; CORPUS=path, SOURCES="name=path …" add runs
	@$(BIN)/python -m benchmarks.quality $(if $(CORPUS),--corpus $(CORPUS)) \
		$(foreach source,$(SOURCES),--source $(source))

# A peer that cannot be installed has a row that says so; the others are measured all the same.
# The chart in docs/ shows the corpus too: CHART=docs/_static/peers.svg.
bench-peers: CHART ?= build/peers.svg
bench-peers: .venv/ready ## other detectors beside ours, on the same runs; CORPUS=path adds labelled ones
	@for name in $(PEERS); do \
		$(MAKE) -s --no-print-directory .venv-peers/$$name/ready >&2 || rm -rf .venv-peers/$$name; \
	done
	@$(BIN)/python -m benchmarks.quality.peers \
		$(if $(CORPUS),--corpus $(CORPUS)) $(if $(JSON),--json) --chart $(CHART)

lock: .venv/ready ## pin all dependencies anew
	@test -x $(BIN)/uv || $(PIP) install --quiet --only-binary :all: uv
	@$(BIN)/uv pip compile pyproject.toml collector/pyproject.toml \
		--extra langfuse --extra otlp --extra pydantic-ai \
		--group build --group docs --group lint --group test \
		--universal --python-version 3.11 --only-binary :all: --upgrade \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-package otel-watchdog \
		--annotation-style line --custom-compile-command "make lock" --quiet -o $(CONSTRAINTS)
	@for name in $(DROPIN); do \
		$(BIN)/uv pip compile pyproject.toml requirements/dropin/$$name.in \
			--overrides requirements/dropin/overrides.txt \
			--universal --python-version 3.11 --only-binary :all: --upgrade \
			--generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-package otel-watchdog \
			--annotation-style line --custom-compile-command "make lock" --quiet \
			-o requirements/dropin/$$name.txt || exit; \
	done

lock-adapters: .venv/ready ## pin what the adapters' frameworks need anew
	@test -x $(BIN)/uv || $(PIP) install --quiet --only-binary :all: uv
	@for name in $(ADAPTERS); do \
		$(BIN)/uv pip compile requirements/adapters/$$name.in \
			--universal --python-version 3.11 --only-binary :all: --upgrade \
			--generate-hashes --no-emit-index-url --no-emit-find-links --annotation-style line \
			--custom-compile-command "make lock-adapters" --quiet \
			-o requirements/adapters/$$name.txt || exit; \
	done

lock-pages: .venv/ready ## pin what the tests of the pages need anew
	@test -x $(BIN)/uv || $(PIP) install --quiet --only-binary :all: uv
	@$(BIN)/uv pip compile pyproject.toml collector/pyproject.toml requirements/pages/browser.in \
		--extra otlp --extra pydantic-ai --group build --group test -c $(CONSTRAINTS) \
		--universal --python-version 3.11 --only-binary :all: \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-package otel-watchdog \
		--annotation-style line --custom-compile-command "make lock-pages" --quiet \
		-o requirements/pages/browser.txt

lock-backends: .venv/ready ## pin what the servers of the tests need anew
	@test -x $(BIN)/uv || $(PIP) install --quiet --only-binary :all: uv
	@for name in $(BACKENDS); do \
		$(BIN)/uv pip compile requirements/backends/$$name.in \
			--universal --python-version 3.11 --only-binary :all: --upgrade \
			--generate-hashes --no-emit-index-url --no-emit-find-links --annotation-style line \
			--custom-compile-command "make lock-backends" --quiet \
			-o requirements/backends/$$name.txt || exit; \
	done

lock-peers: .venv/ready ## pin the other detectors of the benchmark anew
	@test -x $(BIN)/uv || $(PIP) install --quiet --only-binary :all: uv
	@for name in $(PEERS); do \
		$(BIN)/uv pip compile requirements/peers/$$name.in \
			--universal --python-version 3.11 --only-binary :all: --upgrade \
			--generate-hashes --no-emit-index-url --no-emit-find-links --annotation-style line \
			--custom-compile-command "make lock-peers" --quiet \
			-o requirements/peers/$$name.txt || exit; \
	done

clean: ## remove .venv and everything built
	@rm -rf .venv .venv-adapters .venv-backends .venv-dropin .venv-pages .venv-peers .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache docs/_build docs/api/modules
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/ready: $(CONSTRAINTS) pyproject.toml collector/pyproject.toml
	@test -n "$(PYTHON)" || { \
		echo "otel-watchdog needs Python 3.11 or newer with venv and pip; say where: make $(MAKECMDGOALS) PYTHON=…" >&2; \
		exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || "$(PYTHON)" -m venv --clear .venv
	@echo "Installing the pinned packages into .venv; about a minute the first time."
	@$(PIP) install --quiet --only-binary :all: --require-hashes -r $(CONSTRAINTS)
	@$(PIP) install --quiet --no-index --no-deps --no-build-isolation -e . -e collector
	@touch $@

# The lists are complete, so nothing else is fetched. What is imported is compiled then: all of it would take
# longer than the rest. The library itself is linked in, anew when its entry points may have changed.
.venv-dropin/%/packages: requirements/dropin/%.txt | .venv/ready
	@echo "Installing the packages of $* into .venv-dropin/$*."
	@$(BIN)/python -m venv --clear .venv-dropin/$*
	@.venv-dropin/$*/bin/python -m pip --disable-pip-version-check --no-input install --quiet --no-compile \
		--only-binary :all: --no-deps --require-hashes -r $<
	@touch $@

.venv-peers/%/ready: requirements/peers/%.txt .venv/ready
	@echo "Installing the peer $* into .venv-peers/$*."
	@$(BIN)/python -m venv --clear .venv-peers/$*
	@.venv-peers/$*/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--only-binary :all: --no-deps --require-hashes -r $<
	@touch $@

.PRECIOUS: .venv-dropin/%/packages
.venv-dropin/%/ready: .venv-dropin/%/packages pyproject.toml .venv/ready
	@rm -f .venv-dropin/$*/*.whl
	@$(BIN)/python -c 'import hatchling.build; hatchling.build.build_editable(".venv-dropin/$*")'
	@.venv-dropin/$*/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--no-index --no-deps --force-reinstall .venv-dropin/$*/*.whl
	@touch $@

.venv-pages/ready: requirements/pages/browser.txt pyproject.toml collector/pyproject.toml .venv/ready
	@echo "Installing the packages for the pages' tests into .venv-pages."
	@$(BIN)/python -m venv --clear .venv-pages
	@.venv-pages/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--only-binary :all: --no-deps --require-hashes -r $<
	@.venv-pages/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--no-index --no-deps --no-build-isolation -e . -e collector
	@touch $@

# What the library itself needs may change without these.
.venv-backends/%/ready: requirements/backends/%.txt | .venv/ready
	@echo "Installing $* into .venv-backends/$*; some minutes."
	@$(BIN)/python -m venv --clear .venv-backends/$*
	@.venv-backends/$*/bin/python -m pip --disable-pip-version-check --no-input install --quiet --no-compile \
		--only-binary :all: --no-deps --require-hashes -r $<
	@touch $@

.venv-adapters/%/ready: requirements/adapters/%.txt pyproject.toml .venv/ready
	@echo "Installing the frameworks of $* into .venv-adapters/$*; some minutes."
	@$(BIN)/python -m venv --clear .venv-adapters/$*
	@.venv-adapters/$*/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--only-binary :all: --no-deps --require-hashes -r $<
	@.venv-adapters/$*/bin/python -m pip --disable-pip-version-check --no-input install --quiet \
		--no-index --no-deps --no-build-isolation -e .
	@touch $@
