"""The incremental scanner against json.loads, at every way to cut a text."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelopes.protocol.json_scan import JsonProblem, JsonScanner, Path, Silent
from tests.shared import case, needs_shared

pieces = st.sampled_from(
    [
        *'{}[],:"\\-01x \n\t\x01é\U0001f600\ud83d',
        "\\u",
        "\\ud83d",
        "\\ude00",
        "\\u0000",
        '"a"',
        '"b":',
        "1.5e3",
        "1e999",
        "true",
        "nul",
        "null",
        "NaN",
        "Infinity",
    ]
)


class Builder:
    """Puts together again what the scanner tells."""

    def __init__(self) -> None:
        self.value: Any = None
        self.strings: dict[tuple[str | int, ...], str] = {}

    def _put(self, path: Path, value: Any) -> None:
        if not path:
            self.value = value
            return
        container = self.value
        for step in path[:-1]:
            container = container[step]
        if isinstance(container, list):
            assert path[-1] == len(container), "items come in order"
            container.append(value)
        else:
            container[path[-1]] = value

    def opened(self, path: Path, container: Literal["object", "array"]) -> None:
        self._put(path, {} if container == "object" else [])

    def closed(self, path: Path) -> None:
        pass

    def string_grew(self, path: Path, text: str) -> None:
        assert text
        self.strings[tuple(path)] = self.strings.get(tuple(path), "") + text

    def string_ended(self, path: Path) -> None:
        self._put(path, self.strings.get(tuple(path), ""))

    def scalar(self, path: Path, value: Any) -> None:
        self._put(path, json.loads(value) if isinstance(value, str) else value)


def scan(fragments: list[str], *, max_depth: int = 100) -> tuple[Any, JsonProblem | None]:
    builder = Builder()
    scanner = JsonScanner(builder, max_depth=max_depth)
    for fragment in fragments:
        scanner.feed(fragment)
    problem = scanner.finish()
    return builder.value, problem


def loads(text: str) -> Any:
    """The oracle: json.loads without constants, overflow and duplicate keys."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(found)) == len(found)
        return dict(found)

    def constant(name: str) -> None:
        raise AssertionError(name)

    def number(text: str) -> float:
        assert abs(float(text)) != float("inf")
        return float(text)

    return json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=number)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@settings(deadline=None)
@given(json_values, st.booleans(), st.data())
def test_every_value_comes_out_however_it_is_cut(value: Any, ascii_only: bool, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    fragments = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    assert scan(fragments) == (value, None)


@settings(deadline=None)
@given(st.lists(pieces, max_size=12).map("".join))
def test_it_accepts_what_json_loads_accepts(text: str) -> None:
    try:
        expected = (True, loads(text))
    except (ValueError, AssertionError):
        expected = (False, None)

    value, problem = scan(list(text))

    assert (problem is None, value if problem is None else None) == expected
    assert scan([text])[1] == problem


@pytest.mark.parametrize("ascii_only", [True, False])
def test_every_split_of_an_awkward_text(ascii_only: bool) -> None:
    value = {
        "a\u00e9": ['\U0001f600\ud83d \\u0000 " \x00\x1f/\n', -1.5e-3, 10, {}, [], [[]], {"": None}],
        "t": True,
    }
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)

    for cut in range(len(text) + 1):
        assert scan([text[:cut], text[cut:]]) == (value, None)
    assert scan(list(text)) == (value, None)


@pytest.mark.parametrize(
    ("text", "reason", "path"),
    [
        ("", "truncated", ()),
        ('{"a": [1, {"b": "c', "truncated", ("a", 1, "b")),
        ('{"a": tru', "malformed", ("a",)),
        ('{"a": 1} x', "malformed", ()),
        ('{"a": 1}{', "malformed", ()),
        ('{"a": 01}', "malformed", ("a",)),
        ('{"a": 1,}', "malformed", ("a",)),
        ("[1,]", "malformed", (0,)),
        ("[}", "malformed", ()),
        ('{"a"]', "malformed", ("a",)),
        ('{"a": "\n"}', "malformed", ("a",)),
        (r'{"a": "\x"}', "malformed", ("a",)),
        (r'{"a": "\u00g0"}', "malformed", ("a",)),
        ('{"a": NaN}', "not_a_number", ("a",)),
        ('{"a": -Infinity}', "not_a_number", ("a",)),
        ("[1e999]", "not_a_number", (0,)),
        ('{"a": 1, "a": 2}', "duplicate_key", ("a",)),
        ('{"b": {"a": 1, "\\u0061": 2}}', "duplicate_key", ("b", "a")),
        ("[[[[[1]]]]]", "too_deep", (0, 0, 0, 0)),
        ("9" * 5000, "malformed", ()),
    ],
)
def test_problems_say_where(text: str, reason: str, path: tuple[str | int, ...]) -> None:
    whole = JsonScanner(Silent(), max_depth=4)
    whole.feed(text)
    single = JsonScanner(Silent(), max_depth=4)
    for char in text:
        single.feed(char)

    assert whole.finish() == single.finish() == JsonProblem(reason, path)  # type: ignore[arg-type]


def test_large_integers_are_numbers() -> None:
    assert scan(["1" * 400]) == (int("1" * 400), None)


def test_nothing_is_told_after_a_problem() -> None:
    builder = Builder()
    scanner = JsonScanner(builder, max_depth=4)

    scanner.feed('["a" "b"')
    scanner.feed(', "c"]')

    assert builder.value == ["a"]


@needs_shared
def test_st_json_chunks_at_awkward_places() -> None:
    """Whatever is told but a growing string is final when it is told: never 1, then 12, then 129."""
    payload = case("streaming/st-json-chunks-at-awkward-places.yaml")["input"]["payload"]
    value = json.loads(payload)

    for cut in range(len(payload) + 1):
        assert scan([payload[:cut], payload[cut:]]) == (value, None)
        builder = Builder()
        scanner = JsonScanner(builder, max_depth=9)
        scanner.feed(payload[:cut])
        told = (((builder.value or {}).get("updateDataModel") or {}).get("value")) or {}
        for key, found in told.items():
            assert found == value["updateDataModel"]["value"][key]
    assert scan(list(payload)) == (value, None)
