"""How data for one slot comes together (protocol document, "Slot keys and merge strategy"; D11)."""

from __future__ import annotations

from copy import deepcopy
from typing import Literal

from envelopes.types import Json, JsonObject

Strategy = Literal["replace", "append", "deep-merge"]


def merged(old: JsonObject, new: JsonObject, strategy: Strategy) -> JsonObject:
    """A new object; neither of the two is changed or shared.

    ``replace``: the newer one. ``append``: lists under the same key are concatenated, everything else is replaced.
    ``deep-merge``: objects are merged key by key at every depth, lists and scalars are replaced.
    """
    if strategy == "replace":
        return deepcopy(new)
    result = deepcopy(old)
    for key, value in new.items():
        result[key] = _joined(result.get(key), value, strategy)
    return result


def _joined(old: Json, new: Json, strategy: Strategy) -> Json:
    if strategy == "append" and isinstance(old, list) and isinstance(new, list):
        return [*old, *deepcopy(new)]
    if strategy == "deep-merge" and isinstance(old, dict) and isinstance(new, dict):
        return merged(old, new, strategy)
    return deepcopy(new)
