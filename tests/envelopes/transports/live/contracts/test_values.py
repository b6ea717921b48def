"""Values against schemas of the dialect (7.3), and how a violation names what is wrong (6.1)."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.errors import TooLarge
from envelopes.transports.live.contracts import MOST_VIOLATIONS
from envelopes.transports.live.contracts.values import MAX_STEPS, ValueCheck

TEXT = {"type": "string"}
TODO = {"type": "object", "properties": {"id": TEXT, "n": {"type": "integer"}}, "required": ["id"]}
TODOS = {"type": "object", "properties": {"todos": {"type": "array", "items": TODO}}}
OPEN = {"type": "object", "additionalProperties": True}

ROWS: list[tuple[str, Any, Any, list[tuple[str, str]]]] = [
    ("text", TEXT, "a", []),
    ("no coercion", TEXT, 5, [("x", "type")]),
    ("nor of numbers", {"type": "number"}, "5", [("x", "type")]),
    ("1.0 is an integer", {"type": "integer"}, 1.0, []),
    ("1.5 is none", {"type": "integer"}, 1.5, [("x", "type")]),
    ("true is no integer", {"type": "integer"}, True, [("x", "type")]),
    ("true is no number", {"type": "number"}, True, [("x", "type")]),
    ("1 is no boolean", {"type": "boolean"}, 1, [("x", "type")]),
    ("one of several types", {"type": ["string", "null"]}, None, []),
    ("nullable", {"type": "string", "nullable": True}, None, []),
    ("nullable of several types", {"type": ["string", "number"], "nullable": True}, None, []),
    ("nullable unions", {"anyOf": [TEXT], "nullable": True}, None, []),
    ("not nullable", {"type": "string", "nullable": False}, None, [("x", "type")]),
    ("closed", {"type": "object", "properties": {}}, {"a": 1}, [("x.a", "additionalProperties")]),
    ("closed without properties", {"type": "object"}, {"a": 1}, [("x.a", "additionalProperties")]),
    ("open where it says so", OPEN, {"a": 1}, []),
    ("others of a kind", {"type": "object", "additionalProperties": TEXT}, {"a": 1, "b": "c"}, [("x.a", "type")]),
    ("closed in others", {"type": "object", "additionalProperties": TODO}, {"a": {"id": "", "z": 1}}, [
        ("x.a.z", "additionalProperties")]),
    ("closed in items", TODOS, {"todos": [{"id": "", "done": True}]}, [("x.todos[0].done", "additionalProperties")]),
    ("closed in branches", {"anyOf": [TODO]}, {"id": "", "z": 1}, [("x.z", "additionalProperties"), ("x", "anyOf")]),
    ("an open object has closed ones inside", {
        "type": "object", "properties": {"a": {"type": "object"}}, "additionalProperties": True},
     {"b": 1, "a": {"c": 1}}, [("x.a.c", "additionalProperties")]),
    ("properties make an object node", {"anyOf": [{"properties": {"a": TEXT}, "type": "object"}]}, {"b": ""}, [
        ("x.b", "additionalProperties"), ("x", "anyOf")]),
    ("all of them", TODOS, {"todos": [{"n": "1"}, {"id": 3}, 7], "more": 1}, [
        ("x.todos[0].n", "type"), ("x.todos[0].id", "required"), ("x.todos[1].id", "type"), ("x.todos[2]", "type"),
        ("x.more", "additionalProperties")]),
    ("enum", {"type": "string", "enum": ["a", "b"]}, "c", [("x", "enum")]),
    ("enum tells 1 from true", {"type": ["number", "boolean"], "enum": [1]}, True, [("x", "enum")]),
    ("const", {"type": "number", "const": 0}, False, [("x", "type"), ("x", "const")]),
    ("bounds", {"type": "number", "minimum": 1, "maximum": 3}, 3, []),
    ("below", {"type": "number", "minimum": 1}, 0.5, [("x", "minimum")]),
    ("above", {"type": "number", "maximum": 1}, 2, [("x", "maximum")]),
    ("one of", {"oneOf": [TEXT, {"type": "number"}]}, 1, []),
    ("none of", {"oneOf": [TEXT, {"type": "number"}]}, None, [("x", "type"), ("x", "type"), ("x", "oneOf")]),
    ("more than one of", {"oneOf": [{"type": "number"}, {"type": "integer"}]}, 1, [("x", "oneOf")]),
    ("a list at the top", {"type": "array", "items": TEXT}, ["a", 1], [("x[1]", "type")]),
    ("null", {"type": "null"}, None, []),
    ("an enum of lists", {"type": "array", "items": {"type": "integer"}, "enum": [[1, 2]]}, [1, 2], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "value", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_value(schema: Any, value: Any, expected: list[tuple[str, str]]) -> None:
    found = ValueCheck(schema).violations(value, "x")

    assert [(violation.field, violation.keyword) for violation in found] == expected
    assert all(violation.message and violation.expected and violation.received for violation in found)


FORMATS = {
    "date": (["2026-11-29", "2024-02-29"], [
        "2026-02-29", "20261129", "2026-1-1", "", "2026-11-29T00:00:00Z", "٢٠٢٦-11-29"]),
    "date-time": (
        ["2026-11-29T03:38:49Z", "2026-11-29t03:38:49.5+01:00", "1990-12-31T23:59:60Z"],
        ["2026-11-29 03:38:49Z", "2026-11-29T03:38:49", "2026-11-29T24:00:00Z", "2026-13-29T00:00:00Z", "2026-11-29T"],
    ),
    "time": (["03:38:49Z", "23:59:59.999-05:30"], ["03:38", "03:38:49", "25:00:00Z", "03:38:61Z", "03:38:49+24:00"]),
    "email": (["a@b.example", "a.b+c@d.e.example"], ["a@b", "a@@b.c", "a b@c.d", "@b.c", "a@b..c", "x" * 70 + "@b.c"]),
    "hostname": (["a", "a.example", "a-1.example"], ["-a", "a-", "a..b", "a b", "", "x" * 64, "ä.example"]),
    "ipv4": (["127.0.0.1"], ["127.0.0", "127.0.0.256", "::1", "127.0.0.01"]),
    "ipv6": (["::1", "2001:db8::8a2e:370:7334"], ["127.0.0.1", "fe80::1%eth0", ":::1"]),
    "uri": (["https://a.example/b?c=%20#d", "urn:x:1", "mailto:a@b.example"], [
        "a/b", "//a", "https://a b", "1a:b", "a:%2"]),
    "uuid": (["123e4567-e89b-12d3-a456-426614174000"], [
        "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}"]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_is_asserted(name: str) -> None:
    check = ValueCheck({"type": ["string", "number"], "format": name})
    good, bad = FORMATS[name]

    assert [text for text in good if check.violations(text, "x")] == []
    assert [text for text in bad if [v.keyword for v in check.violations(text, "x")] != ["format"]] == []
    assert check.violations(5, "x") == []


def test_what_is_quoted_is_cut_and_containers_are_named() -> None:
    check = ValueCheck({"type": "string", "enum": ["a"]})

    (long,) = check.violations("x" * 100_000, "x")
    assert long.received is not None and len(long.received) == 120 and long.received.endswith("…")
    assert check.violations([1], "x")[-1].received == "array"


def test_violations_are_cut_after_some_and_one_more_tells_it() -> None:
    found = ValueCheck({"type": "array", "items": TEXT}).violations([1] * 500, "x")

    assert len(found) == MOST_VIOLATIONS + 1


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": TEXT}, [""] * MAX_STEPS),
        ({"anyOf": [{"type": "array", "items": {"type": "null"}}] * 500}, [""] * 1_000),
        ({"type": "array", "items": {"type": "string", "enum": [str(n) for n in range(8_000)]}}, ["7999"] * 100),
        ({"type": "array", "items": {"type": "object", "properties": {f"p{n}": TEXT for n in range(4_000)}}},
         [{}] * 200),
        ({"type": "string", "format": "email"}, "a" * (8 * MAX_STEPS)),
    ],
    ids=["long", "branches", "choices", "properties", "text"],
)  # fmt: skip
def test_a_check_has_an_end(schema: Any, value: Any) -> None:
    with pytest.raises(TooLarge, match="Checking this takes more than 50,000 steps") as refused:
        ValueCheck(schema).violations(value, "x")

    assert refused.value.facts == {"limit": "contract_steps", "allowed": MAX_STEPS}


def test_a_value_deeper_than_its_schema_is_not_looked_into() -> None:
    deep: Any = 0
    for _ in range(50_000):
        deep = [deep]
    check = ValueCheck({"type": "array", "items": {"type": "array", "items": TEXT}})

    assert [violation.field for violation in check.violations(deep, "x")] == ["x[0][0]"]
