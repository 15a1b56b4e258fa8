# Everything runs from a virtual environment made here; nothing is installed anywhere else.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help setup test test-agents lint demo docs bench-store bench-loop bench-room bench-queue bench-hook eval-guard race kill chaos clean

help:
	@echo "make demo         see it at work; no key, and the network only to install"
	@echo "make test         lint, types, room boundaries, all tests"
	@echo "make test-agents  installs the agents that ralph drives, once, and runs each against a scripted model"
	@echo "make race         8 processes register at once, 200 rounds"
	@echo "make kill         a writer is killed 300 times; nothing acknowledged is lost"
	@echo "make chaos        160 loops, most of them in a room, whose runner is killed, resumed until the end"
	@echo "make bench-loop   an iteration beside a bare loop in bash, start-up, memory"
	@echo "make bench-room   a room beside git stash, git worktree and cp; an iteration in it beside a bare loop"
	@echo "make bench-hook   a Stop event of a session beside a script of bash, jq and perl"
	@echo "make bench-store  cost of persisting an iteration, start-up, lock"
	@echo "make bench-queue  picking and listing 10,000 tasks, taking in 1,000"
	@echo "make eval-guard   the guard on tampering by hand, honest commits and seeded tampering; REPOSITORIES=\"dir dir\" says whose"
	@echo "make docs         write the reference pages again"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("untilproven needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install --quiet --editable '.[dev]'
	@touch $(READY)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: lint
	$(BIN)/pytest

# They are kept outside of the repository, 3 GB of them: UNTILPROVEN_AGENTS_CACHE says where.
test-agents: $(READY)
	PYTHONPATH=tests $(BIN)/python -m real_agents.install
	$(BIN)/pytest tests/real_agents tests/agents/worker/test_tools.py # which runs the node that came with them

clean:
	rm -rf .venv .venv-user .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

race: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/chaos/race.py 200

kill: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/chaos/kill.py 300

chaos: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/chaos/loops.py 160

# What a user has, without the tools of this directory: start-up and memory are measured there.
.PHONY: user-install
user-install: $(READY)
	$(PYTHON) -m venv --clear .venv-user
	PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 .venv-user/bin/pip install --quiet .

bench-store: user-install
	$(BIN)/python bench/store.py

bench-loop: user-install
	$(BIN)/python bench/loop.py

bench-room: user-install
	$(BIN)/python bench/room.py

bench-queue: user-install
	$(BIN)/python bench/tasks.py

bench-hook: user-install
	$(BIN)/python bench/hook.py

eval-guard: $(READY)
	$(BIN)/python eval/attacks.py
	$(BIN)/python eval/guard.py $(if $(REPOSITORIES),--repositories $(REPOSITORIES))

demo: $(READY)
	@$(BIN)/ralph demo

docs: $(READY)
	$(BIN)/python docs/generate.py
