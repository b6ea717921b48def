"""Whether what a citation points to is there: in the data of its turn (D10).

The data of a turn are its domain-data parts, results of tools that give data among them, with those of the turns that
it goes on with and of whoever asks or is asked within it; what is for one slot has come together, as on the page: with
what earlier turns have said for it, where this one adds to that. A
citation that names a slot or a kind means the data of it; one that names none means the last data that have a value
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from envelopes.log.append import Writer
from envelopes.models import Event, Turn
from envelopes.part_types.citation import CITATION, Cited, cited
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol import pointers
from envelopes.protocol.merging import strategy_of
from envelopes.protocol.parts import Part
from envelopes.protocol.slots import Key, data_of_result, key_of, slot_of, update_of
from envelopes.types import Json, JsonObject

NO_DATA = "NO_DATA_AT_PATH"
NO_SOURCE = "NO_SOURCE"


def unbound(writer: Writer, turn: Turn, parts: Sequence[Part]) -> dict[int, tuple[str, str]]:
    """Of ``parts``, by number, the citations that are not what they should be: a code and a sentence. They are shown
    all the same, as sources of the turn. Asks the database only where there is a citation."""
    found = {number: cited(part.as_json()) for number, part in enumerate(parts) if is_citation(part)}
    if not found:
        return {}
    before, now = list(_before(writer, turn)), list(_among(parts))
    earlier = _of_earlier_turns(writer, turn, [*(part for _, part in before), *now])
    data = _gathered([*(part for _, part in sorted([*earlier, *before], key=itemgetter(0))), *now])
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
    # Two slots may have one kind: of what is named, the last data are meant.
    looked = meant[-1:] if said.slot else meant
    if any(pointers.at(value, steps) is not pointers.NOTHING for value in looked):
        return None
    where = said.slot or "this turn"
    return NO_DATA, f"There is nothing at {said.path!r} in the {DOMAIN_DATA.name} of {where} so far."


def _gathered(parts: Iterable[JsonObject]) -> list[tuple[str, Json]]:
    """What each slot holds after these parts of data, what has changed last at the end."""
    found: dict[Key, tuple[str, Json]] = {}
    for number, part in enumerate(parts):
        metadata = part.get("metadata") or {}
        key, update = key_of(metadata, 0) or ("part", str(number)), update_of(part)
        _, before = found.pop(key, ("", None))
        value = (
            part.get("data") if update is None else update.of(before if isinstance(before, dict) else None)
        )
        found[key] = slot_of(metadata), value
    return list(found.values())


def _among(parts: Sequence[Part]) -> Iterator[JsonObject]:
    return (part.as_json() for part in parts if part.part_type == DOMAIN_DATA.name)


def _of_earlier_turns(
    writer: Writer, turn: Turn, parts: Iterable[JsonObject]
) -> Iterator[tuple[int, JsonObject]]:
    """What other turns have said for the slots that ``parts`` add to: a slot key is the same thing in all of them.
    With the numbers of their rows."""
    metadata = [part.get("metadata") or {} for part in parts]
    keys = {each["slotKey"] for each in metadata if each.get("slotKey") and _adds(each)}
    if not keys:
        return
    rows = Event.objects.filter(
        session_id=writer.session.pk,
        kind="part",
        part_type=DOMAIN_DATA.name,
        data__part__metadata__slotKey__in=sorted(keys),
    ).exclude(turn__in=[each.number for each in turn.home.lineage()])
    for seq, row in rows.order_by("seq").values_list("seq", "data"):
        yield seq, row["part"]


def _adds(metadata: JsonObject) -> bool:
    return strategy_of(metadata.get("mergeStrategy")) != "replace"


def _before(writer: Writer, turn: Turn) -> Iterator[tuple[int, JsonObject]]:
    """What was said in ``turn`` so far, with the numbers of its rows."""
    rows = Event.objects.filter(
        session_id=writer.session.pk,
        turn__in=[each.number for each in turn.home.lineage()],
        kind__in=["part", "tool-result"],
        part_type__in=[DOMAIN_DATA.name, ""],
    ).order_by("seq")
    for seq, kind, row in rows.values_list("seq", "kind", "data"):
        if kind == "part":
            yield seq, row["part"]
        elif row.get("dataKind") and not row.get("shown") and row.get("state") == "succeeded":
            # In logs of before that is no part of its own.
            yield (
                seq,
                {"data": data_of_result(row.get("result")), "metadata": {"dataKind": row["dataKind"]}},
            )
