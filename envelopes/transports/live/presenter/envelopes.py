"""What each row means on the live channel: the envelopes of its deliveries (``deliveries``), without numbers.

Nothing is encoded twice: the door adds the number of its view to the text of a piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from a2ui import SurfaceChange, SurfaceSet
from envelopes.log.numbering import Delivered, delivered
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.encoding import encoded
from envelopes.protocol.rows import Row
from envelopes.protocol.time import instant
from envelopes.registries.statuses import is_busy
from envelopes.registries.transports import SessionFacts
from envelopes.transports.live.contracts import LIFECYCLE
from envelopes.transports.live.presenter.deliveries import (
    NAME,
    declared_of,
    lifecycle_of,
    surface_channel,
)
from envelopes.transports.live.presenter.pieces import PLAIN, Payload, Piece
from envelopes.transports.live.surfaces import Dialect, Mirror, Update
from envelopes.types import Json, JsonObject

SCHEMA_VERSION = "draft-2026-06-12"
"""The stamp of the source (seed, "Schema versioning"); of a draft nobody refuses another one."""


class Body(NamedTuple):
    """What an envelope says, and how it is folded."""

    payload: Json
    mode: str = "append"
    complete: bool = False


class Envelopes:
    """Knows the turns that are not settled: by number, the id, where each stands, and the number of the turn that waits
    for it, 0 for none. ``taken``: staff have the conversation."""

    def __init__(
        self, session_id: str, turns: Mapping[int, tuple[str, str, int]], *, taken: bool = False
    ) -> None:
        self.session_id = session_id
        self.taken = taken
        self._turns = dict(turns)
        # Every reader asks with every row, and most rows change nothing of it.
        self._busy: bool | None = None
        self._mirror: Mirror | None = None
        # What the last one who came reads: most conversations have one reader, or several of a kind.
        self._first = PLAIN

    @classmethod
    def of(cls, facts: SessionFacts, snapshot: Json | None) -> Envelopes:
        """At the beginning of a session, or as ``snapshot`` left it."""
        known = snapshot or {"turns": (), "taken": False}
        turns = {int(turn): (name, status, asker) for turn, name, status, asker in known["turns"]}
        return cls(facts.session_id, turns, taken=known["taken"])

    @property
    def busy(self) -> bool:
        if self._busy is None:
            turns = [(number, status, asker) for number, (_, status, asker) in self._turns.items()]
            self._busy = is_busy(turns, taken=self.taken)
        return self._busy

    def place(self, turn: int) -> str | None:
        return str(turn) if turn in self._turns else None

    def snapshot(self) -> Json:
        turns = [[turn, *known] for turn, known in sorted(self._turns.items())]
        return {"turns": turns, "taken": self.taken}

    def see(self, surfaces: SurfaceSet) -> None:
        if self._mirror is None:
            self._mirror = Mirror(surfaces)
        else:
            self._mirror.moved_to(surfaces)

    def surfaces(self, dialect: Dialect) -> list[JsonObject]:
        """All surfaces, for a reader that has none: ``{channel, owner, surfaceId, messages}``."""
        version, basic = self._first = dialect
        found = self._mirror.initial(version, basic=basic) if self._mirror is not None else ()
        return [{**_named(surface.owner, surface.id), "messages": messages} for surface, messages in found]

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> Payload | None:
        made = delivered(NAME, row)
        if row.kind in ("turn", "takeover", "settled"):
            self._busy = None
        if row.kind == "turn":
            asker = int(row.data.get("delegatedFrom") or 0)
            self._turns[row.turn] = str(row.data["turnId"]), str(row.data["status"]), asker
        elif row.kind == "takeover":
            self.taken = row.data["state"] == "taken"
        turn_id, *_ = self._turns.pop(row.turn, ("",)) if row.kind == "settled" else ("",)
        if not made:
            return None
        before = self._mirror.keys if self._mirror is not None else ()
        pieces = self._of_surfaces(row, made) if _is_of_surfaces(row) else self._told(row, turn_id, made)
        after = self._mirror.keys if self._mirror is not None else ()
        return Payload.of(
            pieces,
            surfaces=[_named(*key) for key in after] if after != before else None,
            settles=row.kind == "settled",
        )

    def _told(self, row: Row, turn_id: str, made: Sequence[Delivered]) -> list[Piece]:
        bodies = self._bodies(row, turn_id)
        return [
            Piece(one.kind, one.channel, envelope(self.session_id, one.channel, body))
            for one, body in zip(made, bodies, strict=True)
        ]

    def _bodies(self, row: Row, turn_id: str) -> Iterator[Body]:
        match row.kind:
            case "part":
                yield _part(row)
            case "message":
                said = {key: row.data[key] for key in ("text", "name", "parts", "id") if key in row.data}
                yield Body({"at": instant(row.at), **said})
            case "turn":
                yield Body({"event": "turn", "turn": row.turn, "actor": row.actor, **row.data})
                for told in lifecycle_of(row.data):
                    yield Body(self._lifecycle(told))
            case "settled":
                yield Body(self._settled(row, turn_id))
            case "takeover":
                told = {key: row.data[key] for key in ("state", "name", "agent")}
                yield Body({"event": "takeover", **told})
            case "withdrawn":
                yield Body({"event": "withdrawn", "turn": row.turn, "live": row.data["live"]})
            case _:
                yield Body({"turn": row.turn, "actor": row.actor, **row.data})

    def _of_surfaces(self, row: Row, made: Sequence[Delivered]) -> list[Piece]:
        """What the row did to each of these surfaces, as messages that make of what a reader has what it is now. Where
        it did nothing there are none, and the delivery still has its number."""
        updates = self._mirror.follow(row) if self._mirror is not None else []
        found = {surface_channel(update.owner, update.surface_id): update for update in updates}
        about = {"turn": row.turn, "actor": row.actor, "by": "person" if row.kind == "edit" else "agent"}
        return [self._of_surface(one, about, found.get(one.channel)) for one in made]

    def _of_surface(self, one: Delivered, about: JsonObject, update: Update | None) -> Piece:
        session_id, channel = self.session_id, one.channel
        if update is None:
            return Piece(one.kind, channel, envelope(session_id, channel, Body({**about, "messages": []})))

        def say(dialect: Dialect) -> str:
            messages = update.messages(dialect.version, basic=dialect.basic)
            return envelope(session_id, channel, Body({**about, "messages": messages}))

        return Piece.of_surface(one.kind, channel, say, self._first, basic=update.differs_in_basic)

    def _lifecycle(self, told: JsonObject) -> JsonObject:
        if told["kind"] in ("render_started", "consume_polling"):
            return {**told, "sessionId": self.session_id}
        return told

    def _settled(self, row: Row, turn_id: str) -> JsonObject:
        meta = {
            "sessionId": self.session_id,
            "turnId": turn_id,
            "producedAt": instant(row.at),
            "finalizedBy": row.data["finalizedBy"],
        }
        told = {"event": "settled", "turn": row.turn, "turnState": row.data["turnState"], "meta": meta}
        # Of a message's turn, the one that has answered it (D66).
        return {**told, "joined": row.data["joined"]} if "joined" in row.data else told


def _is_of_surfaces(row: Row) -> bool:
    return row.kind == "edit" or (row.kind == "part" and row.part_type == A2UI_SURFACE.name)


def _named(owner: str, surface_id: str) -> JsonObject:
    return {"channel": surface_channel(owner, surface_id), "owner": owner, "surfaceId": surface_id}


def _part(row: Row) -> Body:
    declared = declared_of(row.data)
    if declared is not None:
        part = row.data["part"]
        return Body(part.get("data"), str(declared["mode"]), bool(declared.get("complete")))
    more: JsonObject = {key: row.data[key] for key in ("live", "late") if key in row.data}
    told = {
        "turn": row.turn,
        "actor": row.actor,
        "turnState": row.data["turnState"],
        "part": row.data["part"],
        **more,
    }
    return Body(told)


def envelope(session_id: str, channel: str, body: Body) -> str:
    """A StreamEnvelope (seed, "StreamEnvelope") without its number and its closing brace."""
    made: JsonObject = {
        "sessionId": session_id,
        "channel": channel,
        "mode": body.mode,
        "payload": body.payload,
        "schemaVersion": SCHEMA_VERSION,
    }
    if body.complete:
        made["complete"] = True
    return encoded(made)[:-1]


def early(session_id: str, row: Row) -> list[Piece]:
    """The deliveries of a row that stands before all that is replayed from the log: those that a row alone makes."""
    made = delivered(NAME, row)
    told = (
        [Body(Envelopes(session_id, {})._lifecycle(one)) for one in lifecycle_of(row.data)]
        if row.kind == "turn"
        else []
    )
    if row.kind == "part" and declared_of(row.data) is not None:
        return [Piece(one.kind, one.channel, envelope(session_id, one.channel, _part(row))) for one in made]
    of_lifecycle = [one for one in made if one.channel == LIFECYCLE]
    return [
        Piece(one.kind, one.channel, envelope(session_id, one.channel, body))
        for one, body in zip(of_lifecycle, told, strict=True)
    ]
