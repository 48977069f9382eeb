# make app   opens the page
# make check lint, types and the tests that are quick: all but pages, browser, training, families, questions, strangers' files, heavy
# make test  lint, types and the tests, of the costly ones a part in turn: what CI runs. HEADLIGHT_ROUND=all: all of them
# make setup the environment and the weights alone
# make constraints  resolves constraints.txt anew
# make lock  writes requirements-linux-x86_64.lock anew: the hashes of these releases, for hosts
# make rooms  draws docs/rooms.svg from the imports
# make pictures  takes the pictures of README and docs/ from the running page
# make clean  removes the environment
PYTHON ?= python3
BIN := .venv/bin
OMP_NUM_THREADS ?= 1
HEADLIGHT_ROUND ?= 0

# A worker a core, and a thread a worker unless OMP_NUM_THREADS says otherwise; a file stays in one worker, as all of the browser do; conftest.py orders them.
PYTEST := OMP_NUM_THREADS=$(OMP_NUM_THREADS) $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: app check test lint setup weights constraints lock rooms pictures clean
.DEFAULT_GOAL := app

app: setup
	$(BIN)/streamlit run app.py

setup: .venv/.app weights

check: lint
	$(PYTEST) -m "not browser and not page and not training and not families and not questions and not hostile and not heavy"

test: lint
	HEADLIGHT_ROUND=$(HEADLIGHT_ROUND) $(PYTEST) --durations=10

lint: .venv/.dev | weights
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Each stamp is renewed when its requirements change, and only then.
.venv/.app: requirements.txt constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m compileall -q app.py inspector models
	touch $@

# Weights that the page can do without: where they cannot be fetched it says so, goes on, and the next make asks again.
weights: .venv/.app
	@$(BIN)/python -m models.fetch minilm smollm2 || echo "Everything else works without them. With a network: make setup"

.venv/.dev: requirements-dev.txt requirements-cluster.txt .venv/.app
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Headlight needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

constraints: | .venv/bin/python
	$(BIN)/python -m tests.constraints

lock: | .venv/bin/python
	$(BIN)/python -m tests.lock $(TORCH)

rooms: .venv/.dev
	$(BIN)/python -m docs.draw_rooms

pictures: .venv/.dev | weights
	$(BIN)/python -m docs.take_pictures

clean:
	rm -rf .venv
