# The two commands of the README, and one for who changes what is written to disk. Everything they need is installed into
# .venv; nothing outside this folder changes. PYTHON=/path/to/python3 chooses the interpreter.

.PHONY: help demo test torture clean

help:
	@echo "make demo     install zhiku into .venv, index its sample documents and search them"
	@echo "make test     install what the tests need into .venv and run all checks"
	@echo "make torture  kill index, sync, prune, rebuild, restore and repair at 500 random instants (KILLS=n: at n)"
	@echo "make clean    remove .venv and everything else that is made here"

demo:
	@sh scripts/setup
	@.venv/bin/python scripts/demo.py

test:
	@sh scripts/setup dev
	@.venv/bin/python scripts/check

torture:
	@sh scripts/setup dev
	@KILLS=$${KILLS:-500} .venv/bin/python -m pytest tests/e2e/test_kills.py -s

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests scripts evals benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
