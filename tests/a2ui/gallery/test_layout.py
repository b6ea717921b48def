"""JSON as lines: readable, the same value, and every line knows its place."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from a2ui.data.pointer import parse, read
from a2ui.gallery.layout import lines, written

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=30,
)


@given(JSON, st.integers(10, 100))
def test_what_is_written_reads_back_as_the_same(value, width):
    assert json.loads(written(value, width=width)) == value


def test_what_fits_stands_on_one_line_and_what_does_not_is_opened():
    value = {"id": "a", "children": ["b", "c"], "long": ["word" * 10, "word" * 10]}

    assert written(value, width=40).splitlines() == [
        "{",
        '  "id": "a",',
        '  "children": ["b", "c"],',
        '  "long": [',
        f'    "{"word" * 10}",',
        f'    "{"word" * 10}"',
        "  ]",
        "}",
    ]


def test_every_line_knows_the_place_that_it_shows():
    value = {"a/b": [{"x" * 30: 1, "y" * 30: 2}], "plain": list(range(100))}

    for line in lines(value, width=40):
        for pointer in line.pointers():
            assert read(value, parse(pointer)) is not None
    numbers = [
        pointer for line in lines(value, width=40) for pointer in line.pointers() if "plain/" in pointer
    ]
    assert numbers == [f"/plain/{at}" for at in range(100)]


def test_what_cannot_be_seen_shows_as_its_code():
    assert written("pay \u202egro.elpmaxe\u202c\u200b") == '"pay \\u202egro.elpmaxe\\u202c\\u200b"'
    assert written("🏖 é ع") == '"🏖 é ع"'
    assert json.loads(written("\U000e0041")) == "\U000e0041"


def test_however_deep_it_is_it_ends():
    value: list[object] = []
    for _ in range(5_000):
        value = [value]

    assert "nested too deeply" in written(value)
