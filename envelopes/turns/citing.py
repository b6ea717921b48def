"""Whether what a citation points to is there: in the data of its turn (D10).

The data of a turn are its domain-data parts, results of tools that give data among them, with those of the turns that
it goes on with. A citation that names a slot or a kind means the last data of it; one that names none means the last
data that have a value there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from envelopes.log.append import Writer
from envelopes.models import Event, Turn
from envelopes.part_types.citation import CITATION, Cited, cited
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol import pointers
from envelopes.protocol.parts import Part
from envelopes.types import Json

NO_DATA = "NO_DATA_AT_PATH"
NO_SOURCE = "NO_SOURCE"


def unbound(writer: Writer, turn: Turn, parts: Sequence[Part]) -> dict[int, tuple[str, str]]:
    """Of ``parts``, by number, the citations that are not what they should be: a code and a sentence. They are shown
    all the same, as sources of the turn. Asks the database only where there is a citation."""
    found = {number: cited(part.as_json()) for number, part in enumerate(parts) if is_citation(part)}
    if not found:
        return {}
    data = [*_before(writer, turn), *_among(parts)]
    told = {number: _wrong(said, data) for number, said in found.items()}
    return {number: wrong for number, wrong in told.items() if wrong is not None}


def is_citation(part: Part) -> bool:
    """Whether more has to be known of it: what it points to."""
    return part.part_type == CITATION.name


def _wrong(said: Cited, data: Sequence[tuple[str, Json]]) -> tuple[str, str] | None:
    if not (said.source or said.quote):
        return NO_SOURCE, "It has no title, no url and no quote: there is nothing to show of it."
    steps = pointers.tokens(said.path) if said.path is not None else None
    if steps is None:
        return (
            NO_DATA,
            f"path has to be a JSON Pointer into {DOMAIN_DATA.name} of this turn, such as /flights/0/price.",
        )
    meant = [value for slot, value in data if not said.slot or slot == said.slot]
    # Of a slot that is named, the last data are what stands there.
    looked = meant[-1:] if said.slot else meant
    if any(pointers.at(value, steps) is not pointers.NOTHING for value in looked):
        return None
    where = said.slot or "this turn"
    return NO_DATA, f"There is nothing at {said.path!r} in the {DOMAIN_DATA.name} of {where} so far."


def _among(parts: Sequence[Part]) -> Iterator[tuple[str, Json]]:
    for part in parts:
        if part.part_type == DOMAIN_DATA.name:
            yield part.metadata.slotKey or part.metadata.dataKind or "", part.data


def _before(writer: Writer, turn: Turn) -> Iterator[tuple[str, Json]]:
    rows = Event.objects.filter(
        session_id=writer.session.pk,
        turn__in=[each.number for each in turn.lineage()],
        kind__in=["part", "tool-result"],
        part_type__in=[DOMAIN_DATA.name, ""],
    ).order_by("seq")
    for kind, row in rows.values_list("kind", "data"):
        if kind == "part":
            yield slot_of(row["part"].get("metadata") or {}), row["part"].get("data")
        elif row.get("dataKind") and row.get("state") == "succeeded":
            result = row.get("result")
            yield row["dataKind"], result if isinstance(result, dict) else {"result": result}


def slot_of(metadata: Mapping[str, Json]) -> str:
    """What data are about (D11); empty where they do not say."""
    return str(metadata.get("slotKey") or metadata.get("dataKind") or "")
