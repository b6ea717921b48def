"""What each row means on the live channel: the envelopes of its deliveries (``deliveries``), without numbers.

Nothing is encoded twice: the door adds the number of its view to the text of a piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from a2ui import SurfaceChange, SurfaceSet
from envelopes.log.numbering import Delivered
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.encoding import encoded
from envelopes.protocol.rows import Row
from envelopes.protocol.time import instant
from envelopes.registries.statuses import is_busy
from envelopes.registries.transports import SessionFacts
from envelopes.transports.live.contracts import LIFECYCLE
from envelopes.transports.live.presenter.deliveries import (
    declared_of,
    deliveries,
    lifecycle_of,
    surface_channel,
)
from envelopes.transports.live.presenter.pieces import Payload, Piece
from envelopes.transports.live.surfaces import Dialect, Mirror
from envelopes.types import Json, JsonObject

SCHEMA_VERSION = "draft-2026-06-12"
"""The stamp of the source (seed, "Schema versioning"); of a draft nobody refuses another one."""


class Body(NamedTuple):
    """``others`` are the payloads for readers of A2UI 0.9.1, and of those that know the Basic Catalog only, of 1.0 and
    0.9.1; None where it is the same. None for what is no surface."""

    payload: Json
    mode: str = "append"
    complete: bool = False
    others: tuple[Json, Json, Json] | None = None


class Envelopes:
    """Knows the turns that are not settled: by number, the id, where each stands, and the number of the turn that waits
    for it, 0 for none. ``taken``: staff have the conversation."""

    def __init__(
        self, session_id: str, turns: Mapping[int, tuple[str, str, int]], *, taken: bool = False
    ) -> None:
        self.session_id = session_id
        self.taken = taken
        self._turns = dict(turns)
        self._mirror: Mirror | None = None

    @classmethod
    def of(cls, facts: SessionFacts, snapshot: Json | None) -> Envelopes:
        """At the beginning of a session, or as ``snapshot`` left it."""
        known = snapshot or {"turns": (), "taken": False}
        turns = {int(turn): (name, status, asker) for turn, name, status, asker in known["turns"]}
        return cls(facts.session_id, turns, taken=known["taken"])

    @property
    def busy(self) -> bool:
        turns = [(number, status, asker) for number, (_, status, asker) in self._turns.items()]
        return is_busy(turns, taken=self.taken)

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
        version, basic = dialect
        found = self._mirror.initial(version, basic=basic) if self._mirror is not None else ()
        return [{**_named(surface.owner, surface.id), "messages": messages} for surface, messages in found]

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> Payload | None:
        made = deliveries(row)
        if row.kind == "turn":
            asker = int(row.data.get("delegatedFrom") or 0)
            self._turns[row.turn] = str(row.data["turnId"]), str(row.data["status"]), asker
        elif row.kind == "takeover":
            self.taken = row.data["state"] == "taken"
        turn_id, *_ = self._turns.pop(row.turn, ("",)) if row.kind == "settled" else ("",)
        if not made:
            return None
        before = self._mirror.keys if self._mirror is not None else ()
        pieces = [
            self._piece(one, body) for one, body in zip(made, self._bodies(row, turn_id, made), strict=True)
        ]
        after = self._mirror.keys if self._mirror is not None else ()
        return Payload.of(
            pieces,
            surfaces=[_named(*key) for key in after] if after != before else None,
            settles=row.kind == "settled",
        )

    def _piece(self, one: Delivered, body: Body) -> Piece:
        told = envelope(self.session_id, one.channel, body)
        if body.others is None:
            return Piece(one.kind, one.channel, told)
        older, basic, older_basic = (
            "" if other is None else envelope(self.session_id, one.channel, body._replace(payload=other))
            for other in body.others
        )
        return Piece(one.kind, one.channel, told, older, basic, older_basic, is_surface=True)

    def _bodies(self, row: Row, turn_id: str, made: Sequence[Delivered]) -> Iterator[Body]:
        match row.kind:
            case "part" if row.part_type == A2UI_SURFACE.name:
                yield from self._surfaces(row, made)
            case "edit":
                yield from self._surfaces(row, made)
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

    def _surfaces(self, row: Row, made: Sequence[Delivered]) -> Iterator[Body]:
        """What the row did to each of these surfaces, as messages that make of what a reader has what it is now. Where
        it did nothing there are none, and the delivery still has its number."""
        updates = self._mirror.follow(row) if self._mirror is not None else []
        found = {surface_channel(update.owner, update.surface_id): update for update in updates}
        about = {"turn": row.turn, "actor": row.actor, "by": "person" if row.kind == "edit" else "agent"}

        def said(messages: list[JsonObject]) -> JsonObject:
            return {**about, "messages": messages}

        for one in made:
            update = found.get(one.channel)
            if update is None:
                yield Body(said([]), others=(None, None, None))
                continue
            yield Body(
                said(update.messages("1.0")),
                others=(
                    said(update.messages("0.9.1")) if update.differs else None,
                    said(update.messages("1.0", basic=True)) if update.uses_own else None,
                    said(update.messages("0.9.1", basic=True)) if update.uses_own else None,
                ),
            )

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
    made = deliveries(row)
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
