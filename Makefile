# make demo and make test need Python ≥ 3.11 and make, nothing else.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
export DAGSTER_HOME := $(CURDIR)/.dagster_home
export DAGSTER_DISABLE_TELEMETRY := yes
export VIRTUAL_ENV := $(CURDIR)/.venv

.PHONY: install demo test lint check dev docs screens screenshot benchmark clean

install: .venv/.dev  ## everything, also for docs and tests; then: source .venv/bin/activate

demo: .venv/.runtime  ## make the release `patients` through Dagster
	$(BIN)/anon-pipeline demo

test: .venv/.dev  ## run all tests, a process for each processor
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

lint: .venv/.dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd tests/typed && $(CURDIR)/$(BIN)/mypy --config-file= --strict user.py

check: .venv/.dev  ## the code location, as Dagster sees it
	$(BIN)/dg check yaml
	$(BIN)/dg check defs

dev: .venv/.dev  ## the Dagster UI on this repository's releases
	$(BIN)/dagster dev -w workspace.yaml $(if $(PORT),--port $(PORT))

docs: .venv/.dev  ## the site of the docs, built strictly, in build/site
	$(BIN)/python -m docsite

screens: .venv/.dev  ## press buttons of Dagster's UI, take pictures for the site (needs Chromium)
	ANON_PIPELINE_SCREENS=$(CURDIR)/build/screens $(BIN)/python -m pytest -n0 -p no:cacheprovider tests/docs/test_screens.py

screenshot: .venv/.dev  ## draw docs/images again (needs Chromium)
	$(BIN)/python docs/screenshots.py

benchmark: .venv/.dev  ## print the speed table
	$(BIN)/python -m benchmarks.speed

clean:
	rm -rf .venv build dist *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make: Python 3.11 or newer is needed (make PYTHON=/path/to/python …)"; exit 1; }
	$(PYTHON) -m venv .venv
# Python 3.11 comes with a pip that takes three times as long to choose among packages.
	-$(PIP) 'pip>=26'

.venv/.runtime: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing the pinned dependencies (about a minute) …"
	$(PIP) --editable .
	@touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	@echo "Installing the pinned dependencies (about a minute) …"
	$(PIP) --editable '.[dev]'
	@touch $@ .venv/.runtime
