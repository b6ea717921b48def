"""How data for one slot comes together (protocol document, "Slot keys and merge strategy"; D11).

A reader keeps what it has of a slot and merges each part into that. So what several parts say together may be told as
one part only where that one, merged into *whatever* a reader has by now, gives the same as the parts one by one:
``Update.then`` is that, and it says where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from envelopes.types import JsonObject

Strategy = Literal["replace", "append", "deep-merge"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def merged(old: JsonObject, new: JsonObject, strategy: Strategy) -> JsonObject:
    """A new object, which shares what it holds with the two; neither is changed.

    ``replace``: the newer one. ``append``: lists under the same key are concatenated, everything else is replaced.
    ``deep-merge``: objects are merged key by key at every depth, lists and scalars are replaced.
    """
    if strategy == "replace":
        return new
    result = dict(old)
    for key, value in new.items():
        known = result.get(key)
        if strategy == "append" and isinstance(known, list) and isinstance(value, list):
            result[key] = [*known, *value]
        elif strategy == "deep-merge" and isinstance(known, dict) and isinstance(value, dict):
            result[key] = merged(known, value, strategy)
        else:
            result[key] = value
    return result


@dataclass(frozen=True)
class Update:
    """What one part says of its slot: ``data``, to be merged into what is there by ``strategy``."""

    data: JsonObject
    strategy: Strategy = "replace"

    def of(self, old: JsonObject | None) -> JsonObject:
        """What a reader has after it, who had ``old``; None for nothing. It shares what it holds with both."""
        return merged(old or {}, self.data, self.strategy)

    def then(self, later: Update) -> Update | None:
        """The one update that is this one and then ``later``, whatever was there before; None where no single one is:
        two strategies, or a value that was replaced and then added to, which one part cannot say."""
        if later.strategy == "replace":
            return later
        if self.strategy == "replace":
            return Update(later.of(self.data), "replace")
        if self.strategy != later.strategy or _begins_anew(self.data, later.data, self.strategy):
            return None
        return Update(later.of(self.data), self.strategy)


def _begins_anew(first: JsonObject, later: JsonObject, strategy: Strategy) -> bool:
    """Whether ``first`` replaces what was there, somewhere where ``later`` adds to what ``first`` has put there."""
    for key, value in later.items():
        known = first.get(key)
        if key not in first:
            continue
        if strategy == "append" and isinstance(value, list) and not isinstance(known, list):
            return True
        inside = strategy == "deep-merge" and isinstance(value, dict)
        if inside and (not isinstance(known, dict) or _begins_anew(known, value, strategy)):
            return True
    return False


def strategy_of(value: object) -> Strategy:
    """The strategy that the metadata of a part name; ``replace`` where they name none, as in rows of before."""
    return next((known for known in STRATEGIES if known == value), "replace")
