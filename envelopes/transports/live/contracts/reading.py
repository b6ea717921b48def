"""Reads a contract entry by entry, so that one that is wrong hides nothing that is wrong with the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from envelopes.transports.live.contracts.entries import (
    ENTRIES,
    ENTRIES_IN,
    ActionEntry,
    ChannelEntry,
    ContextEntry,
    PropEntry,
    ToolEntry,
)
from envelopes.transports.live.contracts.reserved import is_reserved, refusal
from envelopes.transports.live.contracts.violations import Violation, at, cut, json_type, listed
from envelopes.types import Json, JsonObject


@dataclass(slots=True)
class ReadContract:
    """The entries that are whole, by name; ``written`` has them all as they came, by part. A part may be missing."""

    props: dict[str, PropEntry] = field(default_factory=dict)
    actions: dict[str, ActionEntry] | None = None
    channels: dict[str, ChannelEntry] | None = None
    slots: dict[str, ContextEntry] = field(default_factory=dict)
    tools: dict[str, ToolEntry] = field(default_factory=dict)
    written: dict[str, JsonObject] = field(default_factory=dict)

    def entries(self, part: str) -> Iterator[tuple[str, JsonObject]]:
        """Those of a part that are objects, and that agents may declare, whatever else is wrong with them."""
        for name, entry in self.written.get(part, {}).items():
            if isinstance(entry, dict) and not is_reserved(name):
                yield name, entry


def read(document: Json, *, labels: bool) -> tuple[ReadContract, list[Violation]]:
    """What stands in a contract, and what is wrong with its shape (rules 1 to 4 and 9, codes ``CTR_SHAPE_*``).

    :param labels: whether actions need a ``label``
    """
    made, faults = ReadContract(), []
    if not isinstance(document, dict):
        return made, [_wrong_type("contract", document)]
    unknown = [name for name in document if name not in ENTRIES]
    faults += [
        Violation(cut(name), f"'{cut(name)}' is no part of a contract.", listed(ENTRIES), code=_UNRECOGNIZED)
        for name in unknown
    ]
    for part, model in ENTRIES.items():
        if part in document:
            entries, wrong = _entries(part, model, document[part])
            faults += wrong
            if entries is not None:
                made.written[part] = _written(part, document[part])
                faults += _missing_labels(part, entries, labels=labels)
                _keep(made, part, entries)
    return made, faults


_UNRECOGNIZED = "CTR_SHAPE_UNRECOGNIZED_KEYS"


def _written(part: str, spec: JsonObject) -> JsonObject:
    inside = ENTRIES_IN.get(part)
    return cast(JsonObject, spec[inside] if inside else spec)


def _keep(made: ReadContract, part: str, entries: dict[str, Any]) -> None:
    match part:
        case "propsSpec":
            made.props = entries
        case "actionSpec":
            made.actions = entries
        case "streamSpec":
            made.channels = entries
        case "contextSpec":
            made.slots = entries
        case _:
            made.tools = entries


def _entries(
    part: str, model: type[BaseModel], spec: Json
) -> tuple[dict[str, BaseModel] | None, list[Violation]]:
    if not isinstance(spec, dict):
        return None, [_wrong_type(part, spec)]
    faults, inside = [], ENTRIES_IN.get(part)
    prefix = part
    if inside is not None:
        taken = {inside, "description"} if part == "propsSpec" else {inside}
        faults += [
            Violation(at(part, [name]), f"'{cut(name)}' is no key of {part}.", code=_UNRECOGNIZED)
            for name in spec
            if name not in taken
        ]
        if not isinstance(spec.get(inside), dict):
            return None, [*faults, _wrong_type(f"{part}.{inside}", spec.get(inside))]
        prefix = part if part == "propsSpec" else f"{part}.{inside}"
    written = _written(part, spec)
    if part == "propsSpec" and not written:
        faults.append(Violation(part, "Has no properties; at least one is needed.", "a property", "none"))
    made: dict[str, BaseModel] = {}
    for name, entry in written.items():
        if part == "streamSpec" and is_reserved(name):
            faults.append(Violation(at(part, [name]), refusal(name), "a name without that prefix", cut(name)))
            continue
        try:
            made[name] = model.model_validate(entry)
        except ValidationError as error:
            faults += _shape_faults(error, at(prefix, [name]))
    return made, faults


def _shape_faults(error: ValidationError, field: str) -> list[Violation]:
    faults: dict[str, Violation] = {}
    for one in error.errors(include_url=False, include_context=False):
        # Members of a union say at which they were tried; that is no key.
        path = [key for key in one["loc"] if not (isinstance(key, str) and "[" in key)]
        if path and path[0] == "confirm":
            path = path[:1]
        where, kind = at(field, path), one["type"]
        if kind == "missing" and path == ["schema"]:
            fault = Violation(field, "Has no schema, so nothing can be checked.", "schema", "absent")
        elif kind == "extra_forbidden":
            fault = Violation(where, f"'{cut(str(path[-1]))}' is no key of this.", code=_UNRECOGNIZED)
        elif kind.endswith("_type"):
            fault = Violation(
                where, f"{one['msg']}.", kind[:-5], json_type(one["input"]), code="CTR_SHAPE_INVALID_TYPE"
            )
        else:
            fault = Violation(where, f"{one['msg']}.", code="CTR_SHAPE_INVALID")
        faults.setdefault(where, fault)
    return list(faults.values())


def _missing_labels(part: str, entries: dict[str, BaseModel], *, labels: bool) -> list[Violation]:
    if part != "actionSpec" or not labels:
        return []
    return [
        Violation(
            f"actionSpec.{name}.label", "'label' is required.", "present", "absent", code="CTR_SHAPE_INVALID"
        )
        for name, entry in entries.items()
        if isinstance(entry, ActionEntry) and entry.label is None
    ]


def _wrong_type(field: str, value: Json) -> Violation:
    found = json_type(value)
    return Violation(field, "Is no object.", "object", found, code="CTR_SHAPE_INVALID_TYPE")
