"""The Basic Catalog 1.0, property by property (section 8 of the reading)."""

from __future__ import annotations

from a2ui.catalog.basic import BASIC_CATALOG
from tests.a2ui.programs import row
from tests.a2ui.v1_0.messages import fed, made


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
