"""Patch documents ``{v, ops}``: a subset of RFC 6902 that is checked when it is read and once more when it is applied
(seed 003, "Patching and State Management"; reading 7).

``add``, ``replace`` and ``remove`` alone, all or none, by the engine's own patch code.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from a2ui import Limits, PatchError, apply_patch, patch_pointer
from envelopes.transports.documents.formats.errors import (
    BudgetExceeded,
    DocumentError,
    InvalidInput,
    InvalidPatch,
    PatchConflict,
    Reason,
)
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.strict import check_version, member, read_json
from envelopes.types import Json, JsonObject

OPERATIONS = ("add", "replace", "remove")


@dataclass(frozen=True, slots=True)
class PatchDocument:
    """Operations ``{op, path, value?}`` that have been checked, and hold nothing else."""

    ops: tuple[JsonObject, ...]
    v: int = field(default=1, init=False)

    def as_json(self) -> JsonObject:
        """``{v, ops}``."""
        return {"v": self.v, "ops": [dict(operation) for operation in self.ops]}

    def as_bytes(self) -> bytes:
        """The same as compact JSON in UTF-8. Raises ``InvalidPatch`` (``SerializePatch``) for what is no JSON."""
        try:
            return json.dumps(
                self.as_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":")
            ).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidPatch("The patch holds what is no JSON.", reason="SerializePatch") from error


def parse_patch_text(raw: bytes | str, limits: DocumentLimits = DEFAULT_LIMITS) -> PatchDocument:
    """The patch document that ``raw`` holds. Raises what ``parse_patch`` does, and ``InvalidPatch`` (``InvalidJson``,
    ``PayloadTooLarge``)."""
    try:
        value = read_json(raw)
    except InvalidInput as error:
        raise InvalidPatch(error.message, reason=error.reason) from error
    return parse_patch(value, limits)


def parse_patch(value: Json, limits: DocumentLimits = DEFAULT_LIMITS) -> PatchDocument:
    """The patch document that ``value`` is; members that it does not know are left out.

    Raises ``InvalidPatch`` or ``BudgetExceeded`` for the first thing that is wrong, with the index of the operation and
    its path: whatever can be known of a patch without the state that it is for.
    """
    if not isinstance(value, dict):
        raise InvalidPatch("A patch document is an object.", reason="NotAnObject")
    check_version(value, InvalidPatch)
    ops = member(value, "ops", InvalidPatch)
    if not isinstance(ops, list):
        raise InvalidPatch("ops has to be a list.", reason="InvalidType", path="ops")
    if not ops:
        raise InvalidPatch("ops is empty.", reason="EmptyOperations", path="ops")
    if len(ops) > (most := limits.patch_operations):
        raise BudgetExceeded(
            f"A patch has at most {most:,} operations.", reason="BudgetExceeded", allowed=most, got=len(ops)
        )
    return PatchDocument(tuple([_operation(given, index, limits) for index, given in enumerate(ops)]))


def _operation(given: Json, index: int, limits: DocumentLimits) -> JsonObject:
    if not isinstance(given, dict):
        raise InvalidPatch("An operation is an object.", reason="OperationNotObject", index=index)
    op, path = _text(given, "op", index), ""
    if op not in OPERATIONS:
        raise InvalidPatch(
            f"There is no operation {op[:40]!r} here; known: {', '.join(OPERATIONS)}.",
            reason="UnsupportedOperation",
            index=index,
        )
    path = _text(given, "path", index)
    if len(path) > (most := limits.path_chars):
        raise BudgetExceeded(
            f"A path has at most {most:,} characters.",
            reason="BudgetExceeded",
            index=index,
            allowed=most,
            got=len(path),
        )
    try:
        patch_pointer(path)
    except PatchError as error:
        raise InvalidPatch(error.message, reason="InvalidPointer", index=index, path=path) from error
    if op != "remove":
        if "value" not in given:
            raise InvalidPatch(f"{op} needs a value.", reason="MissingOperationField", index=index, path=path)
        return {"op": op, "path": path, "value": given["value"]}
    if "value" in given:
        raise InvalidPatch("remove takes no value.", reason="Conflict", index=index, path=path)
    if not path:
        raise InvalidPatch("The whole document cannot be removed.", reason="Conflict", index=index)
    return {"op": op, "path": path}


def _text(given: JsonObject, name: str, index: int) -> str:
    if name not in given:
        raise InvalidPatch(f"An operation needs {name}.", reason="MissingOperationField", index=index)
    value = given[name]
    if not isinstance(value, str):
        raise InvalidPatch(f"{name} has to be text.", reason="InvalidOperationFieldType", index=index)
    return value


def apply(state: Json, patch: PatchDocument | Json, limits: DocumentLimits = DEFAULT_LIMITS) -> Json:
    """``state`` after all operations; it is itself left as it is, also where one of them fails.

    Later operations see what earlier ones did. No later change of the patch reaches the result: values are copied.
    Raises what ``parse_patch`` does, ``PatchConflict``, and ``InvalidPatch`` for a value that is no JSON.
    """
    checked = parse_patch(patch.as_json() if isinstance(patch, PatchDocument) else patch, limits)
    try:
        after, _ = apply_patch(state, checked.ops, limits=Limits(patch_operations=limits.patch_operations))
    except PatchError as error:
        raise _told(error, checked) from error
    return after


_KINDS: dict[str, tuple[type[DocumentError], Reason]] = {
    "conflict": (PatchConflict, "Conflict"),
    "budget_exceeded": (BudgetExceeded, "BudgetExceeded"),
}


def _told(error: PatchError, patch: PatchDocument) -> DocumentError:
    kind, reason = _KINDS.get(error.code, (InvalidPatch, "InvalidOperationFieldType"))
    facts: dict[str, Any] = {key: error.facts[key] for key in ("allowed", "got") if key in error.facts}
    index = max(error.index, 0)
    return kind(error.message, reason=reason, index=index, path=patch.ops[index]["path"], **facts)


def root_replacement(state: Json) -> PatchDocument:
    """The patch that makes any state this one: how whoever follows a document gets it first."""
    return PatchDocument(({"op": "replace", "path": "", "value": state},))


def operations_in(patches: Sequence[PatchDocument]) -> int:
    """How many operations these have together."""
    return sum(len(patch.ops) for patch in patches)
