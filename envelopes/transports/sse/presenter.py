"""What each row means to whoever follows over SSE: an event, or none (D9).

| event | of | data |
| --- | --- | --- |
| ``messageReceived`` | what a person said | ``text``, ``name``, ``parts`` |
| ``turnStateChanged`` | a turn begins, waits or goes on | ``turn``, ``turnId``, ``actor``, ``turnState`` |
| ``partReceived`` | a part | ``turn``, ``actor``, ``turnState``, ``part``; ``live``: the bubble it replaces; ``late`` |
| ``textDelta`` | text that is being written, without an id | ``turn``, ``live``, ``partType``, ``offset``, ``text`` |
| ``takeover`` | staff have the conversation, or the agent again | ``state``: taken, returned; ``name``, ``agent`` |
| ``textWithdrawn`` | streamed text that became no part | ``turn``, ``live``: the bubbles |
| ``settled`` | the end of a turn | ``turn``, ``turnState``, ``meta`` as in an envelope; ``joined`` |
| ``upToDate`` | all that was there has been sent | ``seq``, ``busy`` |
| ``error`` | the end of the stream | ``code``, ``message`` |

``turn`` counts the turns of a conversation. ``turnStateChanged`` may also have ``goesOn``, the turn whose data a new
one goes on with, and ``delegatedFrom``, the one in which another one's parts stand; ``joined`` is the turn that answers
the message of one that ends so. An ``id`` is the row: whoever sends
the last one back goes on after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from a2ui import SurfaceChange
from envelopes.protocol.rows import Row
from envelopes.protocol.time import instant
from envelopes.registries.statuses import TurnStatus, is_busy
from envelopes.registries.transports import SessionFacts
from envelopes.types import Json, JsonObject


def event(name: str, data: Json, *, seq: int | None = None) -> str:
    """One event as it goes over the wire (HTML Living Standard, "Server-sent events")."""
    number = "" if seq is None else f"id: {seq}\n"
    # JSON has no line ends of its own, so one line of data holds it.
    return f"{number}event: {name}\ndata: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n"


class Events:
    """Knows the turns that are not settled: by number, the id, where each stands, the state that was told last, and the
    number of the turn that waits for it, 0 for none. ``taken``: staff have the conversation."""

    def __init__(
        self, session_id: str, turns: Mapping[int, tuple[str, str, str, int]], *, taken: bool = False
    ) -> None:
        self.session_id = session_id
        self.taken = taken
        self._turns = dict(turns)

    @classmethod
    def of(cls, facts: SessionFacts, snapshot: Json | None) -> Events:
        """At the beginning of a session, or as ``snapshot`` left it."""
        known = snapshot or {"turns": (), "taken": False}
        turns = {
            int(number): (turn_id, status, told, asker)
            for number, turn_id, status, told, asker in known["turns"]
        }
        return cls(facts.session_id, turns, taken=known["taken"])

    @property
    def busy(self) -> bool:
        turns = [(number, status, asker) for number, (_, status, _, asker) in self._turns.items()]
        return is_busy(turns, taken=self.taken)

    def place(self, turn: int) -> str | None:
        return str(turn) if turn in self._turns else None

    def snapshot(self) -> Json:
        turns = [[number, *known] for number, known in sorted(self._turns.items())]
        return {"turns": turns, "taken": self.taken}

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        match row.kind:
            case "message":
                said = {key: row.data[key] for key in ("text", "name", "parts") if key in row.data}
                return event("messageReceived", said, seq=row.seq)
            case "turn":
                return self._turn(row)
            case "part":
                return event("partReceived", self._part(row), seq=row.seq)
            case "takeover":
                self.taken = row.data["state"] == "taken"
                told = {key: row.data[key] for key in ("state", "name", "agent")}
                return event("takeover", told, seq=row.seq)
            case "withdrawn":
                return event("textWithdrawn", {"turn": row.turn, "live": row.data["live"]}, seq=row.seq)
            case "settled":
                return self._settled(row)
            case _:
                return None

    def _turn(self, row: Row) -> str | None:
        turn_id, status = str(row.data["turnId"]), str(row.data["status"])
        _, _, before, _ = self._turns.get(row.turn, ("", "", "", 0))
        told = str(row.data.get("turnState") or _state_in(status))
        self._turns[row.turn] = (turn_id, status, told, int(row.data.get("delegatedFrom") or 0))
        if before == told:
            return None
        data = {"turn": row.turn, "turnId": turn_id, "actor": row.actor, "turnState": told}
        if "goesOn" in row.data:
            data["goesOn"] = row.data["goesOn"]
        if "delegatedFrom" in row.data:
            data["delegatedFrom"] = row.data["delegatedFrom"]
        return event("turnStateChanged", data, seq=row.seq)

    def _part(self, row: Row) -> JsonObject:
        more: JsonObject = {key: row.data[key] for key in ("live", "late") if key in row.data}
        return {
            "turn": row.turn,
            "actor": row.actor,
            "turnState": row.data["turnState"],
            "part": row.data["part"],
            **more,
        }

    def _settled(self, row: Row) -> str:
        turn_id, *_ = self._turns.pop(row.turn, ("", "", "", 0))
        meta = {
            "sessionId": self.session_id,
            "turnId": turn_id,
            "producedAt": instant(row.at),
            "finalizedBy": row.data["finalizedBy"],
        }
        data = {"turn": row.turn, "turnState": row.data["turnState"], "meta": meta}
        if "joined" in row.data:
            data["joined"] = row.data["joined"]
        return event("settled", data, seq=row.seq)


def _state_in(status: str) -> str:
    """The turn state (respond() document) in which a turn is that stands there, where its row does not say."""
    return "suspended" if status == TurnStatus.SUSPENDED else "awaiting"
