"""Compares values from the service with the types that the package declares for them."""

from __future__ import annotations

from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def assert_conforms(value: Any, kind: Any, place: str = "value") -> None:
    """Fails if the value has another type, lacks a key, or has one that the type does not declare."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin is Union:
        matching = [each for each in arguments if _conforms(value, each, place)]
        assert matching, f"{place} is {value!r}, not {kind}"
    elif origin is Literal:
        assert value in arguments, f"{place} is {value!r}, not {kind}"
    elif origin is list:
        assert isinstance(value, list), f"{place} is {value!r}, not a list"
        for index, item in enumerate(value):
            assert_conforms(item, arguments[0], f"{place}[{index}]")
    elif origin is dict:
        assert isinstance(value, dict), f"{place} is {value!r}, not an object"
    elif hasattr(kind, "__required_keys__"):
        assert isinstance(value, dict), f"{place} is {value!r}, not an object"
        fields = get_type_hints(kind)
        assert kind.__required_keys__ <= value.keys(), f"{place} lacks {kind.__required_keys__ - value.keys()}"
        for key, item in value.items():
            assert key in fields, f"{place} has the undeclared key {key}"
            assert_conforms(item, fields[key], f"{place}.{key}")
    elif kind is float:
        assert isinstance(value, (int, float)) and not isinstance(value, bool), f"{place} is {value!r}, not a number"
    elif kind is int:
        assert isinstance(value, int) and not isinstance(value, bool), f"{place} is {value!r}, not an integer"
    else:
        assert isinstance(value, kind), f"{place} is {value!r}, not {kind}"


def _conforms(value: Any, kind: Any, place: str) -> bool:
    try:
        assert_conforms(value, kind, place)
        return True
    except AssertionError:
        return False
