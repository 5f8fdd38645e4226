"""Create a signal. Needs Python 3.9 or newer and no packages."""
import json
import os
import urllib.parse
import urllib.request
import uuid

url = os.environ["PROMPTLEDGER_URL"]
key = os.environ["PROMPTLEDGER_KEY"]
# The ID, name or path of the prompt, such as prompts/support.md.
prompt_id = urllib.parse.quote(os.environ["PROMPTLEDGER_PROMPT"], safe="")

request = urllib.request.Request(
    f"{url}/api/v1/prompts/{prompt_id}/signals",
    method="POST",
    headers={
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        # Sending the request again with the same key records nothing new, so retries are safe.
        "Idempotency-Key": str(uuid.uuid4()),
    },
    data=json.dumps({"value": "positive", "subject": "answer-7c2e", "version": "8f3a1c5", "voter": "user-42", "comment": "Short and clear."}).encode(),
)
with urllib.request.urlopen(request, timeout=10) as response:
    print(json.dumps(json.load(response)["data"], indent=2))
