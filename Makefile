# Every target installs what it needs into .venv the first time, and is quick the second time.
#   make demo    see it work on a sample project
#   make check   style, types and the quick tests, in less than two minutes
#   make test    run the tests
#   make attack  damage, race and starve it, for minutes
#   make flaky   repeat one test under load: make flaky TEST=tests/unit/test_x.py::test_y N=50 LOAD=12
#   make lint    ruff and pyright
#   make bench   measure, on this machine
#   make test-pythons   the quick tests on every Python that is found
#   make release HOME_PAGE=https://...   fill in the project's address, and build the wheel

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

.PHONY: release picture demo check test test-pythons attack flaky style lint bench fuzz docs lock clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	@$(BIN)/python examples/demo.py

# The tests that start hardly any process.
QUICK := tests/repo tests/unit tests/contract
# Compiled tests are kept, whatever the environment says: a worker needs ten seconds to compile them all.
TESTED := PYTHONWARNDEFAULTENCODING=1 PYTHONDONTWRITEBYTECODE=
PYTEST := -m pytest -q -n auto --dist worksteal

# Pyright keeps one core busy; the tests run beside it.
check: style
	@echo "Checking types (pyright) and running the quick tests ..."
	@$(BIN)/pyright --warnings >$(VENV)/pyright.log 2>&1 & types=$$!; \
	$(TESTED) $(BIN)/python $(PYTEST) $(QUICK); failed=$$?; \
	wait $$types || failed=1; cat $(VENV)/pyright.log; exit $$failed

PYTHONS ?= python3.11 python3.12 python3.13

test-pythons:
	@failed=; found=; for python in $(PYTHONS); do \
	  $$python -c pass 2>/dev/null || { echo "$$python is not here"; continue; }; \
	  found=1; folder=.venv-$$(basename $$python); echo "Running the quick tests with $$python ..."; \
	  [ $$folder/.installed -nt pyproject.toml ] || { $$python -m venv $$folder \
	    && $$folder/bin/python -m pip uninstall --quiet --quiet --yes recollect \
	    && $$folder/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' && touch $$folder/.installed; } \
	    || { failed="$$failed $$python"; continue; }; \
	  $(TESTED) $$folder/bin/python $(PYTEST) $(QUICK) || failed="$$failed $$python"; \
	done; [ -n "$$found" ] || { echo "None of $(PYTHONS) is here; name yours with PYTHONS="; exit 1; }; \
	[ -z "$$failed" ] || { echo "Failed:$$failed"; exit 1; }

# What cannot be had here is left out, and said in the last lines; with CI=true it is a failure.
test: $(VENV)/.installed-dev
	@$(TESTED) $(BIN)/python tools/run_tests.py -q -n auto --dist worksteal --hypothesis-profile=whole -m "not attack"

# The attacks of `make test`, and those that take minutes; the walk at every step instead of at one. Then what
# `make test` has less of: hostile events, processes at once, and the oldest release of the client.
attack: $(VENV)/.installed-dev
	@echo "Attacking; some minutes on two cores ..."
	@$(TESTED) $(BIN)/python $(PYTEST) --hypothesis-profile=whole \
	  $(wildcard tests/attacks tests/faults) -m "attack or not attack" \
	  --deselect tests/faults/test_walk.py::test_a_fault_at_an_operation_of_a_command_loses_nothing
	@echo "Running what else takes minutes ..."
	@$(TESTED) $(BIN)/python $(PYTEST) --hypothesis-profile=whole tests/integration tests/e2e/claude -m attack

style: $(VENV)/.installed-dev
	@echo "Checking style (ruff) ..."
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# One test many times beside busy processes, each time with another seed.
N ?= 50
LOAD ?= 12
flaky: $(VENV)/.installed-dev
	@$(BIN)/python tools/flaky.py '$(TEST)' --times $(N) --load $(LOAD)

lint: style
	@echo "Checking types (pyright) ..."
	@$(BIN)/pyright --warnings

bench: $(VENV)/.installed-dev
	@failed=0; \
	for part in latency/run.py latency/hooks.py latency/anchors.py "latency/resident.py --entries 1000 10000" latency/team.py \
	  scale/run.py ui/run.py memories/run.py retrieval/prompts.py triage/run.py triage/sessions.py triage/sentences.py triage/statements.py \
	  soak/run.py secrets/run.py "feedback/signs.py --misses" feedback/run.py "feedback/harm.py --vectors" \
	  feedback/junk.py; do \
	  $(BIN)/python bench/$$part || failed=1; \
	done; exit $$failed

# Look for inputs that break what hooks read, for a minute; needs Linux.
fuzz: $(VENV)/.installed
	@$(call install,atheris,atheris)
	@$(BIN)/python tools/fuzz.py

# What is made from code: docs/settings.md, docs/cli.md, the capture in README.md, the JSON Schemas, pictures of pages.
picture: $(VENV)/.installed-dev
	@PYTHONPATH=. $(BIN)/python tools/picture.py

docs: $(VENV)/.installed docs/ui/today.png
	@$(BIN)/python tools/docs.py

# Pictures of the pages, when these have changed; each has other times on it.
docs/ui/today.png: $(wildcard src/recollect/web/static/* src/recollect/web/templates/*) tools/ui_world.json
	@$(BIN)/python tools/ui_pictures.py || { echo "docs/ui has the pictures of before: they need a browser and the test tools."; touch $@; }

# Needs uv and a package index. Run it when a range in plugin/requirements.txt or an extra in pyproject.toml changes.
lock: $(VENV)/.installed
	@$(BIN)/python tools/lock.py

# Without the address, given now or before, there is no release.
HOME_PAGE ?=

release: $(VENV)/.installed-dev
	@$(BIN)/python tools/release.py $(if $(HOME_PAGE),--home-page "$(HOME_PAGE)")
	@$(BIN)/python -m pip wheel --quiet --no-deps --disable-pip-version-check --wheel-dir dist .

clean:
	rm -rf $(VENV) .venv-* .pytest_cache .ruff_cache .hypothesis build dist

$(VENV)/bin/python:
	@echo "Creating $(VENV) ..."
ifdef UV
	@$(UV) venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "recollect needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Python has no venv here; on Debian: apt-get install python3-venv"; exit 1; }
endif

# The distribution was once called `recollect`, as a stranger's is now. Beside the new one it would stay, and take the
# command along when it goes. So it goes first.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@$(call uninstall,recollect)
	@$(call install,recollect,-e .)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	@$(call uninstall,recollect)
	@$(call install,recollect and its test tools,-e '.[dev]')
	@touch $@ $(VENV)/.installed

ifdef UV
install = echo "Installing $(1) ..." && $(UV) pip install --python $(BIN)/python $(2)
uninstall = $(UV) pip uninstall --quiet --python $(BIN)/python $(1)
else
install = $(BIN)/python tools/install.py "$(1)" $(2)
uninstall = $(BIN)/python -m pip uninstall --quiet --quiet --yes --disable-pip-version-check $(1)
endif
