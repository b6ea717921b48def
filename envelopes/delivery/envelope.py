"""The envelope: what a settled turn said, assembled for one who did not watch it (envelope document; D8, D9, D11, D12).

Pure: rows in, JSON out. The table of part types says what a buffered reader gets; here stands only how several parts
become one. ``envelope_for`` reads the rows of a turn.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field

from envelopes.delivery.merging import Strategy, merged
from envelopes.errors import Conflict, ValidationFailed
from envelopes.log.rows import Row
from envelopes.models import Event, Turn
from envelopes.protocol.surfaces import messages_of
from envelopes.protocol.time import instant
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.turn_states import turn_states
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

DATA = "domain-data"
SURFACE = "a2ui-surface"
CITATION = "citation"


@dataclass(frozen=True)
class Reader:
    """Who an envelope is for.

    ``consumes`` are the part types that it asked for by name (``llm-context``, types of an application). ``surfaces``:
    it can render interfaces, so it gets their final state. ``transport``: what carries it, where part types are bound
    to some (D13). ``strategy`` is how data for one slot comes together, by slot or for all.
    """

    consumes: frozenset[str] = frozenset()
    surfaces: bool = False
    transport: str = ""
    strategy: Strategy | Mapping[str, Strategy] = "replace"

    def gets(self, kind: PartType) -> bool:
        if kind.buffered in ("drop", "audit-only", "inbound-only"):
            return False
        if kind.requires_peer_consumes and kind.name not in self.consumes:
            return False
        if kind.name == SURFACE and not (self.surfaces or SURFACE in self.consumes):
            return False
        if not self.transport or kind.allowed_transports is None:
            return True
        return not kind.allowed_transports.isdisjoint({self.transport, *_CARRIED_BY.get(self.transport, ())})

    def merging(self, slot: str) -> Strategy:
        return self.strategy.get(slot, "replace") if isinstance(self.strategy, Mapping) else self.strategy


_CARRIED_BY = {"panel": ("sse",), "live": ("sse",)}
"""A type that may travel by ``sse`` may travel by these too (D13)."""

PLAIN = Reader()


def envelope_for(turn: Turn, reader: Reader = PLAIN) -> JsonObject:
    """The envelope of a settled turn. Raises ``Conflict`` while it is still open."""
    events = Event.objects.filter(
        session_id=turn.session_id, turn=turn.number, kind__in=["part", "tool-result", "settled"]
    ).order_by("seq")
    return assemble(
        (event.as_row() for event in events),
        session_id=turn.session.public_id,
        turn_id=turn.public_id,
        reader=reader,
    )


def assemble(rows: Iterable[Row], *, session_id: str, turn_id: str, reader: Reader = PLAIN) -> JsonObject:
    """``{role, parts, meta}`` from the rows of one turn, in order.

    The first ``settled`` row ends it: what stands after that was late and is no part of the answer. Raises
    ``Conflict`` when there is none. Types that nobody registered are skipped with a warning (D4).
    """
    draft = _Draft(reader)
    for row in rows:
        if row.kind == "settled":
            state = turn_states.get(row.data.get("turnState"))
            return {
                "role": "agent",
                "parts": draft.parts(whole=state is None or state.emits_envelope),
                "meta": {
                    "sessionId": session_id,
                    "turnId": turn_id,
                    "producedAt": instant(row.at),
                    "finalizedBy": row.data.get("finalizedBy", "complete"),
                },
            }
        draft.add(row)
    raise Conflict("This turn is not settled yet, so there is no envelope.")


@dataclass
class _Draft:
    """Parts by the key under which later ones join them, in the order in which the first of each came."""

    reader: Reader
    _parts: dict[tuple[str, ...], JsonObject] = field(default_factory=dict)
    _surfaces: dict[str, JsonObject] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        if row.kind == "tool-result":
            self._add_result(row)
        elif row.kind == "part":
            self._add_part(row)

    def parts(self, *, whole: bool) -> list[JsonObject]:
        """``whole`` is False where the turn's state builds no envelope: only what was said to the person is left."""
        found = [part for key, part in self._parts.items() if whole or _is_speech(part_types[key[0]])]
        found = _citations_after_data(found)
        return [*found, *(self._surfaces.values() if whole else ())]

    # -- rows ---------------------------------------------------------------------------------------------------

    def _add_result(self, row: Row) -> None:
        """A tool that declares a ``dataKind`` gave data, once it has succeeded (D11)."""
        kind = row.data.get("dataKind")
        if not kind or row.data.get("state") != "succeeded" or not self.reader.gets(part_types[DATA]):
            return
        result = row.data.get("result")
        data = result if isinstance(result, dict) else {"result": result}
        self._add_data(row, data, {"partType": DATA, "dataKind": kind})

    def _add_part(self, row: Row) -> None:
        part = row.data.get("part")
        metadata = part.get("metadata") if isinstance(part, dict) else None
        name = metadata.get("partType") if isinstance(metadata, dict) else None
        kind = part_types.get(name)
        if kind is None or not isinstance(part, dict) or not isinstance(metadata, dict):
            logger.warning("Row %s holds a part of unknown type %r; it is skipped.", row.seq, name)
            return
        # Kept for audit: also what came late, and what a router has taken out. A suspension was told when it came.
        if row.audience == "audit" or not self.reader.gets(kind) or _is_paused(row.data.get("turnState")):
            return
        if kind.name == DATA and isinstance(part.get("data"), dict):
            self._add_data(row, part["data"], metadata)
        elif kind.name == SURFACE:
            self._add_surface(row, part)
        else:
            self._join(row, kind.name, part, metadata)

    # -- joining ------------------------------------------------------------------------------------------------

    def _join(self, row: Row, name: str, part: JsonObject, metadata: JsonObject) -> None:
        """The same ``partId`` continues that part; none begins one (D8)."""
        part_id = metadata.get("partId")
        key = (name, "id", part_id) if isinstance(part_id, str) else (name, "row", str(row.seq))
        known = self._parts.get(key)
        if known is None:
            self._parts[key] = deepcopy(part)
            return
        if part.get("text") is not None:
            known["text"] = str(known.get("text") or "") + str(part["text"])
        if part.get("data") is not None:
            known["data"] = deepcopy(part["data"])
        known["metadata"] = {**known["metadata"], **deepcopy(metadata)}

    def _add_data(self, row: Row, data: JsonObject, metadata: JsonObject) -> None:
        """Data for one slot converges. Data without a slot, a kind or an id has nothing to converge with."""
        slot = metadata.get("slotKey") or metadata.get("dataKind")
        if not isinstance(slot, str):
            self._join(row, DATA, {"data": data, "metadata": metadata}, metadata)
            return
        strategy = self.reader.merging(slot)
        known = self._parts.get((DATA, "slot", slot))
        if known is None:
            known = self._parts[DATA, "slot", slot] = {"data": deepcopy(data), "metadata": {}}
        else:
            known["data"] = merged(known["data"], data, strategy)
        known["metadata"] = {**known["metadata"], **deepcopy(metadata)}
        if strategy != "replace":
            known["metadata"]["mergeStrategy"] = strategy

    def _add_surface(self, row: Row, part: JsonObject) -> None:
        """The messages of each surface, in order: applied, they give its final state. Deleted ones are gone."""
        try:
            messages = messages_of(part.get("data"))
        except ValidationFailed as error:
            logger.warning("Row %s holds no surface messages: %s", row.seq, error.message)
            return
        for message in messages:
            surface = _surface_of(message)
            known = self._surfaces.get(surface)
            if "deleteSurface" in message:
                if known is not None and "createSurface" in known["data"]["messages"][0]:
                    # It came and went within this turn: the reader never has to hear of it.
                    del self._surfaces[surface]
                    continue
                known = None
            if known is None:
                known = self._surfaces[surface] = {
                    "data": {"messages": []},
                    "metadata": {"partType": SURFACE},
                }
            known["data"]["messages"].append(deepcopy(message))


def _surface_of(message: JsonObject) -> str:
    for body in message.values():
        if isinstance(body, dict) and "surfaceId" in body:
            return str(body["surfaceId"])
    return ""


def _is_speech(kind: PartType) -> bool:
    return kind.buffered == "flush" or (kind.data == "none" and not kind.requires_peer_consumes)


def _is_paused(state: Json) -> bool:
    """A state that neither settles nor goes on by itself. A question asked then has been answered when it settles."""
    known = turn_states.get(state)
    return known is not None and not known.terminal and not known.holds_actor


def _citations_after_data(parts: list[JsonObject]) -> list[JsonObject]:
    """Citations stand behind the data that they are about (D12); with no data at all, where they came."""
    last = max((at for at, part in enumerate(parts) if part["metadata"]["partType"] == DATA), default=None)
    if last is None:
        return parts
    cited = [part for part in parts if part["metadata"]["partType"] == CITATION]
    before = [part for part in parts[: last + 1] if part["metadata"]["partType"] != CITATION]
    after = [part for part in parts[last + 1 :] if part["metadata"]["partType"] != CITATION]
    return [*before, *cited, *after]
