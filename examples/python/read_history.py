"""Get prompt history. Needs Python 3.9 or newer and no packages."""
import json
import os
import urllib.request

url = os.environ["PROMPTLEDGER_URL"]
key = os.environ["PROMPTLEDGER_KEY"]
prompt_id = os.environ["PROMPTLEDGER_PROMPT"]

request = urllib.request.Request(
    f"{url}/api/v1/prompts/{prompt_id}/history",
    method="GET",
    headers={
        "Authorization": f"Bearer {key}",
    },
)
with urllib.request.urlopen(request, timeout=10) as response:
    print(json.dumps(json.load(response)["data"], indent=2))
