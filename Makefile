# The commands of the workshop. They use the virtual environment .venv; `make venv` makes it.
BIN ?= .venv/bin
CARRY ?= carry
MEASURED ?= measured
ARCH ?= 90
NAME ?= gpu

.PHONY: help venv demo test broad quick lint types contracts figures ci full mutants tables bench carry carry12 measured

help: ## this list
	@sed -n 's/^\([a-z0-9]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

venv: ## a virtual environment with everything, the package editable
	python3 -m venv .venv
	.venv/bin/pip install -e '.[dev]'

$(BIN)/%:
	$(error There is no $@. Run `make venv` first, or name the environment that has it: make $(MAKECMDGOALS) BIN=FOLDER)

demo: | $(BIN)/warpbound ## the first command of the README
	$(BIN)/warpbound analyze examples/saxpy.cu --launch examples/saxpy.toml

test: | $(BIN)/pytest ## the usual tests
	$(BIN)/pytest

broad: | $(BIN)/pytest ## the tests that take what `make test` samples in full breadth
	$(BIN)/pytest -m 'broad and not full'

quick: | $(BIN)/pytest ## quick tests that need no compiler: less than a minute
	$(BIN)/pytest -m 'not cuda and not browser and not slow and not broad and not full' -x --no-header --ignore tests/benchmarks

lint: | $(BIN)/ruff ## ruff
	$(BIN)/ruff check

types: | $(BIN)/mypy ## mypy --strict
	$(BIN)/mypy --strict

contracts: | $(BIN)/lint-imports ## who may import whom
	$(BIN)/lint-imports

figures: ## how large the house is: files, lines, tables of names, reads by string, vague names
	python3 tools/house_figures.py

ci: ## what every commit must pass, from a fresh copy of HEAD
	bash .ci/run

mutants: | $(BIN)/python ## faults planted in the models: how many the golden cases notice (five minutes on two cores)
	$(BIN)/python tests/mutation 330

tables: | $(BIN)/warpbound ## the papers' tables and curves, the simulated ones too; fails if a recorded verdict changed
	$(BIN)/warpbound reproduce all > /dev/null

full: lint types contracts mutants tables ## the long checks too
	$(BIN)/pytest -m '' --hypothesis-profile=any-speed

bench: | $(BIN)/pytest ## how long things take
	$(BIN)/pytest tests/benchmarks -n 0 --benchmark-enable --benchmark-only --benchmark-sort=name \
		--benchmark-columns=min,median,max,rounds

carry: | $(BIN)/warpbound ## what a machine with a GPU needs, into $(CARRY): wheels, and the suite's machine code for sm_$(ARCH)
	$(BIN)/pip wheel -q -w $(CARRY)/wheels '.[measure]' 'cuda-bindings<13' # which serve newer drivers, too
	$(BIN)/warpbound measure --build $(CARRY)/code --arch $(ARCH)

carry12: ## after carry: the same for a driver of CUDA 12, compiled by NVRTC 12 in an environment of its own
	python3 -m venv $(CARRY)/compiler12
	$(CARRY)/compiler12/bin/pip install -q 'cuda-bindings<13' nvidia-cuda-nvrtc-cu12
	$(CARRY)/compiler12/bin/python tools/older_cubins.py $(CARRY)/code $(CARRY)/code12 $(ARCH)
	rm -rf $(CARRY)/compiler12

measured: | $(BIN)/warpbound ## what came back in $(MEASURED): profile, verdict, page, the corpus predicted before and after
	$(BIN)/warpbound measure --extract -o $(MEASURED)/full
	$(BIN)/warpbound measure --judge -o $(MEASURED)/full
	$(BIN)/warpbound measure --extract -o $(MEASURED)/full --page docs/measured/$(NAME).md
