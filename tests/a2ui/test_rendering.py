"""Stage three: the surface as a whole, limits of what is shown, and HTML that fits the fragments."""

from __future__ import annotations

import re

import pytest

from a2ui import Limits
from tests.a2ui.programs import components, create, data, message, ops, path, row, run, surface


class TestSurface:
    def test_without_root_it_shows_that_it_loads(self):
        (change,) = run(create()).flush()

        assert change.kind == "created"
        assert change.html.startswith(
            '<div id="a1" class="a2-surface"><div id="a1-0" class="a2-skel" role="status"'
        )

    @pytest.mark.parametrize(("colour", "ink"), [("#ffe000", "black"), ("#0b2a4a", "white")])
    def test_theme(self, colour, ink):
        html = run(create(theme={"primaryColor": colour})).flush()[0].html

        assert f'data-theme-primary="{colour}" data-theme-on="{ink}"' in html

    def test_a_second_flush_is_empty(self):
        surfaces, _ = surface(row("root", "Text", text=path("/a")))
        surfaces.apply(data(1, "/a"))

        assert ops(surfaces)
        assert surfaces.flush() == []

    def test_created_and_changed_in_one_batch_is_created(self):
        surfaces = run(
            create(), components(row("root", "Text", text=path("/a"))), data(1, "/a"), data(2, "/a")
        )

        (change,) = surfaces.flush()

        assert (change.kind, change.ops) == ("created", [])
        assert ">2</div>" in change.html

    def test_html_in_between_takes_nothing_away_from_the_fragments(self):
        surfaces, only = surface(row("root", "Column", children=["t"]), row("t", "Text", text=path("/a")))
        surfaces.apply(data(1, "/a"))

        assert ">1</div>" in only.html()
        assert ops(surfaces) == [["t", "a1-1", "1"]]

    def test_surfaces_in_the_order_of_their_making(self):
        surfaces = run(create("b"), create("a"), message("deleteSurface", "b"), create("b"))

        assert [change.surface_id for change in surfaces.flush()] == ["a", "b"]


class TestLimits:
    def test_depth(self):
        rows = [row(f"c{n}" if n else "root", "Card", child=f"c{n + 1}") for n in range(20)]
        surfaces, only = surface(*rows, limits=Limits(depth=5))

        assert only.html().count("a2-card") == 5
        assert "The rest is not shown: too many levels." in only.html()
        assert [(p.code, p.facts["limit"]) for p in surfaces.diagnostics()] == [("budget_exceeded", "depth")]

    def test_instances(self):
        rows = [row("root", "Column", children=["a", "a"]), row("a", "Column", children=["b", "b"])]
        rows += [row("b", "Column", children=["c", "c"]), row("c", "Text", text="x")]
        surfaces, only = surface(*rows, limits=Limits(instances=9))

        assert only.html().count(">x<") < 8
        assert "too many elements" in only.html()
        assert [p.facts["limit"] for p in surfaces.diagnostics()] == ["instances"]

    def test_items_of_nested_lists_share_what_is_left(self):
        rows = [
            row("root", "List", children={"componentId": "l", "path": "/l"}),
            row("l", "List", children={"componentId": "t", "path": "/l"}),
            row("t", "Text", text="x"),
        ]
        surfaces, only = surface(*rows, model={"l": list(range(30))}, limits=Limits(instances=100))

        assert len(re.findall(r' id="', only.html())) < 200
        surfaces.apply(data([], "/l"))
        surfaces.flush()
        surfaces.apply(data([1, 2], "/l"))
        surfaces.flush()
        assert only.html().count(">x<") == 4


def test_no_style_no_script_no_handlers():
    rows = [
        row("root", "Column", children=["t", "f", "b", "i"]),
        row("t", "Text", text="[a](https://example.org) `style=x`"),
        row("f", "TextField", label="onclick=x", value=path("/v")),
        row("b", "Button", child="t", action={"event": {"name": "<script>"}}),
        row("i", "Image", url="/x.png", description="style="),
    ]
    _, only = surface(*rows)
    tags = re.sub(r'"[^"]*"', '""', "".join(re.findall(r"<[^>]*>", only.html())))

    assert not re.search(r"\b(style|on\w+)=|<script|javascript:", tags)
