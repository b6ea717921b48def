"""Data converges: whoever follows a stream and folds it has what envelopes say, over turns and handovers, however the
two are mixed (protocol document, "Slot keys and merge strategy"; D11)."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envelopes.delivery.envelope import assemble
from envelopes.protocol.merging import STRATEGIES
from envelopes.protocol.rows import Row
from envelopes.protocol.slots import Key, key_of, update_of
from envelopes.types import Json, JsonObject

AT = datetime(2026, 5, 1, 10, tzinfo=UTC)

metadata = st.fixed_dictionaries(
    {"partType": st.just("domain-data")},
    optional={
        "dataKind": st.sampled_from(["flights", "sights"]),
        "slotKey": st.sampled_from(["rome", "pisa"]),
        # Without one: rows of before.
        "mergeStrategy": st.sampled_from(STRATEGIES),
    },
).filter(lambda given: "dataKind" in given or "slotKey" in given)
# Few values, so that one often becomes something else and is then added to.
values: st.SearchStrategy[Json] = st.sampled_from([None, [1], [2], {"x": 1}, {"x": {"y": 2}}, {"x": [3]}])
objects = st.dictionaries(st.sampled_from("ab"), values, max_size=2)
parts = st.fixed_dictionaries({"data": objects, "metadata": metadata})
turns = st.lists(st.tuples(st.lists(parts, max_size=4), st.booleans()), min_size=1, max_size=5)
"""Of each turn its data, and whether it is passed on."""

State = dict[Key, JsonObject]


class Session:
    """The rows of a session, turn by turn."""

    def __init__(self, said: list[tuple[list[JsonObject], bool]]) -> None:
        self.lines: list[tuple[list[int], list[Row]]] = []
        """Of each envelope, the turns that it is about and their rows."""
        seq, line, rows = 0, list[int](), list[Row]()
        for number, (data, passed) in enumerate(said, start=1):
            line.append(number)
            for part in data:
                seq += 1
                rows.append(_row(seq, "part", number, {"part": part, "turnState": "awaiting"}))
            on = passed and number < len(said)
            seq += 1
            end = {"turnState": "passed" if on else "complete", "finalizedBy": "passed" if on else "complete"}
            rows.append(_row(seq, "settled", number, end))
            if not on:
                self.lines.append((line, rows))
                line, rows = [], []


def _row(seq: int, kind: str, turn: int, data: JsonObject) -> Row:
    return Row(seq, kind, AT, data, "domain-data" if kind == "part" else "", "sally", turn)


def take(state: State, parts: list[Any], first: int) -> None:
    """What a reader does who knows nothing but the metadata of a part."""
    for part in parts:
        key, update = key_of(part["metadata"], first), update_of(part)
        assert key is not None and update is not None
        state[key] = update.of(state.get(key))


def envelope(line: list[int], rows: list[Row]) -> list[Any]:
    found: list[Any] = assemble(rows, session_id="s", turn_id="t", number=line[-1])["parts"]
    return found


@given(turns, st.data())
def test_a_stream_that_is_folded_is_what_envelopes_say_in_any_grouping(
    said: list[tuple[list[JsonObject], bool]], data: st.DataObject
) -> None:
    followed: State = {}
    mixed: State = {}
    for line, rows in Session(said).lines:
        streamed = [row.data["part"] for row in rows if row.kind == "part"]
        whole = envelope(line, rows)
        take(followed, streamed, line[0])
        take(mixed, whole if data.draw(st.booleans()) else streamed, line[0])

        assert mixed == followed
        # What the envelope says of a kind is all of it, in one part; of a slot, what this turn has brought.
        kinds = {
            part["metadata"]["dataKind"]: part["data"] for part in whole if "slotKey" not in part["metadata"]
        }
        assert kinds == {
            key[2]: value for key, value in followed.items() if key[:2] == ("kind", str(line[0]))
        }
        assert len(kinds) == sum("slotKey" not in part["metadata"] for part in whole)


keeps = st.sampled_from(STRATEGIES)


@given(st.lists(st.lists(st.dictionaries(st.sampled_from("ab"), st.lists(st.integers(0, 9)), max_size=2), max_size=4)),
       keeps)  # fmt: skip
def test_data_that_keeps_its_shape_is_one_part_a_slot(values: list[list[JsonObject]], strategy: str) -> None:
    said = [
        ([{"data": value, "metadata": {"partType": "domain-data", "slotKey": "s", "mergeStrategy": strategy}}
          for value in turn], False)
        for turn in values
    ]  # fmt: skip
    for line, rows in Session(said).lines:
        assert len(envelope(line, rows)) == min(1, len(rows) - 1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_so_it_is_wherever_a_value_changes_its_shape(strategy: str) -> None:
    """All ways in which one value, known from an earlier turn, changes twice within the next."""
    shapes: list[Json] = [None, [1], {"x": 1}, {"x": {"y": 2}}, {"x": [3]}]
    metadata = {"partType": "domain-data", "slotKey": "s", "mergeStrategy": strategy}
    for known, *later in product(shapes, repeat=3):
        turns = [[known], later]
        followed: State = {}
        asked: State = {}
        said = [([{"data": {"a": value}, "metadata": metadata} for value in turn], False) for turn in turns]
        for line, rows in Session(said).lines:
            take(followed, [row.data["part"] for row in rows if row.kind == "part"], line[0])
            take(asked, envelope(line, rows), line[0])
        assert asked == followed, (known, later)
