"""Answers with the live text of a prompt, or with the one that a trial chose for the user, and records the user's vote on it."""

import os
import sys

from promptledger import Promptledger

user = sys.argv[1] if len(sys.argv) > 1 else "user-42"

with Promptledger() as ledger:
    # Never raises: without the service, it returns the last text on disk, or the fallback.
    prompt = os.environ.get("PROMPTLEDGER_PROMPT", "prompts/support-reply.md")
    reply = ledger.prompts.text(prompt, unit=user, fallback_text="Answer politely.")
    print(reply.version, reply.trial, reply.text, sep="\n")

    # With the text, the vote names the version and the user, which is all that a trial needs.
    if sys.argv[2:] == ["thumbs-up"]:
        ledger.signals.create(reply, value="positive")
