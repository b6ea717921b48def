"""The Basic Catalog 1.0, property by property (section 8 of the reading)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2ui import Engine
from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.catalog.basic import text as drawn_text
from a2ui.catalog.kinds import ENUM_VALUES
from a2ui.programs.checking import check
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import TEXT, fed, made, node
from tests.shared import SHARED, needs_shared


class TestProperties:
    def test_those_that_1_0_has_more(self):
        surfaces, problems = fed(
            made(
                row("root", "Column", children=["f", "v", "s"]),
                row("f", "TextField", label="L", placeholder={"@path": "/p"}),
                row("v", "Video", url="https://x.example/v.mp4", posterUrl="https://x.example/p.png"),
                row("s", "Slider", label="S", value={"@path": "/n"}, min=0, max=10, steps=4),
                dataModel={"p": 'Type "here"', "n": 3},
            ),
            image_hosts=frozenset({"x.example"}),
        )
        html = surfaces.flush()[0].html

        assert not problems
        assert 'placeholder="Type &quot;here&quot;"' in html
        assert 'poster="https://x.example/p.png"' in html
        assert 'step="2.5" value="3"' in html
        assert surfaces.edit("a1-3", 4).ops[0]["value"] == 5

    def test_0_9_does_not_have_them(self):
        _, problems = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateComponents": {
                "surfaceId": "s", "components": [row("root", "TextField", label="L", placeholder="P")],
            }},
        )  # fmt: skip

        assert [one.path for one in problems] == ["/components/0/placeholder"]


def one(component, **props):
    """The HTML of a component, and what is wrong with it."""
    surfaces, problems = fed(
        made(row("root", component, **props), TEXT, row("c", "Text", text="In"), dataModel=MODEL),
        image_hosts=frozenset({"x.example"}),
    )
    return surfaces.get("", "s").html(), problems


ACT = {"event": {"name": "go"}}
MODEL = {"d": "M0 0h24v24H0z", "n": 3, "v": "", "l": [], "items": [1]}
BOUND = {"@path": "/v"}
AT_LEAST: dict[str, dict[str, Any]] = {
    "Text": {"text": "x"},
    "Image": {"url": "/x.png"},
    "Icon": {"name": "star"},
    "Video": {"url": "/x.mp4"},
    "AudioPlayer": {"url": "/x.mp3"},
    "Row": {"children": ["t"]},
    "Column": {"children": ["t"]},
    "List": {"children": ["t"]},
    "Card": {"child": "t"},
    "Tabs": {"tabs": [{"title": "A", "child": "t"}]},
    "Modal": {"trigger": "t", "content": "c"},
    "Divider": {},
    "Button": {"child": "t", "action": ACT},
    "TextField": {"label": "L", "value": BOUND},
    "CheckBox": {"label": "L", "value": BOUND},
    "ChoicePicker": {"options": [{"label": "A", "value": "a"}], "value": {"@path": "/l"}},
    "Slider": {"max": 10, "value": {"@path": "/n"}},
    "DateTimeInput": {"value": BOUND},
}
"""What each component needs."""
OTHER: dict[str, list[tuple[str, Any]]] = {
    "Text": [("text", "y"), ("variant", "caption")],
    "Image": [
        ("url", "/y.png"), ("description", "A beach"),
        *[("fit", fit) for fit in ("contain", "cover", "none", "scaleDown")],
        *[("variant", size) for size in ("icon", "avatar", "smallFeature", "largeFeature", "header")],
    ],
    "Icon": [("name", "home"), ("name", {"svgPath": "M0 0h1"}), ("name", {"svgPath": {"@path": "/d"}})],
    "Video": [("url", "/y.mp4"), ("posterUrl", "/p.png")],
    "AudioPlayer": [("url", "/y.mp3"), ("description", "A song")],
    "Row": [
        ("children", {"componentId": "t", "path": "/items"}),
        *[("justify", how) for how in ("center", "end", "spaceAround", "spaceBetween", "spaceEvenly", "stretch")],
        *[("align", how) for how in ("start", "center", "end")],
    ],
    "Column": [("children", ["c"]), ("justify", "center"), ("align", "end")],
    "List": [("children", ["c"]), ("direction", "horizontal"), ("align", "center")],
    "Card": [("child", "c")],
    "Tabs": [("tabs", [{"title": "B", "child": "t"}])],
    "Modal": [("trigger", "c"), ("content", "t")],
    "Divider": [("axis", "vertical")],
    "Button": [
        ("child", "c"), ("variant", "primary"), ("variant", "borderless"),
        ("@checks", [{"condition": {"@path": "/no"}}]),
    ],
    "TextField": [
        ("label", "M"), ("value", "set"), ("placeholder", "P"), ("variant", "longText"), ("variant", "number"),
        ("variant", "obscured"), ("@checks", [{"condition": {"@path": "/no"}}]),
    ],
    "CheckBox": [("label", "M"), ("value", True), ("@checks", [{"condition": {"@path": "/no"}}])],
    "ChoicePicker": [
        ("label", "M"), ("options", []), ("value", ["a"]), ("variant", "multipleSelection"), ("displayStyle", "chips"),
        ("filterable", True), ("@checks", [{"condition": {"@path": "/no"}}]),
    ],
    "Slider": [
        ("label", "M"), ("min", 1), ("max", 20), ("value", 5), ("steps", 4),
        ("@checks", [{"condition": {"@path": "/no"}}]),
    ],
    "DateTimeInput": [
        ("label", "M"), ("value", "2026-01-01"), ("min", "2026-01-01"), ("max", "2026-12-31"), ("enableDate", True),
        ("enableTime", True), ("@checks", [{"condition": {"@path": "/no"}}]),
    ],
}  # fmt: skip
"""Values beside those, each of which shows."""


class TestEveryProperty:
    @pytest.mark.parametrize(
        ("kind", "name", "value"), [(k, *other) for k, others in OTHER.items() for other in others]
    )
    def test_it_shows(self, kind, name, value):
        html, problems = one(component=kind, **AT_LEAST[kind])
        changed, found = one(component=kind, **{**AT_LEAST[kind], name: value})

        assert not problems
        assert not found
        assert changed != html

    @pytest.mark.parametrize("kind", AT_LEAST)
    def test_weight_counts_in_a_row(self, kind):
        surfaces, problems = fed(
            made(
                row("root", "Row", children=["w"]), row("w", kind, **AT_LEAST[kind], weight=2), TEXT,
                row("c", "Text", text="In"), dataModel=MODEL,
            )
        )  # fmt: skip

        assert not problems
        assert "a2-w-2" in surfaces.get("", "s").html()

    @pytest.mark.parametrize("kind", AT_LEAST)
    def test_what_it_needs_is_asked_for(self, kind):
        for name in AT_LEAST[kind].keys() & BASIC_CATALOG_1_0.components[kind].required:
            _, problems = one(component=kind, **{k: v for k, v in AT_LEAST[kind].items() if k != name})
            assert [one.path for one in problems] == [f"/components/0/{name}"]

    @needs_shared
    def test_none_of_the_catalogs_is_forgotten_and_none_is_ours_alone(self):
        assert SHARED is not None
        file = SHARED / "spec/a2ui/specification/v1_0/derived_1.0/catalogs/basic/catalog.json"
        official = json.loads(file.read_text(encoding="utf-8"))["components"]
        assert official.keys() == AT_LEAST.keys() == BASIC_CATALOG_1_0.components.keys()
        for kind, schema in official.items():
            # Components that can be checked are put together from two schemas.
            parts = [schema, *schema.get("allOf", [])]
            properties = {
                name: shape
                for part in parts
                for name, shape in part.get("properties", {}).items()
                if name != "component"
            }
            required = {name for part in parts for name in part.get("required", ()) if name != "component"}
            ours = BASIC_CATALOG_1_0.components[kind]
            tried = {*AT_LEAST[kind], *[name for name, _ in OTHER[kind]], "weight"} - {"@checks"}
            older = {"validationRegexp"} if kind == "TextField" else set()
            assert tried == properties.keys()
            assert ours.kinds.keys() - {"accessibility", "checks"} - older == properties.keys()
            assert ours.required == required
            for name, shape in properties.items():
                if "enum" in shape:
                    assert set(ENUM_VALUES[ours.kinds[name]]) == set(shape["enum"])


class TestIconOutlines:
    def test_a_bound_outline_follows_the_data_and_is_checked(self):
        icon = row("root", "Icon", name={"svgPath": {"@path": "/d"}})
        surfaces, problems = fed(made(icon, dataModel=MODEL))
        page = Page()
        page.apply_changes(surfaces.flush())
        assert not problems
        assert 'd="M0 0h24v24H0z"' in page.markup

        for outline, drawn in (("M1 1", True), ('"><script>', False), (None, False), ({"a": 1}, False)):
            surfaces.patch("", "s", [{"op": "replace", "path": "/d", "value": outline}])
            page.apply_changes(surfaces.flush())
            assert ('d="M1 1"' in page.markup) is drawn
            assert "script" not in page.markup
            assert page.markup == shown(surfaces)

    def test_the_tree_has_it(self):
        surfaces, _ = fed(made(row("root", "Icon", name={"svgPath": {"@path": "/d"}}), dataModel=MODEL))

        assert node(surfaces, "root")["props"]["name"] == {"svgPath": MODEL["d"]}

    def test_0_9_takes_a_literal_one_only(self):
        _, problems = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateComponents": {
                "surfaceId": "s", "components": [row("root", "Icon", name={"svgPath": {"path": "/d"}})],
            }},
        )  # fmt: skip

        assert [one.path for one in problems] == ["/components/0/name/svgPath"]


class TestHeadings:
    @pytest.mark.parametrize("level", range(1, 6))
    def test_markdown_and_the_variants_of_0_9_look_the_same_and_outrank_nothing(self, level):
        written, problems = one(component="Text", text=f"{'#' * level} Title")
        assert not problems
        assert f'<h3 class="a2-h a2-h{level}">Title</h3>' in written

        older, (problem,) = one(component="Text", text="Title", variant=f"h{level}")
        assert f'<h3 id="a1-0" class="a2-h a2-h{level}">Title</h3>' in older
        assert (problem.code, problem.path, problem.refused) == ("DEPRECATED", "/components/0/variant", False)
        assert f"`{'#' * level} `" in problem.message

    def test_strict_mode_refuses_the_variants(self):
        _, problems = fed(made(row("root", "Text", text="x", variant="h1")), strict=True)

        assert {(problem.path, problem.refused) for problem in problems} == {("/components/0/variant", True)}

    @pytest.mark.parametrize(
        "text",
        [
            "# Title", "##### A & <b>", "###### Six", "#Title", "#", "# ", "#  Two", "# C#", "# Closed #", "# 1. One",
            "# *x*", "# a\nb", "# a\n\nb", "## Trailing ", "# - dash", "#\tTab", "# https://x.example", "# a\u202eb",
        ],
    )  # fmt: skip
    def test_the_short_way_to_one_gives_what_markdown_gives(self, monkeypatch, text):
        short, _ = one(component="Text", text=text)
        monkeypatch.setattr(drawn_text, "_plain_heading", lambda shown: "")

        assert short == one(component="Text", text=text)[0]

    def test_one_without_words_is_left_out(self):
        html, _ = one(component="Text", text="#\n\nA *line*")

        assert "<h3" not in html
        assert "<em>line</em>" in html

    def test_what_only_looks_like_one_is_text(self):
        html, _ = one(component="Text", text="a <h1>b</h1> # c")

        assert "&lt;h1&gt;b" in html
        assert "<h3" not in html


class TestDeprecated:
    def test_a_checker_warns_of_it_and_fails_only_where_it_is_strict(self):
        program = [made(row("root", "Text", text="x", variant="h1"))]

        assert [(one.severity, one.diagnostic.code) for one in check(Engine(), program)] == [
            ("warning", "DEPRECATED")
        ]
        assert [one.severity for one in check(Engine(), program, strict=True)] == ["error"]

    def test_a_pattern_counts_and_is_told(self):
        field = row("root", "TextField", label="L", value={"@path": "/v"}, validationRegexp="^a")
        surfaces, (problem,) = fed(made(field, dataModel={"v": "b"}))

        assert (problem.code, problem.path) == ("DEPRECATED", "/components/0/validationRegexp")
        assert "regex" in problem.message
        assert 'aria-invalid="true"' in surfaces.get("", "s").html()
        assert all(one.refused for one in fed(made(field), strict=True)[1])

    def test_0_9_says_nothing_of_either(self):
        rows = [
            row("root", "TextField", label="L", value={"path": "/v"}, validationRegexp="^a"),
            row("a", "Text", text="x", variant="h1"),
        ]
        _, problems = fed(
            {"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": BASIC_CATALOG.id}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}},
        )

        assert not problems


class TestOpenUrl:
    URL = {"@call": "openUrl", "args": {"url": "https://x.example/"}}

    def test_it_runs_for_a_click(self):
        surfaces, problems = fed(
            made(row("root", "Button", child="t", action={"functionCall": self.URL}), TEXT)
        )
        surfaces.flush()

        assert not problems
        assert surfaces.act("a1-0").url == "https://x.example/"

    def test_it_runs_for_nothing_else(self):
        surfaces, _ = fed(made(row("root", "Text", text=self.URL)))
        surfaces.flush()

        assert [one.code for one in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]
