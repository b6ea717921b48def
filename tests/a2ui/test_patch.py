from __future__ import annotations

import copy
import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui.data import pointer
from a2ui.data.patch import Touched
from a2ui.data.values import equal
from a2ui.errors import PatchError
from tests.a2ui.patchrunner import LIMITS, apply, check_case, check_record, community_suite
from tests.a2ui.strategies import FUZZ, JSON
from tests.shared import needs_shared, variants


def error_of(document, operations, limits=LIMITS):
    with pytest.raises(PatchError) as caught:
        apply(document, operations, limits)
    return caught.value


@needs_shared
class TestCommunitySuite:
    @pytest.mark.parametrize("record", community_suite())
    def test_record(self, record):
        check_record(record)


@needs_shared
class TestCases:
    @pytest.mark.parametrize(
        ("given_input", "expected"),
        [param for param in variants("json-patch") if param.values[0]["kind"] == "patch"],
    )
    def test_case(self, given_input, expected):
        check_case(given_input, expected)

    @pytest.mark.parametrize(
        ("given_input", "expected"),
        [param for param in variants("limits") if "lim-patch-copy-bomb" in str(param.id)],
    )
    def test_copy_bomb(self, given_input, expected):
        check_case(given_input, expected)


class TestErrors:
    @pytest.mark.parametrize(
        ("operations", "code", "index", "path"),
        [
            (
                [{"op": "add", "path": "/x", "value": 1}, {"op": "remove", "path": "/nope"}],
                "conflict",
                1,
                "/nope",
            ),
            ([{"op": "test", "path": "/a", "value": 2}], "test_failed", 0, "/a"),
            ([{"op": "add", "path": "x", "value": 1}], "invalid_patch", 0, "x"),
            ([{"op": "add", "path": "/a/b", "value": 1}], "conflict", 0, "/a/b"),
            ([{"op": "add", "path": "/x", "value": float("nan")}], "invalid_patch", 0, "/x"),
            ([{"op": "add", "path": "/__proto__", "value": 1}], "invalid_patch", 0, "/__proto__"),
            ([{"op": "move", "from": "/l", "path": "/l/0"}], "invalid_patch", 0, "/l/0"),
            ([{"op": "copy", "from": "/constructor", "path": "/x"}], "invalid_patch", 0, "/constructor"),
        ],
    )
    def test_names_operation_and_path(self, operations, code, index, path):
        error = error_of({"a": 1, "l": [0]}, operations)

        assert (error.code, error.index, error.path) == (code, index, path)

    def test_the_patch_as_a_whole_has_index_minus_one(self):
        assert error_of({}, {"op": "add"}).index == -1

    def test_depth_is_limited_for_values_and_for_moves(self):
        limits = dataclasses.replace(LIMITS, data_depth=5)
        deep = {"d": [[[1]]], "x": {"y": {}}}

        assert (
            error_of({}, [{"op": "add", "path": "/a", "value": [[[[[1]]]]]}], limits).code
            == "budget_exceeded"
        )
        assert (
            error_of(deep, [{"op": "move", "from": "/d", "path": "/x/y/d"}], limits).code == "budget_exceeded"
        )
        assert apply(deep, [{"op": "move", "from": "/d", "path": "/x/d"}], limits)[0] == {
            "x": {"y": {}, "d": [[[1]]]}
        }

    def test_a_very_deep_value_is_an_error_and_no_recursion(self):
        value: list = []
        for _ in range(100_000):
            value = [value]

        assert error_of({}, [{"op": "add", "path": "/a", "value": value}]).code == "budget_exceeded"
        assert error_of({"a": value}, [{"op": "test", "path": "/a", "value": [1]}]).code == "test_failed"


class TestTouched:
    @pytest.mark.parametrize(
        ("operations", "touched"),
        [
            ([{"op": "add", "path": "/n", "value": 1}], [Touched(("n",))]),
            ([{"op": "replace", "path": "/l/1", "value": 1}], [Touched(("l", "1"))]),
            ([{"op": "add", "path": "/l/-", "value": 1}], [Touched(("l", "3"), "insert")]),
            ([{"op": "add", "path": "/l/0", "value": 1}], [Touched(("l", "0"), "insert")]),
            ([{"op": "remove", "path": "/l/1"}], [Touched(("l", "1"), "remove")]),
            ([{"op": "remove", "path": "/o/k"}], [Touched(("o", "k"))]),
            (
                [{"op": "move", "from": "/l/0", "path": "/l/2"}],
                [Touched(("l", "0"), "remove"), Touched(("l", "2"), "insert")],
            ),
            ([{"op": "move", "from": "/l/0", "path": "/l/0"}], []),
            ([{"op": "test", "path": "/o/k", "value": 1}], []),
            ([{"op": "replace", "path": "", "value": {}}], [Touched(())]),
        ],
    )
    def test_tells_what_changed(self, operations, touched):
        assert apply({"l": [1, 2, 3], "o": {"k": 1}}, operations)[1] == touched


class TestSharing:
    def test_what_is_off_the_path_is_shared_and_what_is_on_it_is_copied(self):
        document = {"a": {"x": [1]}, "b": {"y": [2]}}

        result, _ = apply(document, [{"op": "add", "path": "/a/x/-", "value": 3}])

        assert result["b"] is document["b"]
        assert document["a"]["x"] == [1]

    def test_inserted_values_are_independent_of_the_operation(self):
        value = {"list": []}

        result, _ = apply({}, [{"op": "add", "path": "/v", "value": value}])
        value["list"].append(1)

        assert result == {"v": {"list": []}}

    def test_values_are_cleaned(self):
        result, _ = apply({}, [{"op": "add", "path": "/v", "value": {"__proto__": 1, "k\0": "\ud800"}}])

        assert result == {"v": {"k\ufffd": "\ufffd"}}


def model_apply(document, operation):
    """RFC 6902 done naively on a deep copy: the oracle."""
    holder = {"root": copy.deepcopy(document)}
    tokens = ("root", *pointer.parse_rfc6901(operation["path"]))
    parent = pointer.read(holder, tokens[:-1])
    last = tokens[-1]
    if isinstance(parent, list):
        index = len(parent) if last == "-" and operation["op"] == "add" else pointer.to_index(last)
        if index is None or index > len(parent) or (index == len(parent) and operation["op"] != "add"):
            raise LookupError
        if operation["op"] == "add":
            parent.insert(index, operation["value"])
        elif operation["op"] == "replace":
            parent[index] = operation["value"]
        else:
            del parent[index]
    elif isinstance(parent, dict):
        if operation["op"] != "add" and last not in parent:
            raise LookupError
        if operation["op"] == "remove":
            del parent[last]
        else:
            parent[last] = operation["value"]
    else:
        raise LookupError  # noqa: TRY004 - one signal for every conflict
    return holder["root"]


PATHS = st.lists(
    st.sampled_from(["a", "b", "items", "0", "1", "2", "-", "", "a/b"]), min_size=1, max_size=3
).map(pointer.format)
OPERATIONS = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "replace", "remove"]), "path": PATHS, "value": JSON}
)


class TestProperties:
    @settings(max_examples=50 * FUZZ)
    @given(JSON, st.lists(OPERATIONS, max_size=5))
    def test_agrees_with_a_naive_implementation(self, document, operations):
        before = copy.deepcopy(document)
        expected = copy.deepcopy(document)
        failed = False
        for operation in operations:
            try:
                expected = model_apply(expected, operation)
            except LookupError:
                failed = True
                break

        if failed:
            assert error_of(document, operations).code == "conflict"
        else:
            assert equal(apply(document, operations)[0], expected)
        assert equal(document, before)

    @given(JSON)
    def test_testing_a_document_against_itself_passes(self, document):
        result, touched = apply(document, [{"op": "test", "path": "", "value": copy.deepcopy(document)}])

        assert result is document
        assert touched == []

    @given(st.lists(st.integers(), min_size=1, max_size=8), st.data())
    def test_a_move_inside_a_list_is_a_remove_and_an_insert(self, items, data):
        source = data.draw(st.integers(0, len(items) - 1))
        target = data.draw(st.integers(0, len(items) - 1))
        expected = list(items)
        expected.insert(target, expected.pop(source))

        assert apply({"l": items}, [{"op": "move", "from": f"/l/{source}", "path": f"/l/{target}"}])[0] == {
            "l": expected
        }
