"""What had to be repaired goes to followers as the smallest patch that says it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from envelopes.transports.documents.formats.difference import difference
from envelopes.transports.documents.formats.patches import apply
from tests.envelopes.transports.live.surfaces.material import MODELS, VALUES

LONG = "a text that is longer than what an operation takes " * 4
ROW = {"id": "r", "text": LONG}
ROWS: list[tuple[Any, Any, list[tuple[Any, ...]]]] = [
    ({"a": LONG, "n": 1}, {"a": LONG, "n": "1"}, [("replace", "/n", "1")]),
    ({"a": LONG, "n": 1}, {"a": LONG, "n": True}, [("replace", "/n", True)]),
    ({"a": LONG, "n": 1}, {"a": LONG}, [("remove", "/n")]),
    ({"a": LONG}, {"a": LONG, "n": None}, [("add", "/n", None)]),
    ({"l": [ROW, ROW]}, {"l": [ROW, ROW, 3]}, [("add", "/l/2", 3)]),
    ({"l": [ROW, 2, 3]}, {"l": [ROW, 3]}, [("remove", "/l/1")]),
    ({"l": [1, ROW]}, {"l": [0, 1, ROW]}, [("add", "/l/0", 0)]),
    ({"l": [1, ROW]}, {"l": [2, ROW]}, [("replace", "/l/0", 2)]),
    ({"a/b": {"~": 1, "x": LONG}}, {"a/b": {"~": 2, "x": LONG}}, [("replace", "/a~1b/~0", 2)]),
    ({"a": 1}, {"b": 2}, [("replace", "", {"b": 2})]),
    ({"n" * 600: 1, "b": LONG}, {"n" * 600: 2, "b": LONG}, [("replace", "", {"n" * 600: 2, "b": LONG})]),
    ({"a": 1}, {"a": 1}, [("replace", "", {"a": 1})]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "expected"), ROWS)
def test_what_it_says(before: Any, after: Any, expected: list[tuple[Any, ...]]) -> None:
    assert [tuple(one.values()) for one in difference(before, after).ops] == expected
    made = apply(before, difference(before, after))
    assert made == after and _kinds(made) == _kinds(after)


@settings(
    max_examples=50,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(MODELS, st.data())
def test_whoever_applies_it_has_the_other_document_to_the_letter(before: Any, data: st.DataObject) -> None:
    after = {**before, **data.draw(MODELS)}
    for name in data.draw(st.lists(st.sampled_from(sorted(before)), max_size=2)):
        after[name] = data.draw(VALUES)
    made = apply(before, difference(before, after))
    assert made == after and _kinds(made) == _kinds(after)


def _kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _kinds(inner) for name, inner in value.items()}
    return [_kinds(inner) for inner in value] if isinstance(value, list) else type(value)
