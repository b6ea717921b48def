"""How data for one slot comes together, and when one part can say what several say."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envelopes.protocol.merging import STRATEGIES, Strategy, Update, merged, strategy_of
from envelopes.types import Json, JsonObject

trees: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.integers(0, 9) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
objects: st.SearchStrategy[JsonObject] = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)
updates = st.builds(Update, objects, st.sampled_from(STRATEGIES))


def test_merge_strategies() -> None:
    old, new = {"a": {"x": 1, "l": [1]}, "l": [1], "k": 1}, {"a": {"y": 2, "l": [2]}, "l": [2]}

    assert merged(old, new, "replace") == new
    assert merged(old, new, "append") == {"a": {"y": 2, "l": [2]}, "l": [1, 2], "k": 1}
    assert merged(old, new, "deep-merge") == {"a": {"x": 1, "y": 2, "l": [2]}, "l": [2], "k": 1}


@given(objects, objects, st.sampled_from(STRATEGIES))
def test_merging_changes_neither(old: JsonObject, new: JsonObject, strategy: Strategy) -> None:
    before = deepcopy((old, new))

    merged(old, new, strategy)

    assert (old, new) == before


@given(objects, objects)
def test_deep_merging_again_changes_nothing(a: JsonObject, b: JsonObject) -> None:
    once = merged(a, b, "deep-merge")

    assert merged(once, b, "deep-merge") == once
    assert merged({}, b, "deep-merge") == b
    assert merged(a, {}, "deep-merge") == a


@given(objects | st.none(), updates, updates)
def test_one_update_for_two_does_what_both_do_whatever_is_there(
    old: JsonObject | None, first: Update, later: Update
) -> None:
    both = first.then(later)

    if both is not None:
        assert both.of(old) == later.of(first.of(old))


@given(objects, objects)
def test_data_that_keeps_its_shape_is_always_told_as_one_part(first: JsonObject, later: JsonObject) -> None:
    first, later = _shaped(first), _shaped(later)

    assert Update(first, "append").then(Update(later, "append")) is not None
    assert Update({"a": first}, "deep-merge").then(Update({"a": later}, "deep-merge")) is not None


def _shaped(data: JsonObject) -> JsonObject:
    return {key: value if isinstance(value, list) else [value] for key, value in data.items()}


@pytest.mark.parametrize(
    ("first", "later", "strategy"),
    [
        ({"l": None}, {"l": [1]}, "append"),
        ({"a": 1}, {"a": {"x": 1}}, "deep-merge"),
        ({"a": {"b": []}}, {"a": {"b": {}}}, "deep-merge"),
    ],
)
def test_what_is_replaced_and_then_added_to_takes_two(
    first: JsonObject, later: JsonObject, strategy: Strategy
) -> None:
    assert Update(first, strategy).then(Update(later, strategy)) is None


def test_two_ways_of_adding_take_two_parts_but_a_replacement_ends_what_was() -> None:
    added, merged_in, anew = (
        Update({"l": [1]}, "append"),
        Update({"l": [2]}, "deep-merge"),
        Update({"l": [3]}),
    )

    assert added.then(merged_in) is None
    assert added.then(anew) == anew
    assert anew.then(added) == Update({"l": [3, 1]}, "replace")


@pytest.mark.parametrize("value", [None, "", "overwrite", 7, ["append"]])
def test_a_strategy_that_nobody_knows_replaces(value: Json) -> None:
    assert strategy_of(value) == "replace"
