"""The part of the prompt about A2UI: made from the catalogs, within its bytes, with examples that draw."""

from __future__ import annotations

import json
import re

import pytest

from a2ui import BASIC_CATALOG_1_0, BEACH_CATALOG_1_0, Engine, EngineOptions, taught
from a2ui.catalog.inline import inline_catalog
from a2ui.catalog.kinds import ENUM_VALUES, enum, text
from a2ui.catalog.registry import Catalogs
from a2ui.components import BaseComponent
from a2ui.functions.registry import Function, agent_function
from a2ui.schema.dynamic import Signature, dynamic_number
from a2ui.schema.shapes import no_more
from a2ui.teaching.catalogs import for_prompt
from a2ui.teaching.rules import EXAMPLES, RULES
from a2ui.teaching.whole import MOST_BYTES

BASIC = taught([BASIC_CATALOG_1_0]).text


class Gauge(BaseComponent):
    """A needle on a scale: what is written here is for whoever reads the code."""

    name = "Gauge"
    description = "A needle on a scale."
    properties = {"level": lambda raw, where: raw, "look": enum("round", "flat"), "title": text}
    told = {"level": "0 to 100"}
    required = frozenset({"level"})
    allowed_parents = frozenset({"Card"})

    def build(self, build):
        """Nothing to see."""


ACME = BASIC_CATALOG_1_0.extended(
    "https://acme.example/catalog.json",
    components=[Gauge()],
    functions=BASIC_CATALOG_1_0.functions.extend(
        agent_function("refundable"),
        Function(
            "vat",
            lambda args, env: 0,
            callers="rendererOrAgent",
            signature=Signature("number", {"net": dynamic_number}),
        ),
    ),
)


# ---- examples


def test_the_examples_are_taken_and_drawn_by_a_strict_engine_without_a_report():
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    shown = {}
    for what, messages in EXAMPLES:
        problems = [problem for message in messages for problem in surfaces.apply(message, owner="sally")]
        surfaces.flush()
        assert [*problems, *surfaces.diagnostics()] == [], what
        shown[what] = {surface.id: surface.html() for surface in surfaces}

    (first, second, third) = shown.values()
    assert len(EXAMPLES) == 3
    assert "<strong>EJ4521</strong> £94.00" in first["fares-1"]
    assert ">Book</" in second["who-1"] and "<input" in second["who-1"]
    assert "Booked." in third["who-1"] and "<button" not in third["who-1"]
    assert "£89.00" in third["fares-1"]


def test_the_examples_stand_in_the_text_as_the_data_of_a_part():
    written = re.findall(r'^\{"messages".*$', BASIC, re.MULTILINE)

    assert [json.loads(one) for one in written] == [{"messages": messages} for _, messages in EXAMPLES]


# ---- what is told of a catalog


@pytest.mark.parametrize("kind", BASIC_CATALOG_1_0.components.values(), ids=lambda kind: kind.name)
def test_a_component_is_told_with_its_properties_what_is_required_and_the_values_of_choices(kind):
    (line,) = [one for one in BASIC.splitlines() if one.startswith(f"- {kind.name} {{")]
    inside = line[line.index("{") :]

    for name, how in kind.kinds.items():
        if name in ("accessibility", "weight", "checks"):
            continue
        is_told = re.search(rf"[{{ ]{name}(\*?)[:,}}]", inside)
        if kind.shapes.get(name) is no_more:
            assert is_told is None
            continue
        assert is_told is not None, name
        assert (is_told[1] == "*") is (name in kind.required), name
        if how in ENUM_VALUES:
            assert f"{name}{is_told[1]}: {'|'.join(ENUM_VALUES[how])}" in inside
    assert ("@checks" in inside) is ("checks" in kind.kinds)


@pytest.mark.parametrize("function", BASIC_CATALOG_1_0.functions, ids=lambda function: function.name)
def test_a_function_is_told_with_its_arguments(function):
    (told,) = re.findall(
        rf"[ :]{function.name}\(([^)]*)\)", BASIC.split("Catalog https", 1)[1].split("\nExample")[0]
    )

    for name in function.signature.required:
        assert re.search(rf"(^|, ){name}\*", told), name
    for name in function.signature.optional:
        assert re.search(rf"(^|, ){name}(:|,|;|$)", told), name


def test_a_catalog_of_ones_own_is_told_by_what_it_has_beside_the_basic_one():
    assert for_prompt(ACME).splitlines() == [
        f"Catalog {ACME.id}: everything of the Basic Catalog, and",
        "- Gauge: A needle on a scale. (only in Card) {level*: 0 to 100, look: round|flat, title}",
        "Functions that give a number: vat(net*: number).",
        "Functions that a surface calls and you answer: refundable(...).",
        "You may call with callRendererFunction: vat(net*: number).",
    ]
    assert for_prompt(BASIC_CATALOG_1_0.extended("urn:same")) == "Catalog urn:same: the Basic Catalog."


def test_an_inline_catalog_is_told_by_its_document():
    basic = BASIC_CATALOG_1_0.id
    document = {
        "catalogId": "urn:inline",
        "protocolVersion": "1.0",
        "components": {
            "Note": {
                "description": "A short text.",
                "allOf": [{"$ref": f"{basic}#/components/Text"}],
                "properties": {"component": {"const": "Note"}, "tone": {"type": "string"}},
                "required": ["tone"],
            }
        },
    }
    told = for_prompt(inline_catalog(document, Catalogs([BASIC_CATALOG_1_0])))

    assert told == "Catalog urn:inline:\n- Note: A short text. {text*, variant: caption|body, tone*}"


# ---- the rules, and the budget


def test_the_rules_name_what_models_break():
    for words in (
        '"id": "root"',
        "hold ids, never components",
        "A Button has child",
        'action {"event"',
        '"path": "/items"',
        "never create\n  it again",
    ):
        assert words in RULES, words
    assert BASIC.startswith(RULES)


@pytest.mark.parametrize(
    "catalogs", [[BASIC_CATALOG_1_0], [BEACH_CATALOG_1_0], [BEACH_CATALOG_1_0, BASIC_CATALOG_1_0]]
)
def test_what_there_is_fits_whole(catalogs):
    found = taught(catalogs)

    assert len(found.text.encode()) <= MOST_BYTES == 12_000
    assert found.left_out == []
    assert found.text.count("- Text {") == 1


def test_what_matters_most_comes_first_and_what_has_no_room_is_named():
    many = [
        type(f"Gauge{at}", (Gauge,), {"name": f"Gauge{at}", "description": "ä" * 100})() for at in range(60)
    ]
    large = BASIC_CATALOG_1_0.extended("https://acme.example/large.json", components=many)
    found = taught([ACME, large])
    lines = found.text.splitlines()

    assert MOST_BYTES - 900 < len(found.text.encode()) <= MOST_BYTES
    assert lines.index(f"Catalog {ACME.id}: everything of the Basic Catalog, and") < lines.index(
        f"Catalog {large.id}: everything of the Basic Catalog, and"
    )
    assert found.left_out[0].startswith(f"{large.id}: Gauge")
    assert f"{BASIC_CATALOG_1_0.id}: Button" in found.left_out
    (told, *_) = [line for line in lines if line.startswith("There is no room")]
    assert found.left_out[0].partition(": ")[2] in told and told.endswith("and others.")
    assert found.text.endswith(json.dumps({"messages": EXAMPLES[-1][1]}, separators=(",", ":")))


def test_a_catalog_whose_name_alone_has_no_room_is_named_all_the_same():
    found = taught([BASIC_CATALOG_1_0.extended(f"urn:{'x' * 200}:{at}") for at in range(60)], most=40_000)

    assert len(found.text.encode()) <= 40_000
    assert any(line.startswith("There is no room") and "urn:x" in line for line in found.text.splitlines())
