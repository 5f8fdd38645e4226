"""JSON as the API expects and returns it."""

from __future__ import annotations

import json
import re
from typing import Any

_lone_surrogate = re.compile("[\ud800-\udfff]")
# From here on, Python refuses to convert a number.
_max_digits = 4_300


def encode_json(value: Any) -> bytes:
    """Compact JSON text in UTF-8. Raises a `TypeError` or `ValueError` for a value that JSON cannot express."""
    # Without escapes for other scripts, which would take up to three times the limit of the metadata.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # UTF-8 has no code for half of a surrogate pair, but JSON can escape it.
    return _lone_surrogate.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def decode_json(text: bytes) -> Any:
    """Raises a `ValueError` for a text that is no JSON."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("The JSON is nested too deeply") from None
    except UnicodeDecodeError:
        raise
    except ValueError:
        # One number with thousands of digits in the metadata must not make a whole page of signals unreadable.
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < _max_digits else float(digits))
