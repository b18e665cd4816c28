# Everything runs in .venv, which `make setup` builds once and rebuilds when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
DEMO ?= samples/softmax.py
TIME ?= 600
TRITONS ?= 3.5.1 3.6.0 3.9.0
# The demo runs on a GPU if the machine has one, else in Triton's CPU interpreter.
CPU := $(if $(wildcard /dev/nvidiactl /dev/kfd),,--cpu)

.PHONY: setup demo test test-gpu lint types unit golden docs links pictures corpus compile-all npbench bench bench-npbench guard aot matrix fuzz conformance times mutants clean

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

# The tests with the mark `gpu`, and random programs, on a GPU instead of the interpreter.
test-gpu: setup
	TRITON_INTERPRET=0 $(BIN)/python -m pytest -n $(WORKERS) -m gpu tests
	$(BIN)/python -m tests.fuzz --gpu --seconds $(TIME) --workers $(WORKERS)

# Rewrite everything that is generated; read the difference before committing it.
golden: setup
	$(BIN)/python -m tests.update_golden
	$(BIN)/python -m tests.readme_example
	$(BIN)/python -m tests.diagnostics_page
	$(BIN)/python -m tests.intrinsics_page
	$(BIN)/python -m tests.commands_page
	$(BIN)/python -m tests.lookup_data
	$(BIN)/python -m tests.guides
	$(BIN)/python -m tests.samples_page
	$(BIN)/python -m tests.npbench_page

# The documentation site, in build/docs; needs no network. Anything that does not lead anywhere is an error.
docs: setup
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -d build/doctrees docs build/docs

# Follow the links that lead out of the documentation; needs the network.
links: setup
	$(BIN)/python -m tests.links

# Draw the pictures of docs/pictures again; needs Chromium.
pictures: setup
	$(BIN)/python -m pip install --quiet pillow
	$(BIN)/python -m tests.browser

# Lift the kernels of public packages, which are installed into build/, and write docs/lift-corpus.md.
corpus: setup
	$(BIN)/python -m tests.corpus --jobs $(WORKERS)

# Compile every sample and workload.
compile-all: setup
	@mkdir -p build/compiled/samples build/compiled/workloads
	$(BIN)/intentc compile samples/*.py -o build/compiled/samples
	$(BIN)/intentc compile benchmarks/workloads/*.py -o build/compiled/workloads

# All cases of the programs under samples/npbench/, and the suite's size S on the reference evaluator.
npbench: setup
	$(BIN)/python -m pytest -n $(WORKERS) -m "long or not long" tests/test_npbench.py

# Needs a GPU.
bench: setup
	$(BIN)/python -m benchmarks.generate build/bench
	$(BIN)/python -m benchmarks.run --modules build/bench --output build/bench.json

# Device functions against eager torch, libraries and hand-written kernels, first calls, and the host time of calls.
# Needs a GPU.
bench-device: bench
	$(BIN)/python -m benchmarks.run --families --modules build/bench --output build/bench-families.json
	$(BIN)/python -m benchmarks.first_call --workers 3 --modules build/bench --output build/bench-first.json
	$(BIN)/python -m benchmarks.call_overhead --modules build/bench --artifacts --output build/bench-calls.json

# Whole calls with arrays of NumPy. Needs a GPU.
bench-host: setup
	$(BIN)/python -m benchmarks.generate build/bench
	$(BIN)/python -m benchmarks.host_calls --modules build/bench --output build/bench-host.json

# The programs of NPBench against NumPy and CuPy. Needs a GPU.
bench-npbench: setup
	$(BIN)/python -m benchmarks.npbench --output build/bench-npbench.json

# Keep what the assembly of the benchmark's kernels needs now, as tests compare it; needs no GPU.
guard: setup
	$(BIN)/python -m benchmarks.guard --write

# Compile every variant of every sample for every target; needs no GPU.
aot: setup
	$(BIN)/intentc compile --aot samples/*.py -o build/aot

# The samples' modules in the interpreters of other Triton versions, installed beside the environment's own.
matrix: setup
	for version in $(TRITONS); do \
	  $(BIN)/python -m pip install --quiet --no-deps --target build/triton-$$version triton==$$version && \
	  PYTHONPATH=build/triton-$$version $(BIN)/python -c "import triton; assert triton.__version__ == '$$version'" && \
	  PYTHONPATH=build/triton-$$version $(BIN)/python -m pytest -n $(WORKERS) tests/test_samples_interpreter.py || exit 1; \
	done

# Every intrinsic in every kind of dtype: prints the matrix and rewrites docs/conformance.md.
conformance: setup
	$(BIN)/python -m tests.conformance --workers $(WORKERS)

# How long each sample takes to translate; none may take more than 300 ms.
times: setup
	$(BIN)/python -m tests.translate_times

# Random programs for TIME seconds; seeds and the cumulative count are kept.
fuzz: setup
	$(BIN)/python -m tests.fuzz --seconds $(TIME) --workers $(WORKERS)

# Mutants of Triton kernels: what comparison says of them against what running them shows. Takes an hour.
mutants: setup
	$(BIN)/python -m tests.lift.mutation.measure --jobs $(WORKERS)

clean:
	rm -rf $(VENV) build
