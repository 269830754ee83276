# The two commands a stranger needs are `make demo` and `make test`.
PYTHON ?= python3
PY := .venv/bin/python
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow lint format clean

demo: .venv/core.stamp
	.venv/bin/stochgate demo --force

test: .venv/dev.stamp
	$(PY) -m pytest -n auto --dist loadgroup

test-slow: .venv/dev.stamp
	$(PY) -m pytest -n auto --dist loadgroup -m slow

lint: .venv/dev.stamp
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: .venv/dev.stamp
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .mypy_cache

# A stamp is older than the files it depends on only when something must be installed again.
.venv/core.stamp: pyproject.toml constraints.txt
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[cli]'
	touch $@

.venv/dev.stamp: pyproject.toml constraints.txt
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(INSTALL) --editable '.[dev]'
	touch $@
