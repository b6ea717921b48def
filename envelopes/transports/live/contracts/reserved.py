"""The namespace of the server (8): who may use it, and what travels there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from envelopes.transports.live.contracts.violations import Violation, json_type, shown
from envelopes.types import Json

PREFIX: Final = "_ggui:"

RUNTIME: Final = "beach:"
"""What this server sends and takes in beside that begins so."""

MAX_NAME: Final = 128
"""Characters of the name of a channel or an action."""

NAME: Final = f"a name of 1 to {MAX_NAME} printable characters"

PREVIEW: Final = "_ggui:preview"
"""A2UI messages of a surface that is still being written."""

LIFECYCLE: Final = "_ggui:lifecycle"
"""How far the agent is."""

KNOWN: Final = frozenset({PREVIEW, LIFECYCLE})
"""A closed set: any other name with the prefix is an unknown channel."""


def is_reserved(name: str) -> bool:
    """Whether a name belongs to the server: nobody may declare it."""
    return name.startswith(PREFIX)


def is_known(name: str) -> bool:
    """Whether it is a channel of the server's; a name that is reserved and not known is no channel at all."""
    return name in KNOWN


def name_fault(name: str) -> str | None:
    """Why an agent's channel or action cannot have this name, in words; None where it can."""
    if name.startswith((PREFIX, RUNTIME)):
        return "Names that begin so are those of the server."
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        return f"Is not {NAME}."
    return None


def refusal(channel: str) -> str:
    """What an agent hears that declares a channel there, in the words of the seed."""
    return (
        f"Stream channel '{channel}' is in the reserved '{PREFIX}' namespace — "
        "server-owned channels cannot be declared in agent streamSpec"
    )


_OUTCOMES = ("accepted", "amended", "declined", "cached")

_KINDS: Final[dict[str, dict[str, type | tuple[str, ...]]]] = {
    "handshake_started": {"handshakeId": str, "intent": str},
    "handshake_completed": {"handshakeId": str, "outcome": _OUTCOMES, "genExpected": bool},
    "render_started": {"sessionId": str, "intent": str},
    "consume_polling": {"sessionId": str, "state": ("open",)},
}


def lifecycle_violations(payload: Json, field: str = f"{LIFECYCLE}.payload") -> list[Violation]:
    """What is wrong with a payload of ``_ggui:lifecycle`` (8.1), a closed union on ``kind``; more fields are fine."""
    if not isinstance(payload, dict):
        return [Violation(field, "Is no object.", "object", json_type(payload), "type")]
    kind = payload.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        found = shown(kind) if "kind" in payload else "absent"
        kinds = " | ".join(_KINDS)
        return [Violation(f"{field}.kind", f"Is not one of {kinds}.", kinds, found, "enum")]
    return [
        fault
        for name, wanted in _KINDS[kind].items()
        for fault in _field_violations(payload, name, wanted, f"{field}.{name}")
    ]


def _field_violations(
    payload: dict[str, Json], name: str, wanted: type | tuple[str, ...], field: str
) -> Iterator[Violation]:
    if name not in payload:
        yield Violation(field, f"'{name}' is required.", "present", "absent", "required")
        return
    value = payload[name]
    if isinstance(wanted, tuple):
        if not isinstance(value, str) or value not in wanted:
            expected = " | ".join(wanted)
            yield Violation(field, f"Is not one of {expected}.", expected, shown(value), "enum")
    elif not isinstance(value, wanted):
        expected = "boolean" if wanted is bool else "string"
        yield Violation(
            field, f"Is of the type {json_type(value)}, not {expected}.", expected, json_type(value), "type"
        )
