"""Inline catalogs: documents whose components are drawn as those that they extend (section 5 of the reading of 1.0)."""

from __future__ import annotations

import pytest

from a2ui import Engine, EngineOptions
from a2ui.errors import A2uiError
from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, fed, made, said

OWN = "https://shop.example/catalog.json"
DOCUMENT = {
    "catalogId": OWN,
    "protocolVersion": "1.0",
    "components": {
        "Offer": {
            "allOf": [
                {"$ref": f"{BASIC_1_0}#/components/Card"},
                {"properties": {"component": {"const": "Offer"}, "price": {"type": "number"}}, "required": ["price"]},
            ]
        },
        "Bargain": {"$ref": "#/components/Offer", "allowedParents": ["Column"]},
        "Script": {"properties": {"component": {"const": "Script"}, "code": {"type": "string"}}},
        "Self": {"$ref": "#/components/Self"},
    },
    "functions": {
        "both": {"$ref": f"{BASIC_1_0}#/functions/and"},
        "evil": {"returnType": "string", "properties": {"@call": {"const": "evil"}}},
    },
}  # fmt: skip


def engine(*documents, **options):
    return Engine(EngineOptions(inline_catalogs=True, **options)).with_inline(documents or [DOCUMENT])


def drawn(*rows, **options):
    surfaces = engine(**options).surfaces()
    problems = surfaces.apply(made(*rows, TEXT))
    return surfaces.get("", "s").html(), problems, surfaces


def own(component_id, kind, **props):
    return row(component_id, kind, **props, **{"@catalogId": OWN})


def test_a_component_is_drawn_as_the_one_that_it_extends():
    html, problems, surfaces = drawn(own("root", "Offer", child="t", price=5))

    assert not problems
    assert html == fed(made(row("root", "Card", child="t"), TEXT))[0].get("", "s").html()
    # With everything that ours can do.
    surfaces.flush()
    surfaces.apply(said("updateComponents", components=[row("t", "Text", text="Buy")]))
    assert surfaces.flush()[0].ops == [["r", "a1-1", '<div id="a1-1" class="a2-t">Buy</div>']]


def test_what_it_asks_for_beside_that_is_asked_for():
    _, problems, _ = drawn(own("root", "Offer", child="t", colour="red"))

    assert sorted(one.path for one in problems) == ["/components/0/colour", "/components/0/price"]


def test_one_component_may_extend_another_of_the_document_and_say_where_it_stands():
    html, problems, _ = drawn(row("root", "Column", children=["a"]), own("a", "Bargain", child="t", price=1))
    assert not problems
    assert 'class="a2-card"' in html

    _, (problem,), _ = drawn(own("root", "Bargain", child="t", price=1))
    assert problem.code == "UNALLOWED_PARENT"


@pytest.mark.parametrize("kind", ["Script", "Self"])
def test_what_extends_nothing_is_a_placeholder(kind):
    html, (problem,), _ = drawn(
        row("root", "Column", children=["a", "t"]), own("a", kind, code="<script>alert(1)</script>")
    )

    assert problem.code == "UNKNOWN_COMPONENT_TYPE"
    assert "This part could not be shown." in html
    assert "alert" not in html
    assert ">Go</div>" in html


def test_functions_are_ours_or_unknown():
    def call(name, **args):
        return {"@call": name, "catalogId": OWN, "args": args}

    html, _, surfaces = drawn(
        row("root", "Column", children=["a", "b"]),
        row("a", "Text", text=call("both", values=[True, True])),
        row("b", "Text", text=call("evil")),
    )

    assert ">true</div>" in html
    assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]


def test_where_settings_do_not_allow_them_they_are_refused_by_name():
    with pytest.raises(A2uiError) as refused:
        Engine().with_inline([DOCUMENT])
    assert refused.value.code == "INLINE_CATALOGS_NOT_ALLOWED"

    _, (problem,) = fed(made(own("root", "Offer", child="t", price=5), TEXT))
    assert (problem.code, problem.path) == ("CATALOG_NOT_FOUND", "/components/0/@catalogId")


def test_capabilities_say_what_is_taken():
    offered = engine().metadata(inline=True)["a2uiRendererCapabilities"]["1.0"]

    assert offered["inlineCatalogs"] == [DOCUMENT]
    assert OWN not in offered["supportedCatalogIds"]
    assert "inlineCatalogs" not in engine().metadata()["a2uiRendererCapabilities"]["1.0"]
    assert engine().agent_capabilities()["1.0"]["acceptsInlineCatalogs"] is True
    assert Engine().agent_capabilities()["1.0"]["acceptsInlineCatalogs"] is False


def test_a_surface_may_have_one_as_its_default_and_lives_on_in_a_snapshot():
    message = made(
        row("root", "Offer", child="t", price=5), row("t", "Text", text="x") | {"@catalogId": BASIC_1_0}
    )
    message["createSurface"]["catalogId"] = OWN
    surfaces = engine().surfaces()

    assert not surfaces.apply(message)
    surfaces.flush()
    restored = engine().restore(surfaces.snapshot())
    assert restored.get("", "s").html() == surfaces.get("", "s").html()


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([], ""),
        ({"catalogId": OWN, "scripts": []}, "/scripts"),
        ({"components": {}}, "/catalogId"),
        ({"catalogId": BASIC_1_0}, "/catalogId"),
        ({"catalogId": OWN, "protocolVersion": 1}, "/protocolVersion"),
        ({"catalogId": OWN, "components": []}, "/components"),
        ({"catalogId": OWN, "components": {"Surface": {}}}, "/components/Surface"),
        ({"catalogId": OWN, "components": {"a-b": {}}}, "/components/a-b"),
        ({"catalogId": OWN, "components": {"A": []}}, "/components/A"),
        ({"catalogId": OWN, "components": {"A": {"properties": {"component": {"const": "B"}}}}}, "/components/A"),
        ({"catalogId": OWN, "components": {"A": {"required": [1]}}}, "/components/A/required"),
        ({"catalogId": OWN, "components": {"A": {"$ref": f"{BASIC_1_0}#/components/Text", "allowedParents": 1}}},
         "/components/A/allowedParents"),
        ({"catalogId": OWN, "functions": {"1f": {}}}, "/functions/1f"),
    ],
)  # fmt: skip
def test_what_is_no_catalog_is_refused_with_a_pointer(document, path):
    with pytest.raises(A2uiError) as refused:
        engine(document)

    assert (refused.value.code, refused.value.path) == ("CATALOG_INVALID", path)
