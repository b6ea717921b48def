"""What a row delivers on the live channel: on which channels, and whether it is replayed. A pure function of the row.

A channel is named by what travels there: a part type (``beach:response``), a surface (``beach:surface/<owner>/<id>``),
messages and turns of the conversation, or the agent's own name for it. ``FORM`` goes up when the same row delivers
something else: views are then made anew, with numbers of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import quote

from envelopes.errors import ValidationFailed
from envelopes.log.numbering import AnyRow, Delivered, Replay
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.surfaces import messages_of
from envelopes.registries.statuses import TurnStatus
from envelopes.transports.live.contracts import LIFECYCLE, RUNTIME
from envelopes.types import JsonObject

NAME = "live"
"""The transport."""

FORM = 2

OURS = RUNTIME
MESSAGES, TURNS, TOOLS, ACTIONS = f"{OURS}message", f"{OURS}turn", f"{OURS}tool", f"{OURS}action"
SURFACES = f"{OURS}surface"
"""Each surface has a channel of its own below it."""

PARTS, LATE, ROWS = "part:", "late:", "row:"
"""What a view wants is one of these with a part type, or with a kind of row."""

OF_SURFACES = f"{PARTS}{A2UI_SURFACE.name}"
"""What a view wants that is told of surfaces."""

POLICIES: frozenset[Replay] = frozenset(("none", "latest", "all"))

ROWS_FOR_ALL = frozenset({"message", "turn", "settled", "takeover", "withdrawn", "lifecycle"})
ROWS_OF_SURFACES = frozenset({"edit"})
ROWS_FOR_PEOPLE = frozenset({"tool", "action"})

CHANNEL_CHARACTERS = 512


@lru_cache(maxsize=1_024)
def surface_channel(owner: str, surface_id: str) -> str:
    """The channel of a surface: its names percent-encoded. Where they are too long for one, what is left out of the
    second has a digest in its place, behind a slash that no name holds: no two surfaces have one channel."""
    whole = f"{SURFACES}/{quote(owner, safe=':@')}/{quote(surface_id, safe=':@')}"
    if len(whole) <= CHANNEL_CHARACTERS:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return f"{whole[: CHANNEL_CHARACTERS - len(digest) - 1]}/{digest}"


def deliveries(row: AnyRow) -> Sequence[Delivered]:
    """What ``row`` delivers, in order."""
    if row.audience != "delivered":
        return ()
    match row.kind:
        case "part":
            return _part(row)
        case "message":
            return (_of_row(row, MESSAGES),)
        case "turn":
            told = [Delivered(f"{ROWS}lifecycle", LIFECYCLE, "all") for _ in lifecycle_of(row.data)]
            return (_of_row(row, TURNS), *told)
        case "settled" | "withdrawn" | "takeover":
            return (_of_row(row, TURNS),)
        case "tool":
            return (_of_row(row, TOOLS),)
        case "action":
            return (_of_row(row, ACTIONS),)
        case "edit":
            return (_of_row(row, surface_channel(row.data["owner"], row.data["surfaceId"])),)
        case _:
            return ()


def _of_row(row: AnyRow, channel: str) -> Delivered:
    return Delivered(f"{ROWS}{row.kind}", channel, "all")


def _part(row: AnyRow) -> Sequence[Delivered]:
    kind = f"{LATE if row.data.get('late') else PARTS}{row.part_type}"
    if row.part_type == A2UI_SURFACE.name:
        return [Delivered(kind, channel, "all") for channel in surfaces_of(row)]
    declared = declared_of(row.data)
    if declared is not None:
        return (Delivered(kind, declared["channel"], declared["replay"]),)
    return (Delivered(kind, f"{OURS}{row.part_type}", "all"),)


def declared_of(data: JsonObject) -> JsonObject | None:
    """The channel of the agent's contract that a part goes to, with how it is folded and kept, as its row says."""
    stream = data.get("stream")
    if not isinstance(stream, dict) or stream.get("replay") not in POLICIES:
        return None
    return stream if isinstance(stream.get("channel"), str) else None


def surfaces_of(row: AnyRow) -> list[str]:
    """The channels of the surfaces that a part's A2UI messages name, in order."""
    try:
        messages = messages_of(row.data["part"].get("data"))
    except ValidationFailed:
        # A row of an earlier version; surfaces leave it out as well.
        return []
    named = (_surface_id(message) for message in messages)
    return list(dict.fromkeys(surface_channel(row.actor, name) for name in named if name is not None))


def _surface_id(message: JsonObject) -> str | None:
    for value in message.values():
        if isinstance(value, dict) and isinstance(found := value.get("surfaceId"), str):
            return found
    return None


def lifecycle_of(turn: JsonObject) -> list[JsonObject]:
    """What a ``turn`` row says on ``_ggui:lifecycle``, but for the id of the session (reading, 8.1).

    A turn is the handshake: started when it is queued, and completed when a runner has it, which begins to generate; a
    turn that waits for something to come in polls for it.
    """
    turn_id, intent = str(turn["turnId"]), str(turn.get("reason", ""))
    match turn["status"]:
        case TurnStatus.QUEUED:
            return [{"kind": "handshake_started", "handshakeId": turn_id, "intent": intent}]
        case TurnStatus.RUNNING:
            completed = {
                "kind": "handshake_completed",
                "handshakeId": turn_id,
                "outcome": "accepted",
                "genExpected": True,
            }
            return [completed, {"kind": "render_started", "intent": intent}]
        case TurnStatus.SUSPENDED | TurnStatus.WAITING:
            return [{"kind": "consume_polling", "state": "open"}]
        case _:
            return []
