"""The envelope: what a settled turn said, assembled for one who did not watch it (envelope document; D8, D9, D11, D12).

Pure: rows in, JSON out. ``delivery.rules`` says what a reader gets; here stands only how several parts become one.
``envelope_for`` reads the rows of a turn.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field

from envelopes.artifacts import enclose
from envelopes.delivery.rules import Reader, encloses, gets, is_question, is_said
from envelopes.errors import Conflict, ValidationFailed
from envelopes.models import Event, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.part_types.artifact import OF_A_WRITE, is_whole
from envelopes.part_types.citation import CITATION
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.merging import Update
from envelopes.protocol.parts import continued
from envelopes.protocol.rows import Row
from envelopes.protocol.slots import data_of_result, key_of, update_of
from envelopes.protocol.surfaces import RUNTIME, messages_of
from envelopes.protocol.time import instant
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import Connection
from envelopes.registries.turn_states import emits_envelope
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)

DATA = DOMAIN_DATA.name
SURFACE = A2UI_SURFACE.name
CITED = CITATION.name


PLAIN = Reader()
"""Somebody who asks for nothing in particular."""

BUFFERED = Connection("", "buffered")
"""The envelope as such, whatever carries it."""


def envelope_for(
    turn: Turn,
    reader: Reader | None = None,
    *,
    connection: Connection = BUFFERED,
    who: str = "",
) -> JsonObject:
    """The envelope of a settled turn, with what was gathered by the turns that it goes on with: as whoever began it
    gets it (D59), or the originator with the key ``who``, unless a ``reader`` is named. Raises ``Conflict`` while the
    turn is still open."""
    made = assemble(
        _rows_of(turn),
        session_id=turn.session.public_id,
        turn_id=turn.public_id,
        reader=reader or _reader_of(turn, who),
        connection=connection,
        number=turn.number,
        actor=turn.actor,
    )
    # What is no part of the log: what a file holds.
    enclose(turn.session, [part for part in made["parts"] if encloses(_kind_of(part), connection)])
    return made


def partial_envelope_for(
    turn: Turn,
    reader: Reader | None = None,
    *,
    connection: Connection = BUFFERED,
    who: str = "",
) -> JsonObject:
    """What a turn that is not settled has said so far, the questions that it waits for among it: an envelope whose
    ``meta`` has no ``finalizedBy`` (D16). Arguments as for ``envelope_for``."""
    draft = _Draft(reader or _reader_of(turn, who), connection, is_partial=True, actor=turn.actor)
    at = turn.created_at
    for row in _rows_of(turn):
        at = row.at
        if row.kind == "settled" and row.turn != turn.number:
            draft.go_on(told=emits_envelope(row.data.get("turnState")))
        else:
            draft.add(row)
    meta = {"sessionId": turn.session.public_id, "turnId": turn.public_id, "producedAt": instant(at)}
    # It pauses at what a person is asked.
    parts = sorted(draft.parts(whole=True), key=_is_asked)
    return {"role": "agent", "parts": parts, "meta": meta}


def _is_asked(part: JsonObject) -> bool:
    return is_question(part_types[part["metadata"]["partType"]])


def _kind_of(part: JsonObject) -> PartType:
    return part_types[part["metadata"]["partType"]]


def _reader_of(turn: Turn, who: str) -> Reader:
    """The originator with the key ``who``, else the first."""
    asked = [each for each in turn.originators if each["principal"] == who] or turn.originators
    return Reader.of(asked[0]) if asked else PLAIN


def _rows_of(turn: Turn) -> Iterator[Row]:
    events = Event.objects.filter(
        session_id=turn.session_id,
        turn__in=[each.number for each in turn.lineage()],
        kind__in=["part", "tool-result", "settled"],
    ).order_by("seq")
    return (event.as_row() for event in events)


def assemble(
    rows: Iterable[Row],
    *,
    session_id: str,
    turn_id: str,
    reader: Reader = PLAIN,
    connection: Connection = BUFFERED,
    number: int = 0,
    actor: str = "",
) -> JsonObject:
    """``{role, parts, meta}`` from the rows of one turn, in order; with its ``number``, from rows of the turns that it
    goes on with too. Words of others than its ``actor``, who were asked in it, say in their metadata whose they are.

    Its first ``settled`` row ends it: what stands after that was late and is no part of the answer. What was found late
    for a turn before it is part of this one's, since no envelope has had it (D11). Raises ``Conflict`` when there is no
    such row. Types that nobody registered are skipped with a warning (D4).
    """
    draft = _Draft(reader, connection, actor=actor)
    for row in rows:
        whole = emits_envelope(row.data.get("turnState"))
        if row.kind == "settled" and number and row.turn != number:
            draft.go_on(told=whole)
        elif row.kind == "settled":
            return {
                "role": "agent",
                "parts": draft.parts(whole=whole),
                "meta": {
                    "sessionId": session_id,
                    "turnId": turn_id,
                    "producedAt": instant(row.at),
                    "finalizedBy": row.data.get("finalizedBy", "complete"),
                },
            }
        else:
            draft.add(row)
    raise Conflict("This turn is not settled yet, so there is no envelope.")


@dataclass
class _Draft:
    """Parts by the key under which later ones join them, in the order in which the first of each came."""

    reader: Reader
    connection: Connection
    is_partial: bool = False
    actor: str = ""
    _parts: dict[tuple[str, ...], JsonObject] = field(default_factory=dict)
    _surfaces: dict[str, JsonObject] = field(default_factory=dict)
    # By what data converges with: the key of the part that the next one joins, and what that says by now.
    _latest: dict[tuple[str, ...], tuple[tuple[str, ...], Update]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        if row.kind == "tool-result":
            self._add_result(row)
        elif row.kind == "part":
            self._add_part(row)

    def go_on(self, *, told: bool) -> None:
        """Another turn goes on with what was gathered. What was said to the person is in the envelope of its own, and
        so is all of it where it was ``told``."""
        self._parts = {
            key: part for key, part in self._parts.items() if not (told or is_said(part_types[key[0]]))
        }
        if told:
            self._surfaces, self._latest = {}, {}

    def parts(self, *, whole: bool) -> list[JsonObject]:
        """``whole`` is False where the turn's state builds no envelope: only what was said to the person is left."""
        found = [part for key, part in self._parts.items() if whole or is_said(part_types[key[0]])]
        found = _citations_after_data(found)
        # Data is put together from what rows hold, which nobody may change.
        return deepcopy([*found, *(self._surfaces.values() if whole else ())])

    def _gets(self, kind: PartType) -> bool:
        return gets(kind, self.connection, self.reader)

    # -- rows ---------------------------------------------------------------------------------------------------

    def _add_result(self, row: Row) -> None:
        """A tool that declares a ``dataKind`` gave data, once it has succeeded (D11). In logs of before that is no part
        of its own."""
        kind = row.data.get("dataKind")
        untold = kind and not row.data.get("shown") and row.data.get("state") == "succeeded"
        if untold and self._gets(part_types[DATA]):
            data = data_of_result(row.data.get("result"))
            self._add_data(row, {"data": data, "metadata": {"partType": DATA, "dataKind": kind}})

    def _add_part(self, row: Row) -> None:
        part = row.data.get("part")
        metadata = part.get("metadata") if isinstance(part, dict) else None
        name = metadata.get("partType") if isinstance(metadata, dict) else None
        kind = part_types.get(name)
        if kind is None or not isinstance(part, dict) or not isinstance(metadata, dict):
            logger.warning("Row %s holds a part of unknown type %r; it is skipped.", row.seq, name)
            return
        if kind.decides:
            self._answered((part.get("data") or {}).get("approvalId"))
        elif "replaces" in metadata and is_question(kind):
            self._answered(metadata["replaces"])
        # What is said late is said to nobody: the turn that goes on with it has its own words.
        unsaid = bool(row.data.get("late")) and is_said(kind)
        # A question by whatever means: it was asked when it came.
        asks = is_question(kind) or row.actor == RUNTIME
        told_before = asks and not self.is_partial
        if row.audience == "audit" or unsaid or told_before or not self._gets(kind):
            return
        if kind.name == DATA:
            self._add_data(row, part)
        elif kind.name == SURFACE:
            self._add_surface(row, part)
        elif kind.is_file:
            self._add_file(kind.name, part, metadata)
        else:
            self._join(row, kind.name, part, metadata)

    def _answered(self, approval_id: Json) -> None:
        """What a person has decided, or what is asked anew, is no question any more."""
        self._parts = {
            key: part
            for key, part in self._parts.items()
            if not (_is_asked(part) and part["data"].get("approvalId") == approval_id)
        }

    # -- joining ------------------------------------------------------------------------------------------------

    def _join(self, row: Row, name: str, part: JsonObject, metadata: JsonObject) -> None:
        """The same ``partId`` continues that part; none begins one (D8)."""
        part_id = metadata.get("partId")
        if self.actor and row.actor not in ("", self.actor, RUNTIME) and is_said(part_types[name]):
            part = {**part, "metadata": {**metadata, "actor": row.actor}}
        # A name is each actor's own.
        key = (name, "id", part_id, row.actor) if isinstance(part_id, str) else (name, "row", str(row.seq))
        known = self._parts.get(key)
        self._parts[key] = deepcopy(part if known is None else continued(known, part))

    def _add_data(self, row: Row, part: JsonObject) -> None:
        """Data for one slot converges: into one part, where one can say the same to whoever has merged what earlier
        turns have said. Data without a slot or a kind has nothing to converge with."""
        metadata = part["metadata"]
        update, key = update_of(part), key_of(metadata, 0)
        if update is None or key is None or key[0] == "id":
            self._join(row, DATA, part, metadata)
            return
        at, before = self._latest.get(key, ((), None))
        joined = before.then(update) if before is not None else None
        if joined is None and before is not None and key[0] == "kind":
            # Of the turn alone: whoever gets the envelope has nothing of it.
            joined = Update(update.of(before.data), update.strategy)
        if joined is None:
            at, joined = (DATA, *key, str(row.seq)), update
            self._parts[at] = {"metadata": {}}
        known = self._parts[at]
        text = part.get("text") or (known.get("text") if joined.strategy != "replace" else None)
        metadata = {**known["metadata"], **metadata}
        if "mergeStrategy" in metadata:
            metadata["mergeStrategy"] = joined.strategy
        said = {"text": text} if text else {}
        self._parts[at] = {**said, "data": joined.data, "metadata": metadata}
        self._latest[key] = (at, joined)

    def _add_file(self, name: str, part: JsonObject, metadata: JsonObject) -> None:
        """One part for each file, as it is in the end: how it came to that, no reader of it has to know."""
        known = self._parts.setdefault(
            (name, "file", str(part["data"].get("artifactId"))), {"metadata": {}, "data": {}}
        )
        whole = is_whole(part["data"])
        told = {key: value for key, value in part["data"].items() if key not in OF_A_WRITE}
        told |= {} if whole else {"lastChunk": False}
        known |= deepcopy({key: value for key, value in part.items() if key not in ("data", "metadata")})
        # What is to be seen on it is said once.
        alt = {"alt": known["data"]["alt"]} if "alt" in known["data"] else {}
        known["data"] = {**alt, **deepcopy(told)}
        known["metadata"] = {**known["metadata"], **deepcopy(metadata)}

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


def _citations_after_data(parts: list[JsonObject]) -> list[JsonObject]:
    """Citations stand behind the data that they are about (D12); with no data at all, where they came."""
    last = max((at for at, part in enumerate(parts) if part["metadata"]["partType"] == DATA), default=None)
    if last is None:
        return parts
    cited = [part for part in parts if part["metadata"]["partType"] == CITED]
    before = [part for part in parts[: last + 1] if part["metadata"]["partType"] != CITED]
    after = [part for part in parts[last + 1 :] if part["metadata"]["partType"] != CITED]
    return [*before, *cited, *after]
