"""The clients for Python and for JavaScript have the same methods."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any, Union

import pytest

from ledger_service import node, root
from promptledger import AsyncPromptledger, Promptledger

# Browsers sign in and out, to get a cookie.
only_javascript = {"session.create", "session.delete"}
# One method in JavaScript, whose result depends on the argument `format`.
only_python = {"signals.export_csv", "timeline.export_csv"}

script = """
const { Promptledger } = await import(process.argv[1])
const ledger = new Promptledger({ apiKey: 'plk_x', baseUrl: 'https://ledger.example.com' })
const methods = Object.entries(ledger).flatMap(([name, resource]) =>
  Object.keys(resource).map((method) => `${name}.${method}`))
console.log(JSON.stringify(methods))
"""


@pytest.mark.parametrize("client", [Promptledger, AsyncPromptledger])
def test_the_client_has_the_resources_and_methods_of_the_javascript_client(
    client: Union[type[Promptledger], type[AsyncPromptledger]],
) -> None:
    command = [node, "--input-type=module", "--eval", script, (root / "client/src/index.ts").as_uri()]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    javascript = {re.sub("([A-Z])", r"_\1", name).lower() for name in json.loads(output)}
    ledger: Any = client(api_key="plk_x", base_url="https://ledger.example.com")
    python = {
        f"{name}.{method}"
        for name, resource in vars(ledger).items()
        for method in dir(resource)
        if not name.startswith("_") and not method.startswith("_")
    }
    assert python - only_python == javascript - only_javascript
    assert only_python < python and only_javascript < javascript
