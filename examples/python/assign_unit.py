"""Computes the arm of a unit in a trial, as the clients do. Needs only the standard library."""

import hashlib
import json
import sys


def position(trial: str, unit: str) -> float:
    """Places a unit between 0 and 1: the first 53 bits of a hash of trial and unit."""
    digest = hashlib.sha256(f"{trial}:{unit}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def arm(trial: str, unit: str, share: float) -> str:
    """Is the same in every process and language. Raising the share only moves units from the control to the candidate."""
    return "candidate" if position(trial, unit) < share else "control"


if __name__ == "__main__":
    # Reads a JSON list of trials, units and shares from standard input, and prints the arm of each.
    for one in json.load(sys.stdin):
        print(arm(one["trial"], one["unit"], one["share"]))
