"""The snippets of the documentation run as written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from ledger_service import LedgerService, patience, root


@pytest.mark.parametrize("document", ["docs/python.md", "clients/python/README.md"])
def test_the_snippets_of_a_document_have_valid_types_and_run_as_written(
    sqlite_service: LedgerService, document: str, tmp_path: Path
) -> None:
    # The snippets send the real time.
    sqlite_service.use_real_clock()
    tenant = sqlite_service.tenant(role="admin")
    sqlite_service.add_entries(tenant, 0, 3)
    sqlite_service.ledger(tenant).prompts.rename(tenant.prompt, name="prompts/support.md")
    environment = {
        **os.environ,
        "PROMPTLEDGER_KEY": tenant.key,
        "PROMPTLEDGER_SIGNING_KEY": sqlite_service.ledger(tenant).keys.create(role="signing")["key"],
        "PROMPTLEDGER_URL": sqlite_service.address,
    }
    try:
        run_snippets(document, tmp_path, environment)
    finally:
        sqlite_service.use_clock("2026-11-15T12:00:00.000Z")
    assert sqlite_service.used(tenant) > 0


def test_the_snippet_that_signs_a_token_runs_with_nothing_but_a_signing_key(tmp_path: Path) -> None:
    key = json.loads((root / "client/test/token-vectors.json").read_text(encoding="utf-8"))["signing_key"]
    run_snippets("docs/browser.md", tmp_path, {**os.environ, "PROMPTLEDGER_SIGNING_KEY": key})


def run_snippets(document: str, folder: Path, environment: dict[str, str]) -> None:
    snippets = re.findall(r"```python\n(.*?)```", (root / document).read_text(), re.DOTALL)
    assert snippets
    script = folder / "snippets.py"
    script.write_text("\n".join(snippets))
    sources = str(root / "clients/python/src")
    environment = {**environment, "PYTHONPATH": sources, "MYPYPATH": sources}
    commands = [[sys.executable, str(script)]]
    if find_spec("mypy") is not None:
        # As the check of the client and its tests, which has filled it.
        cache = str(root / "node_modules/.cache/mypy")
        commands.append([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, str(script)])
    for command in commands:
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patience)
        assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr


def test_the_documentation_lists_every_method(sqlite_service: LedgerService) -> None:
    text = (root / "docs/python.md").read_text().split("## All operations")[1]
    documented = {
        f"{name}.{method}"
        for names, methods in re.findall(r"^\| (`.*`) \| (`.*`) \|$", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)
        for method in re.findall(r"`(\w+)`", methods)
    }
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    existing = {
        f"{name}.{method}"
        for name, resource in vars(ledger).items()
        for method in dir(resource)
        if not name.startswith("_") and not method.startswith("_")
    }
    assert documented == existing
