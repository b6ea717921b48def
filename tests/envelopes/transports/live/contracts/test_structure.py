"""The structural rules of contracts (live-channel reading 7.1 and 7.2): all violations, in one pass."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.errors import TooLarge
from envelopes.transports.live.contracts import (
    MAX_CONTRACT_BYTES,
    MOST_VIOLATIONS,
    ContractRefused,
    contract_of,
)
from envelopes.transports.live.contracts.contract import Contract
from envelopes.types import JsonObject

TEXT = {"type": "string"}
OBJECT = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}


def tools(**schemas: JsonObject) -> JsonObject:
    return {"tools": {"save": {"toolInfo": {"inputSchema": OBJECT, **schemas}}}}


def violations(document: Any, *, labels: bool = False) -> list[tuple[str, str | None]]:
    """Fields and codes; nothing where the contract holds."""
    try:
        contract_of(document, labels=labels)
    except ContractRefused as refused:
        return [(violation.field, violation.code) for violation in refused.violations]
    return []


CHANNEL = {"schema": TEXT}
META = "CTR_SCHEMA_META_INVALID"
EXTRA = "CTR_SHAPE_UNRECOGNIZED_KEYS"
TYPE = "CTR_SHAPE_INVALID_TYPE"
SHAPE = "CTR_SHAPE_INVALID"

RULES: list[tuple[str, Any, list[tuple[str, str | None]]]] = [
    ("nothing is a contract", {}, []),
    ("all parts", {
        "propsSpec": {"properties": {"title": {"schema": TEXT, "required": True, "sourceTool": "save"}}},
        "actionSpec": {"store": {"label": "Store", "schema": OBJECT, "nextStep": "save", "confirm": "Sure?"}},
        "streamSpec": {"log": {"schema": TEXT, "mode": "replace", "replay": "latest", "complete": True}},
        "contextSpec": {"step": {"schema": {"type": "integer"}, "default": 1.0, "debounceMs": 0}},
        "agentCapabilities": tools(),
    }, []),
    ("entries of the kit have no label", {"actionSpec": {"toggleTask": {}}}, []),
    ("not an object", [], [("contract", TYPE)]),
    ("an unknown part", {"wiredTools": {}}, [("wiredTools", EXTRA)]),
    ("a part that is a list", {"streamSpec": []}, [("streamSpec", TYPE)]),
    ("an entry that is a text", {"streamSpec": {"log": "x"}}, [("streamSpec.log", TYPE)]),
    ("an unknown key of an entry", {"streamSpec": {"log": {**CHANNEL, "ttl": 1}}}, [("streamSpec.log.ttl", EXTRA)]),
    ("an unknown mode", {"streamSpec": {"log": {**CHANNEL, "mode": "merge"}}}, [("streamSpec.log.mode", SHAPE)]),
    ("an unknown policy", {"streamSpec": {"log": {**CHANNEL, "replay": "some"}}}, [("streamSpec.log.replay", SHAPE)]),
    ("complete is no text", {"streamSpec": {"log": {**CHANNEL, "complete": "yes"}}}, [
        ("streamSpec.log.complete", TYPE)]),
    ("a label is a text", {"actionSpec": {"go": {"label": 3}}}, [("actionSpec.go.label", TYPE)]),
    ("an empty nextStep", {"actionSpec": {"go": {"nextStep": ""}}}, [("actionSpec.go.nextStep", SHAPE)]),
    ("a tool without what it takes", {"agentCapabilities": {"tools": {"save": {"toolInfo": {}}}}}, [
        ("agentCapabilities.tools.save.toolInfo.inputSchema", SHAPE)]),
    ("capabilities without tools", {"agentCapabilities": {}}, [("agentCapabilities.tools", TYPE)]),
    # 1 and 2
    ("1: no properties", {"propsSpec": {"properties": {}}}, [("propsSpec", None)]),
    ("2: a property without a schema", {"propsSpec": {"properties": {"a": {"required": True}}}}, [
        ("propsSpec.a", None)]),
    # 3, 14 and 10.4, 15
    *[(f"3: {name}", {"streamSpec": {name: {"schema": {}, "odd": 1}, "log": CHANNEL}}, [
        (f"streamSpec.{name}", None)]) for name in ("_ggui:preview", "_ggui:lifecycle", "_ggui:anything", "_ggui:")],
    *[(f"3: {name} is free", {"streamSpec": {name: CHANNEL}}, []) for name in (
        "_ggui", "ggui:preview", "prefix_ggui:foo", "ggui", "_GGUI:x", "_other")],
    ("4: a channel without a schema", {"streamSpec": {"log": {}}}, [("streamSpec.log", None)]),
    # 5 to 8
    ("5: a schema that says nothing", {"streamSpec": {"log": {"schema": {"description": "x"}}}}, [
        ("streamSpec.log", None)]),
    ("5: oneOf is enough", {"streamSpec": {"log": {"schema": {"oneOf": [TEXT, {"type": "null"}]}}}}, []),
    ("5: anyOf is enough", {"streamSpec": {"log": {"schema": {"anyOf": [TEXT]}}}}, []),
    ("5: a value alone is not", {"streamSpec": {"log": {"schema": {"enum": [1]}}}}, [("streamSpec.log", None)]),
    ("6: a list without items", {"streamSpec": {"log": {"schema": {"type": "array"}}}}, [("streamSpec.log", None)]),
    ("6: a list or nothing, without items", {"streamSpec": {"log": {"schema": {"type": ["array", "null"]}}}}, [
        ("streamSpec.log", None)]),
    ("7: required and unknown", {"streamSpec": {"log": {"schema": {
        "type": "object", "properties": {"a": TEXT}, "required": ["a", "b"]}}}}, [("streamSpec.log.b", None)]),
    ("7: required without properties", {"streamSpec": {"log": {"schema": {"type": "object", "required": ["b"]}}}}, [
        ("streamSpec.log.b", None)]),
    ("8: in items, properties and branches", {"streamSpec": {"log": {"schema": {"oneOf": [
        {"type": "array", "items": {}},
        {"type": "object", "properties": {"a": {"type": "array"}, "b": {"anyOf": [{}, TEXT]}}},
    ]}}}}, [("streamSpec.log.oneOf[0].items", None), ("streamSpec.log.oneOf[1].a", None),
            ("streamSpec.log.oneOf[1].b.anyOf[0]", None)]),
    ("9: an action needs none", {"actionSpec": {"go": {}}}, []),
    ("9: an action that has one", {"actionSpec": {"go": {"schema": {"type": "array"}}}}, [("actionSpec.go", None)]),
    # 10
    *[(f"10: the slot {name}", {"contextSpec": {name: CHANNEL}}, [(f"contextSpec.{name}", None)]) for name in (
        "__proto__", "constructor", "prototype", "1a", "a-b", "a.b", "", "ä")],
    *[(f"10: the slot {name} is fine", {"contextSpec": {name: CHANNEL}}, []) for name in ("_", "a1", "currentStep")],
    ("10: a slot named as a property", {
        "propsSpec": {"properties": {"a": CHANNEL}}, "contextSpec": {"a": CHANNEL}}, [("contextSpec.a", None)]),
    ("10: a slot without a schema", {"contextSpec": {"a": {}}}, [("contextSpec.a", None)]),
    ("10: a default that does not fit", {"contextSpec": {"a": {**CHANNEL, "default": 3}}}, [
        ("contextSpec.a.default", None)]),
    ("10: null is a default too", {"contextSpec": {"a": {**CHANNEL, "default": None}}}, [
        ("contextSpec.a.default", None)]),
    ("10: a default that cannot be derived", {"contextSpec": {"a": {"schema": {"anyOf": [TEXT]}}}}, [
        ("contextSpec.a", None)]),
    ("10: given, it need not be", {"contextSpec": {"a": {"schema": {"anyOf": [TEXT]}, "default": "x"}}}, []),
    ("10: debounce below zero", {"contextSpec": {"a": {**CHANNEL, "debounceMs": -1}}}, [
        ("contextSpec.a.debounceMs", SHAPE)]),
    ("10: debounce of half a millisecond", {"contextSpec": {"a": {**CHANNEL, "debounceMs": 0.5}}}, [
        ("contextSpec.a.debounceMs", TYPE)]),
    ("10: debounce is no boolean", {"contextSpec": {"a": {**CHANNEL, "debounceMs": True}}}, [
        ("contextSpec.a.debounceMs", TYPE)]),
    ("51 slots", {"contextSpec": {f"s{n}": CHANNEL for n in range(51)}}, [("contextSpec", SHAPE)]),
    # 11 and 12
    ("11: a next step that is no tool", {"actionSpec": {"go": {"nextStep": "sav"}}, "agentCapabilities": tools()}, [
        ("actionSpec.go.nextStep", "CTR_REF_NEXT_STEP")]),
    ("11: without any tools", {"actionSpec": {"go": {"nextStep": "save"}}}, [
        ("actionSpec.go.nextStep", "CTR_REF_NEXT_STEP")]),
    ("12: a source that is no tool", {"streamSpec": {"log": {**CHANNEL, "source": {"tool": "sav"}}}}, [
        ("streamSpec.log.source.tool", "CTR_REF_STREAM_SOURCE")]),
    ("12: a source without a tool", {"streamSpec": {"log": {**CHANNEL, "source": {}}}}, [
        ("streamSpec.log.source.tool", SHAPE)]),
    # 13 and 14
    ("13: a name in all three", {
        "actionSpec": {"a": {}, "b": {}}, "streamSpec": {"a": CHANNEL}, "contextSpec": {"a": CHANNEL, "b": CHANNEL}},
     [("actionSpec.a", "CTR_DUP_NAME"), ("actionSpec.b", "CTR_DUP_NAME")]),
    ("14: reserved elsewhere", {"actionSpec": {"_ggui:x": {}}, "contextSpec": {"_ggui:y": CHANNEL}}, [
        ("actionSpec._ggui:x", "CTR_RESERVED_NAME"), ("contextSpec._ggui:y", "CTR_RESERVED_NAME")]),
    # 15 and 16
    ("15: sends what the tool needs", {
        "actionSpec": {"go": {"schema": OBJECT, "nextStep": "save"}}, "agentCapabilities": tools()}, []),
    ("15: sends nothing", {"actionSpec": {"go": {"nextStep": "save"}}, "agentCapabilities": tools()}, [
        ("actionSpec.go.schema.properties.id", "CTR_SCHEMA_INCOMPAT")]),
    ("16: takes what the tool gives", {
        "streamSpec": {"log": {"schema": OBJECT, "source": {"tool": "save"}}},
        "agentCapabilities": tools(outputSchema=OBJECT)}, []),
    ("16: takes less", {
        "streamSpec": {"log": {**CHANNEL, "source": {"tool": "save"}}},
        "agentCapabilities": tools(outputSchema=OBJECT)},
     [("streamSpec.log.schema", "CTR_SCHEMA_INCOMPAT")]),
    ("16: a tool that does not say", {
        "streamSpec": {"log": {**CHANNEL, "source": {"tool": "save"}}}, "agentCapabilities": tools()}, []),
    # The dialect (7.3)
    *[(f"no {key}", {"streamSpec": {"log": {"schema": {"type": "string", key: value}}}}, [
        ("streamSpec.log.schema", META)]) for key, value in {
            "pattern": "(a+)+$", "$ref": "#", "$schema": "x", "allOf": [TEXT], "not": TEXT, "minLength": 1,
            "if": TEXT, "definitions": {}, "patternProperties": {}, "exclusiveMinimum": 1}.items()],
    ("a format that is not known", {"streamSpec": {"log": {"schema": {"type": "string", "format": "regex"}}}}, [
        ("streamSpec.log.schema.format", META)]),
    ("a type that is not known", {"streamSpec": {"log": {"schema": {"type": "date"}}}}, [
        ("streamSpec.log.schema.type", META)]),
    ("a list of items", {"streamSpec": {"log": {"schema": {"type": "array", "items": [TEXT]}}}}, [
        ("streamSpec.log.schema.items", META)]),
    ("deep inside", {"streamSpec": {"log": {"schema": {"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "number", "minimum": "0"}}}}}}}, [
            ("streamSpec.log.schema.properties.a.items.minimum", META)]),
    # All at once, also within an entry that is wrong.
    ("everything", {
        "streamSpec": {"log": {"schema": {"type": "array", "pattern": "x"}, "mode": "merge", "source": {"tool": "t"}},
                       "_ggui:x": {}},
        "actionSpec": {"log": {"nextStep": "u", "odd": 1}},
        "other": 1,
    }, [("other", EXTRA), ("actionSpec.log.odd", EXTRA), ("streamSpec._ggui:x", None),
        ("streamSpec.log.mode", SHAPE), ("streamSpec.log.schema", META), ("streamSpec.log", None),
        ("actionSpec.log.nextStep", "CTR_REF_NEXT_STEP"), ("streamSpec.log.source.tool", "CTR_REF_STREAM_SOURCE"),
        ("actionSpec.log", "CTR_DUP_NAME")]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_a_rule(document: Any, expected: list[tuple[str, str | None]]) -> None:
    assert violations(document) == expected


def test_labels_are_needed_where_somebody_says_so() -> None:
    document = {"actionSpec": {"go": {}, "stay": {"label": "Stay"}}}

    assert violations(document, labels=True) == [("actionSpec.go.label", SHAPE)]
    assert violations(document) == []


def test_the_refusal_of_a_reserved_channel_is_the_seeds_sentence() -> None:
    with pytest.raises(ContractRefused) as refused:
        contract_of({"streamSpec": {"_ggui:preveiw": {}}})

    (violation,) = refused.value.violations
    assert violation.message == (
        "Stream channel '_ggui:preveiw' is in the reserved '_ggui:' namespace — "
        "server-owned channels cannot be declared in agent streamSpec"
    )
    assert violation.message in refused.value.message


def test_a_contract_is_compiled_once_whatever_the_order_of_its_keys() -> None:
    one = contract_of({"actionSpec": {"a": {}, "b": {"icon": "x"}}})

    assert contract_of({"actionSpec": {"b": {"icon": "x"}, "a": {}}}) is one
    assert contract_of({"actionSpec": {"a": {}}}) is not one
    assert isinstance(one, Contract) and len(one.digest) == 64


def test_what_is_too_long_too_deep_or_no_json_is_refused_before_it_is_read() -> None:
    with pytest.raises(TooLarge, match="A contract has at most 65,536 bytes") as refused:
        contract_of({"streamSpec": {"log": {"schema": {**TEXT, "description": "x" * MAX_CONTRACT_BYTES}}}})
    assert refused.value.facts["allowed"] == MAX_CONTRACT_BYTES

    deep: JsonObject = {}
    for _ in range(20_000):
        deep = {"a": deep}
    assert violations({"streamSpec": deep}) == [("contract", SHAPE)]
    schema: JsonObject = TEXT
    for _ in range(32):
        schema = {"anyOf": [schema]}
    assert violations({"streamSpec": {"log": {"schema": schema}}}) == [("contract", SHAPE)]
    assert violations({"streamSpec": {"log": {**CHANNEL, "example": float("nan")}}}) == [("contract", SHAPE)]


def test_a_list_of_violations_that_is_cut_says_so() -> None:
    with pytest.raises(ContractRefused) as refused:
        contract_of({"streamSpec": {f"c{number}": {} for number in range(MOST_VIOLATIONS + 1)}})

    assert len(refused.value.facts["violations"]) == MOST_VIOLATIONS
    assert refused.value.facts["truncated"] is True
    assert refused.value.message.endswith("There are more than these 100.")
