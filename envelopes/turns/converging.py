"""The end of a turn: data that came in pieces, whole, for those who followed (envelope document, "Assembly and
delivery"; D11).

Readers merge what has a slot key, so they have the whole of that: nothing is added. Data that has only a kind is the
same thing within one turn alone, and no key tells a reader so; where it was not simply replaced, the last piece is not
the whole, and the whole is sent once more.
"""

from __future__ import annotations

from collections.abc import Iterator

from envelopes.log.append import Writer
from envelopes.models import Event, Turn
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.merging import Update
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.slots import Key, key_of, update_of
from envelopes.registries.actors import actors
from envelopes.registries.turn_states import emits_envelope
from envelopes.types import JsonObject


def merged_parts(writer: Writer, turn: Turn) -> list[Part]:
    """What ``turn``, which is about to settle with an envelope, has gathered by kind and never sent as a whole: to
    replace what was sent. Asks the database only where an actor's data may come in pieces."""
    # What an actor that was asked has gathered stands with what its asker has.
    turns = [turn.home]
    for earlier in reversed(turn.home.lineage()[:-1]):
        if emits_envelope(earlier.turn_state):
            break
        turns.append(earlier)
    if not any(_comes_in_pieces(each.actor) for each in (*turns, *turn.lineage())):
        return []
    writer.flush()
    whole: dict[Key, JsonObject] = {}
    last: dict[Key, Update] = {}
    for key, update in _gathered(writer, turns):
        whole[key] = update.of(whole.get(key))
        last[key] = update
    return [
        Part(
            data=data, metadata=Metadata(partType=DOMAIN_DATA.name, dataKind=key[-1], mergeStrategy="replace")
        )
        for key, data in whole.items()
        if data != last[key].data
    ]


def _comes_in_pieces(name: str) -> bool:
    actor = actors.get(name)
    return actor is not None and any(slot.strategy != "replace" and not slot.key for slot in actor.slots)


def _gathered(writer: Writer, turns: list[Turn]) -> Iterator[tuple[Key, Update]]:
    rows = Event.objects.filter(
        session=writer.session,
        kind="part",
        part_type=DOMAIN_DATA.name,
        turn__in=[turn.number for turn in turns],
        # By the index on numbers of rows, none is on turns.
        seq__gte=min(turn.trigger_seq for turn in turns),
    )
    for data in rows.order_by("seq").values_list("data", flat=True):
        key, update = key_of(data["part"]["metadata"], 0), update_of(data["part"])
        if key is not None and key[0] == "kind" and update is not None:
            yield key, update
