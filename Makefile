# Two commands from a bare clone: `make demo` and `make test`. Both set everything up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
SOURCES := pyproject.toml setup.py $(wildcard csrc/*)

.PHONY: demo test lint types contracts unit clean help

help:
	@echo "make demo   set up and run the main job"
	@echo "make test   set up and run lint, types, import contracts and tests"
	@echo "make clean  remove what the two commands made"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Runs again only when the build's own files change; Python sources are installed in place.
$(INSTALLED): $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@

demo: $(INSTALLED)
	$(BIN)/python -m spheremix

test: lint types contracts unit

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(INSTALLED)
	$(BIN)/mypy

contracts: $(INSTALLED)
	$(BIN)/lint-imports

unit: $(INSTALLED)
	$(BIN)/python -m pytest --cov --cov-report=term

clean:
	rm -rf $(VENV) build src/*.egg-info src/spheremix/_kernels*.so
