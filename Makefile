# Batchlab: the commands of its developers. `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
VENV := .venv
PYTHON := $(VENV)/bin/python
GRADER := $(VENV)/bin/grader
# Tools of the environment (a Go that `make setup` had to bring, for one) come first.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONPATH :=

.DEFAULT_GOAL := help
.PHONY: help setup packages demo test lint unit cluster-test verify bench format messages constraints dist clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | column -t -s $$'\t'

setup: packages $(VENV)/.ready ## system packages, .venv, and the pinned Python packages

packages: ## install the system packages that are missing (asks for nothing; needs root if any is)
	@bash .ci/packages

$(VENV)/.ready: pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@bash .ci/go $(PYTHON)
	touch $@

demo: setup ## build the binaries, start lab-lws, play its solution, grade it, stop
	$(GRADER) binaries build
	PYTHON=$(PYTHON) GRADER=$(GRADER) bash .ci/demo lab-lws

test: setup ## all that CI runs: static checks, unit, black-box and cluster tests, every lab verified
	@bash .ci/packages test || echo "without them the tests that need them are skipped, and say so" >&2
	$(MAKE) lint unit
	$(GRADER) binaries build
	$(MAKE) cluster-test verify

lint: $(VENV)/.ready ## ruff, mypy, and the labs
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(GRADER) lint

unit: $(VENV)/.ready ## tests that need no cluster
	$(PYTHON) -m pytest -m 'not cluster' -n 2

cluster-test: $(VENV)/.ready ## tests against real clusters (root: all of them)
	$(PYTHON) -m pytest -m cluster

verify: $(VENV)/.ready ## prove every lab: untouched start, solution, wrong answers, reset
	$(GRADER) verify --all

bench: $(VENV)/.ready ## measure start, check, reset, memory, several sessions at once, beside the kept run
	$(PYTHON) -m tests.bench

format: $(VENV)/.ready ## let ruff format and fix
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

messages: $(VENV)/.ready ## put new messages into the catalogs, and name those that lack a translation
	$(PYTHON) -m tests.messages

constraints: ## pin the newest Python packages that pyproject.toml allows
	bash .ci/constraints

dist: $(VENV)/.ready ## the wheel
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## remove what was made here (the binaries' cache stays)
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache
