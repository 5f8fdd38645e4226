"""Tokens that pages vote with."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from ledger_service import LedgerService, root
from promptledger import AsyncPromptledger, Promptledger
from promptledger.signing_key import SigningKey

# The same table for every client.
table = json.loads((root / "client/test/token-vectors.json").read_text(encoding="utf-8"))
signing_key: str = table["signing_key"]
prompt = "pmt_9VqXw2LmT4cRy8Zk1AbC3dEf"


def arguments_of(token: dict[str, Any]) -> dict[str, Any]:
    """The names of Python."""
    return {{"expiresIn": "expires_in"}.get(name, name): value for name, value in token.items()}


def payload_of(token: str) -> dict[str, Any]:
    text = token[len("plt_") :].split(".")[0]
    payload: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return payload


def report_of(ledger: Promptledger, token: dict[str, Any]) -> str:
    """The traceback of a failure with its local variables, as tools that report errors have it."""
    try:
        ledger.tokens.sign(**arguments_of(token))
    except ValueError as error:
        report = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        assert "self = SigningKey(…)" in report
        return report
    raise AssertionError("it was signed")


@pytest.mark.parametrize("vector", table["vectors"], ids=[vector["name"] for vector in table["vectors"]])
def test_every_client_signs_the_same_bytes(vector: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"version": None, "voter": None, "expires_in": 3_600, **arguments_of(vector["token"])}
    assert SigningKey(signing_key).sign(now=table["now_ms"] / 1_000, **arguments) == vector["signed"]


def test_the_service_accepts_every_kind_of_token_that_the_client_signs(service: LedgerService) -> None:
    tenant = service.tenant(role="admin")
    ledger = service.ledger(tenant)
    key = ledger.keys.create(role="signing")["key"]
    service.use_real_clock()
    try:
        signing = Promptledger(signing_key=key)
        tokens: list[dict[str, Any]] = [
            {**arguments_of(vector["token"]), "prompt": tenant.prompt} for vector in table["vectors"]
        ]
        for number, arguments in enumerate(tokens):
            # A subject of its own for each, so that none replaces another.
            subject = f"{number} {arguments['subject']}"[:255]
            arguments.update(subject=subject, expires_in=max(600, arguments.get("expires_in", 0)))
            ledger.votes.create(token=signing.tokens.sign(**arguments), value="positive")
        stored = {signal["subject"]: signal["version"] for signal in ledger.signals.list(tenant.prompt)}
    finally:
        service.use_clock("2026-11-15T12:00:00.000Z")
    assert len(stored) == len(tokens)
    for arguments in tokens:
        version = arguments.get("version")
        assert stored[arguments["subject"]] == (version.lower() if isinstance(version, str) else version)


def test_signing_sends_no_request_and_needs_no_api_key_and_no_url(tmp_path: Path) -> None:
    ledger = Promptledger(signing_key=signing_key)
    before = int(time.time())
    token = ledger.with_options(timeout=1, headers={"X-One": "1"}).tokens.sign(prompt=prompt, subject="a")
    assert before + 3_600 <= payload_of(token)["e"] <= time.time() + 3_600
    for call in (ledger.usage.get, lambda: list(ledger.signals.export(prompt)), ledger.prompts.list().page):
        with pytest.raises(ValueError, match="^No API key: set PROMPTLEDGER_KEY to one, or pass api_key$"):
            call()
    # A queue would drop the signals that an earlier process left in the spool.
    with pytest.raises(ValueError, match="^No API key"):
        ledger.signals.queue(spool=tmp_path / "votes.spool")
    ledger.close()


def test_the_signing_key_comes_from_the_environment_unless_an_option_names_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As read from a file.
    monkeypatch.setenv("PROMPTLEDGER_SIGNING_KEY", f"{signing_key}\n")
    assert payload_of(Promptledger().tokens.sign(prompt=prompt, subject="a"))["k"] == "9VqXw2LmT4cRy8Zk"
    other = signing_key.replace("9VqX", "0000")
    assert payload_of(Promptledger(signing_key=other).tokens.sign(prompt=prompt, subject="a"))["k"] == "0000w2LmT4cRy8Zk"
    message = "^No signing key: set PROMPTLEDGER_SIGNING_KEY to one, or pass signing_key$"
    service: dict[str, Any] = {"api_key": "plk_x", "base_url": "https://ledger.example.com"}
    # A key that the caller meant to pass is never replaced by another one.
    with pytest.raises(ValueError, match=message):
        Promptledger(signing_key="", **service).tokens.sign(prompt=prompt, subject="a")
    monkeypatch.setenv("PROMPTLEDGER_SIGNING_KEY", "")
    with pytest.raises(ValueError, match=message):
        Promptledger(**service).tokens.sign(prompt=prompt, subject="a")


@pytest.mark.parametrize("case", table["rejected"])
def test_what_the_service_would_reject_is_not_signed_and_the_error_names_the_field(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as failure:
        Promptledger(signing_key=signing_key).tokens.sign(**arguments_of(case["token"]))
    assert str(failure.value) == case["message"].replace("expiresIn", "expires_in")


@pytest.mark.parametrize("key", table["malformed_signing_keys"])
def test_a_malformed_signing_key_signs_nothing(key: str) -> None:
    with pytest.raises(ValueError) as failure:
        Promptledger(signing_key=key).tokens.sign(prompt=prompt, subject="a")
    assert str(failure.value) == "The signing key is malformed: it starts with pls_ and has 70 characters"


def test_the_signing_key_never_appears_in_representations_or_tracebacks() -> None:
    ledger = Promptledger(signing_key=signing_key)
    printed = [repr(ledger), str(vars(ledger)), str(vars(ledger.tokens))]
    printed += [report_of(ledger, case["token"]) for case in table["rejected"]]
    # Representations can be shortened.
    assert not any(signing_key[21:33] in text for text in printed)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(ledger.tokens)


def test_the_client_for_asyncio_signs_without_waiting() -> None:
    async def main() -> None:
        async with AsyncPromptledger(signing_key=signing_key) as ledger:
            token = ledger.tokens.sign(prompt=prompt, version=1234, subject="a", voter="Zoë", expires_in=60)
            payload = payload_of(token)
            assert before + 60 <= payload.pop("e") <= time.time() + 60
            assert payload == {"k": "9VqXw2LmT4cRy8Zk", "p": prompt, "v": 1234, "s": "a", "u": "Zoë"}
            with pytest.raises(ValueError, match="No API key"):
                await ledger.usage.get()

    before = int(time.time())
    asyncio.run(main())
