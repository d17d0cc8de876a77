# Named tasks. Each is one or two commands, so they can be typed without make, too.
PYTHON ?= .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup test check format docs golden fuzz release-check release

help:  ## list these tasks
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup:  ## make .venv with everything that the tests need
	python3 -m venv .venv
	.venv/bin/pip install -q -e ".[test]"

test:  ## run the tests that a contributor runs
	$(PYTHON) -m pytest

check:  ## linters, types, and the entries that differ from main
	$(PYTHON) -m ruff check kb troubleshooter tests benchmarks docs tools
	$(PYTHON) -m ruff format --check -q kb troubleshooter docs tools
	$(PYTHON) -m mypy
	$(PYTHON) -m troubleshooter check --changed

format:  ## format the code
	$(PYTHON) -m ruff check -q --fix kb troubleshooter tests benchmarks docs tools
	$(PYTHON) -m ruff format -q kb troubleshooter docs tools

docs:  ## write the generated pages and pictures, and test all pages
	$(PYTHON) -m docs.make
	$(PYTHON) -m pytest tests/docs tests/test_readme.py

golden:  ## show which kept answers changed
	$(PYTHON) -m tests.golden

fuzz:  ## a minute of broken logs, other ones each day
	$(PYTHON) -m benchmarks.fuzz --seconds 60 --seed "$$(date -u +%F)"

release-check:  ## build the wheel, install it in a bare environment, follow the README there
	tools/release_check.sh

release: release-check  ## the same; docs/releasing.md has the steps that follow
	@echo "dist/ is ready; docs/releasing.md has the next steps"
