"""The smallest patch from one document to another that says it member by member and item by item; pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from a2ui import PatchError, patch_pointer
from envelopes.transports.documents.formats.coercing import below
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.patches import PatchDocument, root_replacement
from envelopes.types import Json, JsonObject


def difference(before: Json, after: Json, limits: DocumentLimits = DEFAULT_LIMITS) -> PatchDocument:
    """The patch that makes ``after`` of ``before`` to the letter: in pieces or, where those would take more bytes or
    operations, or a path that no patch may have, as a whole."""
    whole = root_replacement(after)
    ops = tuple(islice(_changes("", before, after), limits.patch_operations + 1))
    if not 0 < len(ops) <= limits.patch_operations or not all(_may_be(one["path"], limits) for one in ops):
        return whole
    found = PatchDocument(ops)
    return found if len(found.as_bytes()) < len(whole.as_bytes()) else whole


def _may_be(path: str, limits: DocumentLimits) -> bool:
    try:
        patch_pointer(path)
    except PatchError:
        return False
    return len(path) <= limits.path_chars


def _changes(path: str, before: Any, after: Any) -> Iterator[JsonObject]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() - after.keys():
            yield {"op": "remove", "path": below(path, name)}
        for name, value in after.items():
            if name not in before:
                yield {"op": "add", "path": below(path, name), "value": value}
            else:
                yield from _changes(below(path, name), before[name], value)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(path, before, after)
    elif not _same(before, after):
        yield {"op": "replace", "path": path, "value": after}


def _items(path: str, before: list[Any], after: list[Any]) -> Iterator[JsonObject]:
    """What is the same at both ends stays; between them items change in place, and go or come at the end."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if not _same(before[at], after[at])), shorter)
    ends = (at for at in range(shorter - start) if not _same(before[-1 - at], after[-1 - at]))
    kept = next(ends, shorter - start)
    changed = shorter - start - kept
    for at in range(start, start + changed):
        yield from _changes(below(path, at), before[at], after[at])
    behind = start + changed
    for _ in range(len(before) - shorter):
        yield {"op": "remove", "path": below(path, behind)}
    for at in range(behind, behind + len(after) - shorter):
        yield {"op": "add", "path": below(path, at), "value": after[at]}


def _same(one: Any, other: Any) -> bool:
    """To the letter: true is not 1, nor 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)
