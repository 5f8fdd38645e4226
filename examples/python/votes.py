"""A route that takes the votes of users and records them in the background, for any WSGI server. To run it:

    PROMPTLEDGER_URL=… PROMPTLEDGER_KEY=… PROMPTLEDGER_PROMPT=prompts/support.md python3 votes.py
"""

from __future__ import annotations

import json
import os
import signal
import threading
from datetime import datetime, timezone
from typing import Any, Iterable
from wsgiref.simple_server import make_server

from promptledger import Promptledger

# The ID, name or path of the prompt.
prompt = os.environ["PROMPTLEDGER_PROMPT"]
# The commit that the prompt was deployed from. Votes count for it even if they arrive after the next deployment.
version = os.environ.get("PROMPT_VERSION")

ledger = Promptledger()
# The spool file holds votes until they are recorded. Each worker of a server needs its own.
votes = ledger.signals.queue(spool=os.environ.get("SPOOL", "votes.spool"))


def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """POST /answers/<id>/vote with {"value": "positive", "negative" or null, "comment": "…"}."""
    route = environ["PATH_INFO"].split("/")
    if environ["REQUEST_METHOD"] != "POST" or len(route) != 4 or (route[1], route[3]) != ("answers", "vote"):
        start_response("404 Not Found", [])
        return []
    try:
        body = json.loads(environ["wsgi.input"].read(min(int(environ.get("CONTENT_LENGTH") or 0), 10_000)))
        value, comment = body["value"], body.get("comment") or None
        if value not in ("positive", "negative", None) or not isinstance(comment, (str, type(None))):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError):
        start_response("422 Unprocessable Content", [])
        return []
    # Check here that this user got this answer. There is one vote for each subject: a further one replaces it, and None
    # withdraws it.
    now = datetime.now(timezone.utc)
    votes.add(prompt, value=value, subject=route[2], version=version, comment=comment, occurred_at=now)
    start_response("202 Accepted", [])
    return []


if __name__ == "__main__":
    with make_server("127.0.0.1", int(os.environ.get("PORT", "3001")), app) as server:
        # A normal exit, so that the queue sends what is left. Not by an exception: wsgiref catches it during a request.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
