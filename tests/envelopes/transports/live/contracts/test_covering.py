"""Whether what an action sends is what a tool takes, and what a tool gives what a channel takes (7.2, 15 and 16)."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.transports.live.contracts.covering import gaps

TEXT = {"type": "string"}


def obj(required: list[str] | None = None, **properties: Any) -> Any:
    more = properties.pop("more", None)
    made: Any = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    if more is not None:
        made["additionalProperties"] = more
    return made


ROWS: list[tuple[str, Any, Any, list[tuple[str, str]]]] = [
    ("equal", TEXT, TEXT, []),
    ("another type", TEXT, {"type": "number"}, [("x", "type-mismatch")]),
    ("any type", TEXT, {}, [("x", "type-mismatch")]),
    ("into any type", {}, TEXT, []),
    ("integers are numbers", {"type": "number"}, {"type": "integer"}, []),
    ("numbers are no integers", {"type": "integer"}, {"type": "number"}, [("x", "type-mismatch")]),
    ("one of several", {"type": ["string", "null"]}, TEXT, []),
    ("several into one", TEXT, {"type": ["string", "null"]}, [("x", "type-mismatch")]),
    ("nullable is null too", TEXT, {"type": "string", "nullable": True}, [("x", "type-mismatch")]),
    ("into nullable", {"type": "string", "nullable": True}, TEXT, []),
    ("one more property", obj(a=TEXT), obj(a=TEXT, b=TEXT), [("x.properties.b", "extra-property")]),
    ("one less property", obj(a=TEXT, b=TEXT), obj(a=TEXT), []),
    ("more where more is taken", obj(more=True), obj(b=TEXT), []),
    ("more of the right kind", obj(more=TEXT), obj(b=TEXT), []),
    ("more of another", obj(more=TEXT), obj(b={"type": "null"}), [("x.properties.b", "type-mismatch")]),
    ("open into closed", obj(), obj(more=True), [("x", "additional-properties-widens")]),
    ("open into some", obj(more=TEXT), obj(more=True), [("x", "additional-properties-widens")]),
    ("some into others", obj(more=TEXT), obj(more={"type": "null"}), [("x.additionalProperties", "type-mismatch")]),
    ("missing", obj(["a"], a=TEXT), obj(a=TEXT), [("x.properties.a", "missing-required")]),
    ("stricter", obj(a=TEXT), obj(["a"], a=TEXT), []),
    ("items", {"type": "array", "items": TEXT}, {"type": "array", "items": {"type": "null"}}, [
        ("x.items", "items-mismatch")]),
    ("any items", {"type": "array", "items": TEXT}, {"type": "array"}, [("x", "items-mismatch")]),
    ("into any items", {"type": "array"}, {"type": "array", "items": TEXT}, []),
    ("deep in items", {"type": "array", "items": obj(a=TEXT)}, {"type": "array", "items": obj(a={"type": "null"})}, [
        ("x.items.properties.a", "type-mismatch")]),
    *[(f"{key} and its equal", {**TEXT, key: value}, {**TEXT, key: value}, []) for key, value in {
        "enum": ["a"], "const": "a", "oneOf": [TEXT], "anyOf": [TEXT], "allOf": [TEXT], "$ref": "#"}.items()],
    *[(f"{key} and another", {**TEXT, key: value}, TEXT, [("x", "unsupported")]) for key, value in {
        "enum": ["a"], "const": "a", "oneOf": [TEXT], "anyOf": [TEXT], "allOf": [TEXT], "$ref": "#"}.items()],
    ("1 is not true", {"const": 1}, {"const": True}, [("x", "unsupported")]),
    ("several at once", obj(["c"], a=TEXT, c=TEXT), obj(a={"type": "null"}, b=TEXT), [
        ("x.properties.a", "type-mismatch"), ("x.properties.b", "extra-property"),
        ("x.properties.c", "missing-required")]),
    ("a tool that takes anything", obj(a=True), obj(a=TEXT), []),
    ("a tool that takes nothing there", obj(a=False), obj(a=TEXT), [("x.properties.a", "type-mismatch")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wider", "narrower", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_gaps(wider: Any, narrower: Any, expected: list[tuple[str, str]]) -> None:
    found = gaps(wider, narrower, "x")

    assert [(gap.field, gap.reason) for gap in found] == expected
    assert {gap.code for gap in found} <= {"CTR_SCHEMA_INCOMPAT"}
