"""The structural rules of contracts (7.2), all in one pass: whatever is wrong is told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from envelopes.errors import TooLarge
from envelopes.transports.live.contracts.covering import NOTHING, gaps
from envelopes.transports.live.contracts.dialect import MAX_DEPTH, schema_faults, structure_faults, too_deep
from envelopes.transports.live.contracts.reading import ReadContract, read
from envelopes.transports.live.contracts.reserved import NAME, PREFIX, is_reserved, name_fault
from envelopes.transports.live.contracts.values import ValueCheck
from envelopes.transports.live.contracts.violations import Violation, at, cut, listed
from envelopes.types import Json, JsonObject

MAX_SLOTS: Final = 50
"""Context slots of a contract (7.1)."""

_SLOT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FORBIDDEN_SLOTS = ("__proto__", "constructor", "prototype")
_DERIVED = ("array", "boolean", "integer", "null", "number", "object", "string")


def checked(document: Json, *, labels: bool = False) -> tuple[ReadContract, list[Violation]]:
    """A contract and everything that is wrong with it.

    :param labels: whether an action needs a ``label``, as the type of upstream says; on the socket it does not (7.2)
    """
    if too_deep(document):
        message = f"Has more than {MAX_DEPTH} levels, which is the limit."
        return ReadContract(), [Violation("contract", message, code="CTR_SHAPE_INVALID")]
    made, faults = read(document, labels=labels)
    faults += _schemas(made)
    faults += _context(made)
    faults += _references(made)
    faults += _names(made)
    faults += _compatibility(made)
    return made, faults


def _schemas(made: ReadContract) -> Iterator[Violation]:
    for part in ("propsSpec", "streamSpec", "actionSpec"):
        for name, entry in made.entries(part):
            if isinstance(entry.get("schema"), dict):
                yield from _schema(entry["schema"], at(part, [name]))


def _schema(schema: JsonObject, field: str) -> Iterator[Violation]:
    yield from schema_faults(schema, f"{field}.schema")
    yield from structure_faults(schema, field)


def _context(made: ReadContract) -> Iterator[Violation]:
    """Rule 10."""
    names = made.written.get("contextSpec", {})
    if len(names) > MAX_SLOTS:
        yield Violation(
            "contextSpec", f"Has {len(names)} slots; {MAX_SLOTS} is the limit.", code="CTR_SHAPE_INVALID"
        )
    for name, entry in names.items():
        field = at("contextSpec", [name])
        if name in _FORBIDDEN_SLOTS:
            yield Violation(field, f"'{name}' cannot be the name of a slot.", "another name", name)
        elif is_reserved(name):
            continue  # rule 14
        elif not _SLOT.fullmatch(name):
            wanted = "a letter or underscore, then letters, digits and underscores"
            yield Violation(
                field, f"'{cut(name)}' cannot be the name of a slot: {wanted}.", wanted, cut(name)
            )
        elif name in made.written.get("propsSpec", ()):
            yield Violation(field, f"'{name}' is a property of propsSpec too.", "a name of its own", name)
        elif isinstance(entry, dict) and isinstance(entry.get("schema"), dict):
            yield from _slot(entry, field)


def _slot(entry: JsonObject, field: str) -> Iterator[Violation]:
    faults = list(_schema(entry["schema"], field))
    yield from faults
    if "default" in entry:
        if not faults:
            try:
                yield from ValueCheck(entry["schema"]).violations(entry["default"], f"{field}.default")
            except TooLarge as error:
                yield Violation(f"{field}.default", error.message)
    elif not _is_derivable(entry["schema"]):
        yield Violation(field, "No default follows from this schema; it needs one.", "default", "absent")


def _is_derivable(schema: JsonObject) -> bool:
    """Whether a schema says by its type what an empty value is."""
    types = schema.get("type")
    return types in _DERIVED if isinstance(types, str) else isinstance(types, list) and bool(types)


def _references(made: ReadContract) -> Iterator[Violation]:
    """Rules 11 and 12. A tool whose entry is wrong has a name all the same."""
    tools = list(made.written.get("agentCapabilities", ()))
    for name, action in made.entries("actionSpec"):
        tool = _next_step(action)
        if tool and tool not in tools:
            yield _unknown_tool(f"{at('actionSpec', [name])}.nextStep", tool, tools, "CTR_REF_NEXT_STEP")
    for name, channel in made.entries("streamSpec"):
        tool = _source(channel)
        if tool and tool not in tools:
            field = f"{at('streamSpec', [name])}.source.tool"
            yield _unknown_tool(field, tool, tools, "CTR_REF_STREAM_SOURCE")


def _next_step(action: JsonObject) -> str:
    tool = action.get("nextStep")
    return tool if isinstance(tool, str) else ""


def _source(channel: JsonObject) -> str:
    source = channel.get("source")
    tool = source.get("tool") if isinstance(source, dict) else None
    return tool if isinstance(tool, str) else ""


def _unknown_tool(field: str, tool: str, tools: list[str], code: str) -> Violation:
    message = f"'{cut(tool)}' is no tool of agentCapabilities. Declared: {listed(tools)}."
    return Violation(field, message, listed(tools), cut(tool), code=code)


def _names(made: ReadContract) -> Iterator[Violation]:
    """Rules 13 and 14; one violation for each name."""
    places: dict[str, list[str]] = {}
    for part in ("actionSpec", "streamSpec", "contextSpec"):
        for name in made.written.get(part, ()):
            places.setdefault(name, []).append(part)
    for name, parts in places.items():
        if len(parts) > 1 and not is_reserved(name):
            message = f"'{cut(name)}' is declared in {' and '.join(parts)}."
            yield Violation(at(parts[0], [name]), message, "one place", ", ".join(parts), code="CTR_DUP_NAME")
    for part in ("actionSpec", "contextSpec"):
        for name in made.written.get(part, ()):
            if is_reserved(name):
                message = f"'{cut(name)}' is in the reserved '{PREFIX}' namespace."
                yield Violation(
                    at(part, [name]),
                    message,
                    "a name without that prefix",
                    cut(name),
                    code="CTR_RESERVED_NAME",
                )
    for part in ("actionSpec", "streamSpec"):
        for name in made.written.get(part, ()):
            if not is_reserved(name) and (fault := name_fault(name)) is not None:
                yield Violation(at(part, [cut(name)]), fault, NAME, cut(name), code="CTR_RESERVED_NAME")


def _compatibility(made: ReadContract) -> Iterator[Violation]:
    """Rules 15 and 16, as far as the tools are there and have a schema."""
    for name, action in made.entries("actionSpec"):
        tool = made.tools.get(_next_step(action))
        schema = action.get("schema", NOTHING)
        if tool is not None and isinstance(schema, dict):
            yield from gaps(tool.toolInfo.inputSchema, schema, f"{at('actionSpec', [name])}.schema")
    for name, channel in made.entries("streamSpec"):
        tool = made.tools.get(_source(channel))
        schema = channel.get("schema")
        if tool is not None and tool.toolInfo.outputSchema is not None and isinstance(schema, dict):
            yield from gaps(schema, tool.toolInfo.outputSchema, f"{at('streamSpec', [name])}.schema")
