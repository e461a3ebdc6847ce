# The commands of this repository; `make` alone lists them. Works with GNU make 3.81 (macOS) and any POSIX shell.

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help setup run test check format docs bench interop lock try new-server eject dist clean

SHELL := /bin/sh
unexport VIRTUAL_ENV
UV := scripts/uv.sh
RUN := $(UV) run --no-sync --quiet
# Written at the end of a setup: the environment holds what the lock and the projects say.
READY := .venv/.ready
PROJECTS := pyproject.toml $(wildcard shared/pyproject.toml servers/*/pyproject.toml)

help: ## List the commands
	@echo 'make try runs a server on real files; make test runs every test. Both set up first what is missing.'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)$$/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf '  make %-8s %s\n' "$$name" "$$text"; done

$(READY): uv.lock $(PROJECTS) scripts/setup.sh scripts/uv.sh scripts/lock.py
	@scripts/setup.sh
	@touch $(READY)

setup: $(READY) ## Make .venv hold exactly what uv.lock says (done by the others when needed)

try: $(READY) ## Start the servers as a host would and watch them work on a sample folder
	@$(RUN) python scripts/try.py

run: $(READY) ## Serve a folder over stdio: make run DIR=/path/to/folder
	@if [ -z '$(DIR)' ]; then echo 'Name a folder: make run DIR=/path/to/folder' >&2; exit 2; fi
	@$(RUN) mcp-curated-filesystem '$(DIR)'

test: $(READY) ## Run every test on every core, with branch coverage (ARGS="tests/docs -k links" for some)
	$(RUN) pytest $(if $(ARGS),$(ARGS),-n auto --dist loadscope --cov --cov-report=)

check: $(READY) ## Everything but the tests: style, types, arrows, versions, lock, generated docs
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) pyright
	$(RUN) lint-imports --no-logo
	$(RUN) python scripts/lock.py check uv.lock
	$(RUN) python scripts/versions.py check
	$(RUN) python scripts/generate_docs.py --check

format: $(READY) ## Put the style right
	$(RUN) ruff check --fix
	$(RUN) ruff format

docs: $(READY) ## Write the generated tables of the READMEs again
	@$(RUN) python scripts/generate_docs.py

interop: $(READY) ## Run the servers with clients of other people (needs Node 20 and npm)
	$(RUN) pytest tests/interop $(ARGS)

bench: $(READY) ## Measure against the floor and other servers
	$(RUN) python scripts/bench.py $(ARGS)

lock: ## Resolve again after a changed pyproject.toml; UPGRADE=1 takes the newest versions
	$(UV) lock $(if $(UPGRADE),--upgrade,)
	$(UV) run --no-project --quiet python scripts/lock.py strip uv.lock

new-server: $(READY) ## Add a server of your own, from templates/server: make new-server NAME=weather
	@$(RUN) python scripts/new_server.py $(NAME)
	@$(MAKE) --no-print-directory lock setup
	@$(RUN) ruff check --quiet --fix servers/$(NAME) tests/$(NAME) && $(RUN) ruff format --quiet servers/$(NAME) tests/$(NAME)
	@$(MAKE) --no-print-directory docs
	@echo 'make check test passes with it. Start: uvx --from ./servers/$(NAME) mcp-curated-$(NAME)'

eject: $(READY) ## Copy a server out as a project of its own: make eject SERVER=database DEST=/new/folder
	@$(RUN) python scripts/eject.py '$(SERVER)' '$(DEST)'

dist: $(READY) ## Build every package into dist/
	$(UV) build --quiet --all-packages --out-dir dist
	@ls -1 dist

clean: ## Remove what the commands made
	rm -rf .venv .tools dist build .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
