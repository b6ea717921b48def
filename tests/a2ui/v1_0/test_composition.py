"""Which components may stand in which (section 5 of the reading of 1.0)."""

from __future__ import annotations

import pytest

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.programs.tree import tree
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import Note, fed, made, said


class Header(Note):
    """Stands in columns only."""

    name = "Header"
    allowed_parents = frozenset({"Column"})


class Box(type(BASIC_CATALOG_1_0.components["Column"])):
    """Holds texts only."""

    name = "Box"
    allowed_children = frozenset({"Text"})


RULED = BASIC_CATALOG_1_0.extended("urn:ruled", components=[Header(), Box()])


class TestComposition:
    def fed(self, *rows, **options):
        message = made(*rows)
        message["createSurface"]["catalogId"] = "urn:ruled"
        return fed(message, catalogs=(RULED,), **options)

    @pytest.mark.parametrize(
        ("rows", "code", "path"),
        [
            (
                [row("root", "Row", children=["a"]), row("a", "Header", text="x")],
                "UNALLOWED_PARENT",
                "/components/1",
            ),
            ([row("root", "Header", text="x")], "UNALLOWED_PARENT", "/components/0"),
            (
                [
                    row("root", "Box", children=["t", "a"]),
                    row("t", "Text", text="ok"),
                    row("a", "Image", url="/x", description="pic"),
                ],
                "UNALLOWED_CHILD",
                "/components/0/children/1",
            ),
            (
                [
                    row("root", "Box", children={"componentId": "a", "path": "/items"}),
                    row("a", "Image", url="/x"),
                ],
                "UNALLOWED_CHILD",
                "/components/0/children",
            ),
        ],
    )
    def test_a_breach_is_left_out_and_the_rest_stays(self, rows, code, path):
        surfaces, (problem,) = self.fed(*rows)
        assert (problem.code, problem.path, problem.refused) == (code, path, False)

        html = surfaces.flush()[0].html
        assert "pic" not in html
        assert ("ok" in html) is any(one["id"] == "t" for one in rows)
        _, problems = self.fed(*rows, strict=True)
        assert (code, True) in [(one.code, one.refused) for one in problems]

    def test_what_has_no_parent_is_not_judged(self):
        _, problems = self.fed(row("root", "Text", text="x"), row("a", "Header", text="x"))
        assert not problems

    def test_a_parent_of_another_type_makes_it_right(self):
        surfaces, problems = self.fed(row("root", "Row", children=["a"]), row("a", "Header", text="here"))
        page = Page()
        page.apply_changes(surfaces.flush())
        assert len(problems) == 1
        assert "here" not in page.markup

        assert not surfaces.apply(
            said("updateComponents", components=[row("root", "Column", children=["a"])])
        )
        page.apply_changes(surfaces.flush())
        assert "here" in page.markup
        assert page.markup == shown(surfaces)

        (problem,) = surfaces.apply(said("updateComponents", components=[row("root", "Row", children=["a"])]))
        page.apply_changes(surfaces.flush())
        assert (problem.code, problem.path) == ("UNALLOWED_PARENT", "/components/0/children/0")
        assert "here" not in page.markup
        assert page.markup == shown(surfaces)

    def test_the_tree_leaves_out_what_the_page_does(self):
        def states(*rows):
            surfaces, _ = self.fed(*rows)
            return {one["id"]: one["state"] for one in tree(surfaces.get("", "s"))["nodes"]}

        header = row("a", "Header", text="here")
        assert states(row("root", "Row", children=["a"]), header) == {"root": "ok", "a": "unallowed"}
        assert states(row("root", "Column", children=["a"]), header) == {"root": "ok", "a": "ok"}
        assert states(row("root", "Header", text="x")) == {"root": "unallowed"}
        box = row("b", "Box", children=["a", "c"])
        assert states(row("root", "Column", children=["b"]), box, header, row("c", "Text", text="x")) == {
            "root": "ok", "b": "ok", "a": "unallowed", "c": "ok",
        }  # fmt: skip
