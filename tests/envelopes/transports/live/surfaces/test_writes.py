"""From one data model to another in as few bytes as messages allow (D31)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from a2ui import PatchError
from envelopes.transports.live.surfaces import Version, writes
from tests.envelopes.transports.live.surfaces.material import (
    MODELS,
    VALUES,
    exactly,
    model_of,
    patches,
    reader_of,
    reader_with,
    replacing,
    size_of,
    surfaces_with,
)

SOME = settings(
    max_examples=30,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def said(before: Any, after: Any, version: Version = "0.9") -> list[tuple[Any, ...]]:
    """Path and value of each write; a path alone removes."""
    bodies = [message["updateDataModel"] for message in writes("s", before, after, version)]
    return [(body["path"], body["value"]) if "value" in body else (body["path"],) for body in bodies]


LONG = "a text that is longer than what surrounds a message " * 4
ROW = {"id": 1, "title": LONG, "done": False}

ROWS: list[tuple[str, Any, Any, list[tuple[Any, ...]]]] = [
    ("nothing", {"a": [1, {"b": 2}]}, {"a": [1.0, {"b": 2}]}, []),
    ("a member", {"a": 1, "b": LONG}, {"a": 2, "b": LONG}, [("/a", 2)]),
    ("true is not 1", {"a": 1, "b": LONG}, {"a": True, "b": LONG}, [("/a", True)]),
    ("a new member", {"b": LONG}, {"b": LONG, "c": 3}, [("/c", 3)]),
    ("one that goes", {"b": LONG, "c": 3}, {"b": LONG}, [("/c",)]),
    ("null is a value", {"b": LONG, "c": 3}, {"b": LONG, "c": None}, [("/c", None)]),
    ("an item in place", {"l": [ROW, ROW]}, {"l": [ROW, {**ROW, "done": True}]}, [("/l/1/done", True)]),
    ("an item more", {"l": [ROW]}, {"l": [ROW, {"id": 2}]}, [("/l/1", {"id": 2})]),
    ("an item less", {"l": [1, 2, 3], "b": LONG}, {"l": [1, 3], "b": LONG}, [("/l", [1, 3])]),
    ("items that change places", {"l": [1, 2], "b": LONG}, {"l": [2, 1], "b": LONG}, [("/l", [2, 1])]),
    ("the list beside others", {"x": {"l": [1, 2], "b": LONG}}, {"x": {"l": [2], "b": LONG}}, [("/x/l", [2])]),
    ("escapes", {"a/b": {"~": 1, "x": LONG}}, {"a/b": {"~": 2, "x": LONG}}, [("/a~1b/~0", 2)]),
    ("an empty name is no segment", {"a": {"": 1, "x": 5}, "b": LONG}, {"a": {"": 2, "x": 5}, "b": LONG}, [
        ("/a", {"": 2, "x": 5})]),
    ("small containers are replaced", {"a": {"x": 1, "y": 2}, "b": LONG}, {"a": {"x": 3, "y": 4}, "b": LONG}, [
        ("/a", {"x": 3, "y": 4})]),
    ("large ones are not", {"a": {"x": 1, "y": 2, "z": LONG * 2}}, {"a": {"x": 3, "y": 4, "z": LONG * 2}}, [
        ("/a/x", 3), ("/a/y", 4)]),
    ("another kind of value", {"a": [1], "b": LONG}, {"a": {"0": 1}, "b": LONG}, [("/a", {"0": 1})]),
    ("the whole model", {"a": 1}, {"b": 2}, [("/", {"b": 2})]),
    ("a model that is a list", [ROW, 2], [ROW, 3], [("/1", 3)]),
    ("a model that is a text", {"a": 1}, "text", [("/", "text")]),
    ("a model that is null", {"a": 1}, None, [("/", None)]),
    ("numbers of any length", {"a": 1, "b": LONG}, {"a": 2**70, "b": LONG}, [("/a", 2**70)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_is_written(before: Any, after: Any, expected: list[tuple[Any, ...]]) -> None:
    assert said(before, after) == expected
    messages = writes("s", before, after, "0.9")
    assert {message["version"] for message in messages} <= {"v0.9"}
    assert exactly(model_of(reader_of(messages, reader_with(before)))) == exactly(after)


IN_1_0: list[tuple[str, Any, Any, list[tuple[Any, ...]]]] = [
    ("null removes", {"b": LONG, "c": 3}, {"b": LONG}, [("/c", None)]),
    ("so null is said by what holds it", {"x": {"c": 3}, "b": LONG}, {"x": {"c": None}, "b": LONG}, [
        ("/x", {"c": None})]),
    ("at the top too", {"b": LONG, "c": 3}, {"b": LONG, "c": None}, [("/", {"b": LONG, "c": None})]),
    ("null takes the place of an item", {"l": [1, LONG]}, {"l": [None, LONG]}, [("/l/0", None)]),
    ("and appends none", {"l": [LONG]}, {"l": [LONG, None]}, [("/l", [LONG, None])]),
    ("a whole model that is null is an empty one", {"a": 1}, None, [("/", {})]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "expected"), [row[1:] for row in IN_1_0], ids=[row[0] for row in IN_1_0]
)
def test_what_is_written_in_1_0(before: Any, after: Any, expected: list[tuple[Any, ...]]) -> None:
    assert said(before, after, "1.0") == expected
    read = reader_of(writes("s", before, after, "1.0"), reader_with(before, "1.0"))
    assert exactly(model_of(read)) == exactly({} if after is None else after)


def test_many_writes_are_one() -> None:
    before = {"l": [{"id": n, "text": LONG, "n": 0} for n in range(300)], "b": LONG}
    after = {**before, "l": [{**row, "n": 1} for row in before["l"]]}

    assert [path for path, *_ in said(before, after)] == ["/l"]


def test_what_did_not_change_is_not_looked_at() -> None:
    class Untouchable(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("looked at")

        __iter__ = keys = values = items

    same = Untouchable({"a": 1})

    assert said({"big": same, "x": 1, "l": [same, 1, LONG]}, {"big": same, "x": 2, "l": [same, 2, LONG]}) == [
        ("/x", 2),
        ("/l/1", 2),
    ]


@pytest.mark.parametrize("version", ["0.9", "1.0"])
def test_any_patch_gives_the_reader_the_same_model(version: Version) -> None:
    """People and agents patch ours; a reader elsewhere has the same after each, in no more bytes than replacing."""

    @SOME
    @given(st.data())
    def check(data: st.DataObject) -> None:
        patched(data, version)

    check()


def patched(data: st.DataObject, version: Version) -> None:
    made_in = "1.0" if version == "1.0" else "v0.9"
    ours = surfaces_with(data.draw(MODELS), made_in)
    read = reader_with(model_of(ours, "agent"), made_in)
    for _ in range(3):
        before = model_of(ours, "agent")
        try:
            ours.patch("agent", "s", data.draw(patches(before)))
        except PatchError:
            continue
        ours.skip()
        after = model_of(ours, "agent")
        if version == "1.0" and after is None:
            return
        messages = writes("s", before, after, version)
        reader_of(messages, read)
        assert exactly(model_of(read)) == exactly(after)
        if not (version == "1.0" and _holds_null(after)):
            assert size_of(messages) <= size_of([replacing(before, after, version)])


def _holds_null(value: Any) -> bool:
    """A replaced value that is null itself removes in 1.0, so the nearest container may be no message at all."""
    return value is None or (
        isinstance(value, dict | list)
        and any(map(_holds_null, value.values() if isinstance(value, dict) else value))
    )


@SOME
@given(MODELS, MODELS | VALUES, st.sampled_from(["0.9", "1.0"]))
def test_any_model_becomes_any_other(before: Any, after: Any, version: Version) -> None:
    read = reader_with(before, "1.0" if version == "1.0" else "v0.9")
    reader_of(writes("s", before, after, version), read)

    assert exactly(model_of(read)) == exactly({} if after is None and version == "1.0" else after)
