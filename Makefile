# Everything runs in .venv, which `make setup` builds once and rebuilds when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
DEMO ?= samples/softmax.py
TIME ?= 600
# The demo runs on a GPU if the machine has one, else in Triton's CPU interpreter.
CPU := $(if $(wildcard /dev/nvidiactl /dev/kfd),,--cpu)

.PHONY: setup demo test lint types unit golden corpus compile-all bench aot matrix fuzz clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip "setuptools>=77"
	$(BIN)/python -m pip install --quiet "torch==2.13.0" "triton==3.6.0" "numpy>=1.26,<2.4"
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

# Compile a sample, show its kernel, and run it against the NumPy reference.
demo: setup
	@mkdir -p build
	$(BIN)/intentc compile $(DEMO) -o build/demo.py
	@sed -n '/^@triton/,/^class/{/^class/d;p}' build/demo.py
	$(BIN)/intentc run $(DEMO) $(CPU)

test: lint types unit

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

unit: setup
	$(BIN)/python -m pytest -n $(WORKERS) tests

# Rewrite everything that is generated; read the difference before committing it.
golden: setup
	$(BIN)/python -m tests.update_golden
	$(BIN)/python -m tests.readme_example
	$(BIN)/python -m tests.diagnostics_page

# Lift the kernels of public packages, which are installed into build/, and write docs/lift-corpus.md.
corpus: setup
	$(BIN)/python -m tests.corpus --jobs $(WORKERS)

# Compile every sample and workload.
compile-all: setup
	@mkdir -p build/compiled/samples build/compiled/workloads
	$(BIN)/intentc compile samples/*.py -o build/compiled/samples
	$(BIN)/intentc compile benchmarks/workloads/*.py -o build/compiled/workloads

# Needs a GPU.
bench: setup
	$(BIN)/python -m benchmarks.run

# Compile every variant of every sample for every target; needs no GPU.
aot: setup
	$(BIN)/intentc compile --aot samples/*.py -o build/aot

# The same tests under the oldest and newest supported Python that are installed.
matrix: setup
	for python in python3.10 python3.11 python3.12 python3.13; do \
	  if $$python -c "" 2>/dev/null; then \
	    $$python -m venv build/matrix/$$python && \
	    build/matrix/$$python/bin/python -m pip install --quiet ".[test,gpu]" && \
	    build/matrix/$$python/bin/python -m pytest tests || exit 1; \
	  else echo "$$python is not installed: skipped"; fi; \
	done

# Random programs for TIME seconds; seeds and the cumulative count are kept.
fuzz: setup
	$(BIN)/python -m tests.fuzz --seconds $(TIME)

clean:
	rm -rf $(VENV) build
