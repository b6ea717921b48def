"""Documents are drawn by our renderer: every type, nothing of what was sent as markup, and of a patch what moved."""

from __future__ import annotations

import re
from typing import Any

import pytest

from a2ui import BEACH_CATALOG_1_0, Engine, EngineOptions, SurfaceSet
from envelopes.transports.documents.formats.normalise import normalise
from envelopes.transports.documents.formats.patches import apply
from envelopes.transports.documents.rendering import messages_between
from tests.envelopes.transports.documents.tables import DOCUMENT
from tests.shared import caselib, needs_shared, xss_payloads

STRICT = Engine(EngineOptions(own=(BEACH_CATALOG_1_0,), strict=True))


def shown(*components: Any, **more: Any) -> tuple[SurfaceSet, dict[str, Any]]:
    found = normalise({"v": 1, "surface": "s", "components": list(components), **more}).document
    return drawn(found), found


def drawn(document: dict[str, Any]) -> SurfaceSet:
    surfaces = STRICT.surfaces()
    for message in messages_between(None, document):
        assert surfaces.apply(message, owner="peer:1") == []
    surfaces.flush()
    assert surfaces.diagnostics() == []
    return surfaces


def html(surfaces: SurfaceSet, surface: str = "s") -> str:
    found = surfaces.get("peer:1", surface)
    assert found is not None
    return found.html()


def test_a_whole_document_is_drawn() -> None:
    document = normalise(DOCUMENT).document
    page = html(drawn(document), document["surface"])

    for words in (
        "Experimental surface", "native-canvas-preview", "canvas_host.enabled", "Inputs are escaped.", "Before",
        "<strong>Bold</strong>", "1. one", "cpu", "Settings", "a@example.com", "Apply", "Load", "Tue",
    ):  # fmt: skip
        assert words in page


def test_without_components_it_says_so() -> None:
    assert "No renderable components" in html(shown()[0])


@pytest.mark.parametrize(
    ("component", "literal"),
    [
        ({"type": "text", "props": {"value": "<img src=x onerror=alert(1)>"}}, "&lt;img src=x onerror=alert(1)&gt;"),
        ({"type": "text", "props": {"value": "**not bold** [x](https://a.example)"}}, "**not bold**"),
        ({"type": "table", "props": {"columns": ["a"], "rows": [["<svg onload=alert(1)>"]]}}, "&lt;svg onload"),
        ({"type": "table", "props": {"columns": ["*a*"], "rows": [["# b"]]}}, "# b"),
        ({"type": "list", "props": {"items": ["<b>", "1. x"]}}, "&lt;b&gt;"),
        ({"type": "chart", "props": {"title": "_t_", "series": [{"label": "<i>", "value": 3}]}}, "&lt;i&gt;"),
        ({"type": "form", "props": {"title": "<u>", "fields": [{"label": "<s>", "hint": "<q>"}]}}, "&lt;s&gt;"),
    ],
)  # fmt: skip
def test_text_is_shown_as_it_is(component: Any, literal: str) -> None:
    page = html(shown({"id": "x", **component})[0])

    assert literal in page
    assert "<img" not in page and "<svg onload" not in page and "<em>" not in page


@pytest.mark.parametrize(
    ("value", "anchors"),
    [
        ("<script>alert(1)</script>", 0),
        ("[x](javascript:alert(1))", 0),
        ("[x](JaVaScRiPt:alert(1))", 0),
        ("[x](java\tscript:alert(1))", 0),
        ("[x](data:text/html;base64,AAAA)", 0),
        ("[x](//evil.example/x)", 0),
        ("[x](/\\evil.example)", 0),
        ("[x](https://good.example)", 1),
        ("[x](mailto:a@b.example)", 1),
    ],
)
def test_markdown_links_lead_to_the_web_or_nowhere(value: str, anchors: int) -> None:
    page = html(shown({"type": "markdown", "props": {"value": value}})[0])

    assert page.count("<a ") == anchors
    assert "<script" not in page and 'href="javascript' not in page.lower() and 'href="//' not in page


def everywhere(text: str) -> str:
    """A page with ``text`` in every place that takes one, but for what an input holds: that is kept as it is."""
    fields = [{"id": text, "label": text, "placeholder": text, "hint": text}]
    surfaces, _ = shown(
        {"id": text, "type": "text", "props": {"value": text, "tone": text}},
        {"type": "markdown", "props": {"value": text}},
        {"type": "list", "props": {"items": [text]}},
        {"type": "table", "props": {"columns": [text], "rows": [[text]]}},
        {"type": "form", "props": {"title": text, "submitLabel": text, "fields": fields}},
        {"type": "chart", "props": {"title": text, "series": [{"label": text, "value": 1}]}},
    )
    return html(surfaces)


@needs_shared
@pytest.mark.parametrize("payload", xss_payloads())
def test_no_known_attack_comes_through(payload: dict[str, Any]) -> None:
    text = str(payload["payload"])

    assert caselib().xss_findings(everywhere(text), everywhere("benign"), text) == []


def patched(surfaces: SurfaceSet, document: dict[str, Any], *ops: Any) -> tuple[dict[str, Any], Any]:
    after = normalise(apply(document, {"v": 1, "ops": list(ops)})).document
    for message in messages_between(document, after):
        assert surfaces.apply(message, owner="peer:1") == []
    (change,) = surfaces.flush()
    return after, change.ops


def test_of_a_patch_only_what_moved_is_drawn_again() -> None:
    document = normalise(DOCUMENT).document
    surfaces, at = drawn(document), "/components"

    op = {"op": "replace", "path": f"{at}/3/props/rows/0/1", "value": "9"}
    document, cell = patched(surfaces, document, op)
    assert [(kind, text) for kind, _, text in cell] == [("t", "9")]
    op = {"op": "add", "path": f"{at}/2/props/items/-", "value": "three"}
    document, item = patched(surfaces, document, op)
    assert len(item) == 1 and "three" in item[0][-1]
    op = {"op": "replace", "path": f"{at}/0/props/value", "value": "After"}
    document, word = patched(surfaces, document, op)
    assert len(word) == 1 and "After" in str(word)


@pytest.mark.parametrize(
    "ops",
    [
        [{"op": "remove", "path": "/components/3"}],
        [
            {
                "op": "add",
                "path": "/components/0",
                "value": {"id": "new", "type": "text", "props": {"value": "First"}},
            }
        ],
        [{"op": "replace", "path": "/components/4/props/fields/0/defaultValue", "value": "b@example.com"}],
        [{"op": "replace", "path": "/components/5/props/series/1/value", "value": 14}],
        [{"op": "replace", "path": "/components", "value": []}],
        [{"op": "remove", "path": "/experimental"}],
        [{"op": "replace", "path": "/components/3/props/columns", "value": ["Only"]}],
        [{"op": "replace", "path": "/components/0/props/tone", "value": "critical"}],
    ],
)
def test_a_patched_surface_is_what_a_new_one_would_be(ops: list[Any]) -> None:
    document = normalise(DOCUMENT).document
    surfaces = drawn(document)
    after, _ = patched(surfaces, document, *ops)

    assert words(html(surfaces, after["surface"])) == words(html(drawn(after), after["surface"]))


def words(page: str) -> str:
    """Without ids: those of an old component are not those of a new one."""
    return re.sub(r'(id|for|name|aria-\w+)="[^"]*"', "", page)
