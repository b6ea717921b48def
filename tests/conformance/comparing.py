"""When two results of a program count as equal."""

from __future__ import annotations

import json
from typing import Any


def comparable(value: Any) -> Any:
    """null and absent count as equal; numbers as far as doubles tell them apart, 0 and -0 are one."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    return value + 0.0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def same(got: Any, wanted: Any) -> bool:
    return json.dumps(comparable(got), sort_keys=True) == json.dumps(comparable(wanted), sort_keys=True)
