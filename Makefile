# Two commands from a bare clone: `make demo` and `make test`. Both set everything up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DOCUMENTED := $(VENV)/.documented
TORCHED := $(VENV)/.torched
TOPICS := $(VENV)/.topics
# A release whose CPU build the package index may have; the tests of that engine need no GPU.
TORCH ?= torch==2.13.0
SOURCES := pyproject.toml setup.py $(wildcard csrc/*)

# A file stays in one process, because its tests share what they made; quick files come last, so that
# no process waits long for another one.
# Tests wait half of their time, for other processes and for the browser: two workers for each core.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * len(os.sched_getaffinity(0)))' 2>/dev/null || echo auto)
PARALLEL := --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

# What checks the JavaScript of the report, the workflows, and the types that editors see: programs of
# the npm registry, run by the node of .venv.
PAGE := $(VENV)/page
PAGED := $(PAGE)/.installed
PAGE_FILES := "src/spheremix/report/page/**/*.js" "tests/report/page/**/*.mjs"
WITH_NODE := PATH="$(CURDIR)/$(BIN):$(CURDIR)/$(PAGE)/node_modules/.bin:$$PATH"

# Sections 4 and 5 of the paper at reduced scale, into build/paper; `make paper-full` runs them at the
# paper's size, over what is committed: docs/paper.md says at what scale that was.
PAPER := build/paper
STUDIES := path_illustration simulation comparison cstr search

# The lowest versions that pyproject.toml allows, in an environment of their own.
LOWEST := build/lowest

.PHONY: arm attack demo fuzz test slow lint types contracts page workflows unit coverage browser docs paper \
  paper-full filings clang clean lowest help man portable wheels windows

help:
	@echo "make demo        install everything, run the demo, and say where its report is"
	@echo "make test        install everything, and run linters, type checks, import contracts and tests"
	@echo "make slow        run the slow tests: whole studies of the paper, whole pages of the documentation"
	@echo "make coverage    run the tests and list the lines that they do not reach"
	@echo "make docs        build the documentation: docs/_build/html/index.html"
	@echo "make man         write the manual page of the command: build/spheremix.1"
	@echo "make paper       repeat sections 4 and 5 of the paper at a small scale"
	@echo "make paper-full  the same at the size of the paper, which takes hours"
	@echo "make filings     the filings of one bank, as in section 6 of the paper (needs SPHEREMIX_DATA)"
	@echo "make lowest      run the tests with the lowest versions of all dependencies (Python 3.11 or 3.12)"
	@echo "make attack      random attacks on run folders, for SECONDS=600 with SEED=0 (PATIENCE=600: a hanging command)"
	@echo "make fuzz        wrong arguments for all kernels under ASan and UBSan: CALLS=30000 of them with SEED=0"
	@echo "make arm         compile the kernels for 64-bit ARM and compare them on an emulated CPU"
	@echo "make windows     compile the kernels for Windows and compare them in Windows' Python, under Wine"
	@echo "make clang       build a wheel with the compiler clang, and compare its kernels"
	@echo "make wheels      build a wheel with every Python 3.11 to 3.14 on this machine, run the demo with each"
	@echo "make portable    build wheels for older C libraries, for musl and for 64-bit ARM"
	@echo "make clean       remove the environment and everything that was built"
	@echo "PYTHON=python3.13 chooses the interpreter (run make clean first)"

# Debian ships venv apart from Python, and a failure leaves half an environment behind.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or later is needed; choose one: make PYTHON=python3.13 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq; apt-get install --yes -qq python3-venv && $(PYTHON) -m venv $(VENV); \
	  else echo "Type: sudo apt-get install python3-venv"; false; fi; } || { rm -rf $(VENV); exit 1; }

# Runs again only when the build's own files change; Python sources are installed in place.
# A kernel that no longer compiles must not leave its last build in its place.
$(INSTALLED): $(BIN)/python $(SOURCES)
	@echo "Setting up $(VENV), a few minutes the first time"
	@rm -f src/spheremix/_kernels*.so
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable ".[test]"
	@touch $@

demo: $(INSTALLED)
	$(BIN)/spheremix demo -o demo-run
	@echo "The report: $(CURDIR)/demo-run/report.html"

test: lint types contracts page workflows unit

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

# And what type checkers of users see: mypy, and pyright, which editors use.
types: $(INSTALLED) $(PAGED)
	$(BIN)/mypy
	$(BIN)/mypy tests/types/usage.py
	@if [ -e $(PAGED) ]; then export $(WITH_NODE); set -ex; pyright --pythonpath $(BIN)/python; fi

contracts: $(INSTALLED)
	$(BIN)/lint-imports

# Without node, or without a way to the npm registry, these checks are skipped, except in CI.
$(PAGED): $(wildcard tools/page/*) | $(INSTALLED)
	@mkdir -p $(PAGE) && rm -f $@ && cp tools/page/* $(PAGE)
	@{ $(WITH_NODE) npm ci --prefix $(PAGE) --engine-strict --ignore-scripts --no-audit --no-fund \
	  --loglevel=error --fetch-retries=1 && touch $@; } || { [ "$$CI" != true ] && \
	  echo "No node 22.13 or no npm registry: the checks of the report's JavaScript and of pyright are skipped."; }

page: $(PAGED)
	@if [ -e $(PAGED) ]; then export $(WITH_NODE); set -ex; \
	  prettier --config tools/page/prettier.json --check $(PAGE_FILES); \
	  eslint --config $(PAGE)/eslint.config.mjs $(PAGE_FILES); \
	  tsc --project tools/page/tsconfig.json; \
	  node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON --test --test-reporter=dot \
	  "tests/report/page/**/*.test.mjs"; fi

# The workflows of .github, which run elsewhere only, are at least read by what knows their language.
workflows: $(PAGED)
	@if [ -e $(PAGED) ]; then export $(WITH_NODE); set -ex; \
	  node $(PAGE)/workflows.mjs .github/workflows/*.yml; fi

# Large, and only the tests of one engine need it: `make TORCHED= test` does without.
$(TORCHED): $(INSTALLED)
	@echo "Installing $(TORCH) for the tests"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check "$(TORCH)"
	@touch $@

# What the models for BERTopic are tested in. Without most of what BERTopic asks for, which is large
# and which no test uses; where it cannot be had, those tests are skipped.
$(TOPICS): $(INSTALLED)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps bertopic hdbscan plotly tqdm \
	  && touch $@ || echo "No BERTopic: the tests of the models for it are skipped."

# The report is tested in a real browser; where there is none those tests are skipped, except in CI.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install --yes -qq --no-install-recommends chromium; } \
	  || echo "No chromium: the tests of the report in a browser are skipped."

unit: $(INSTALLED) $(TORCHED) browser
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL)

# What takes minutes without saying much about a small change; .ci/run runs it after `make test`.
slow: $(INSTALLED) $(TORCHED) $(TOPICS) browser
	$(BIN)/python -m pytest -m slow $(PARALLEL)

# Apart, because to count lines takes a quarter more time.
coverage: $(INSTALLED) $(TORCHED) browser
	$(BIN)/python -m pytest $(PARALLEL) --cov --cov-report=term

# numpy 1.26 has no wheels for later versions of Python. What the newest versions of other libraries
# say about these old ones is no fault of ours: warnings of deprecation are not errors here.
$(LOWEST)/.installed: $(SOURCES) tools/lowest.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] not in {(3, 11), (3, 12)})' || { \
	  echo "The lowest versions need Python 3.11 or 3.12: make PYTHON=python3.11 lowest"; exit 1; }
	@rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tools/lowest.py > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install -qq --disable-pip-version-check --requirement $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install -qq --disable-pip-version-check --no-deps \
	  --no-build-isolation --editable .
	@touch $@

# The tests of `make test` without the report in a browser, the pages of the documentation, pictures
# drawn by the newest matplotlib, and the clusters of the docstrings of the newest numpy and scipy.
lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -m "not slow" $(PARALLEL) \
	  -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning \
	  --ignore=tests/report/browser --ignore=tests/house \
	  --deselect=tests/display/test_display.py::test_layout \
	  --deselect=tests/datasets/test_docstrings.py::test_clusters_make_sense

# What the pages are made with comes with the first build of them.
$(DOCUMENTED): $(INSTALLED)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable ".[docs]"
	@touch $@

docs: $(DOCUMENTED)
	$(BIN)/python -m sphinx -b html -W --keep-going -n docs docs/_build/html
	@echo "The pages: $(CURDIR)/docs/_build/html/index.html"

paper: $(INSTALLED)
	for study in $(STUDIES); do \
	  $(BIN)/python -m experiments.$$study --scale 0.02 --results $(PAPER)/results \
	    --cache $(PAPER)/cache || exit 1; done
	$(BIN)/python -m experiments.figures --results $(PAPER)/results --folder $(PAPER)/figures/paper
	$(BIN)/python -m experiments.page --results $(PAPER)/results --page $(PAPER)/paper.md

paper-full: $(INSTALLED)
	for study in $(STUDIES); do $(BIN)/python -m experiments.$$study || exit 1; done
	$(BIN)/python -m experiments.figures
	$(BIN)/python -m experiments.page

# Files of others, links, kills, commands at once, tampering: stops with what it found, or lists what
# was tried.
SECONDS ?= 600
SEED ?= 0
PATIENCE ?= 600

attack: $(INSTALLED)
	$(BIN)/python tools/attack.py --seconds $(SECONDS) --seed $(SEED) --patience $(PATIENCE)

# The extension is built with the sanitizers of GCC in a folder of its own; .venv keeps its own build.
CALLS ?= 30000

fuzz: $(INSTALLED)
	$(BIN)/python tools/fuzz_kernels.py build/fuzz --seed $(SEED) --calls $(CALLS)

# On an emulated CPU: minutes. As root it installs the compiler and the emulator from Debian.
arm: $(INSTALLED)
	@{ command -v aarch64-linux-gnu-g++ && command -v qemu-aarch64; } >/dev/null || { [ "$$(id -u)" = 0 ] \
	  && apt-get update -qq && apt-get install --yes -qq g++-aarch64-linux-gnu qemu-user; } || true
	tools/arm/run.sh build/arm $(BIN)/python

# The standard C++ that Microsoft's compiler sees, compiled by another one. As root it installs what it
# needs from Debian; the embeddable Python of Windows comes from the package index.
windows: $(INSTALLED)
	@{ command -v x86_64-w64-mingw32-g++-posix && command -v gendef && command -v wine; } >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install --yes -qq --no-install-recommends \
	  g++-mingw-w64-x86-64-posix mingw-w64-tools wine64 wine; } || true
	tools/windows/run.sh build/windows $(BIN)/python

clang: $(INSTALLED)
	@command -v clang++ >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq \
	  && apt-get install --yes -qq --no-install-recommends clang; } || true
	CC=clang CXX=clang++ $(BIN)/python tools/wheels.py build/clang $(PYTHON)

wheels: $(INSTALLED)
	$(BIN)/python tools/wheels.py build/wheels $(INTERPRETERS)

portable: $(INSTALLED)
	$(BIN)/python tools/portable_wheels.py build/portable $(PYTHON)

man: $(INSTALLED)
	$(BIN)/python tools/man_page.py build/spheremix.1
	@echo "The manual page: man -l $(CURDIR)/build/spheremix.1"

filings: $(INSTALLED)
	$(BIN)/python -m experiments.filings

clean:
	rm -rf docs/_build docs/gallery docs/generated docs/_static/live-report.html
	rm -rf $(VENV) build demo-run src/*.egg-info src/spheremix/_kernels*.so
