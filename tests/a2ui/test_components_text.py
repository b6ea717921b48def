"""Text, Image, Icon, Divider, media: what they render to."""

from __future__ import annotations

import pytest

from a2ui import Limits
from a2ui.catalog.icons import NAMES, NEUTRAL, drawing
from tests.a2ui.programs import data, ops, path, row, surface


def html(*rows, model=None, **options):
    """The inside of the surface."""
    _, only = surface(*rows, model=model, **options)
    return only.html().removeprefix('<div id="a1" class="a2-surface">').removesuffix("</div>")


class TestText:
    @pytest.mark.parametrize(
        ("value", "inside"),
        [
            ("plain & <simple>", "plain &amp; &lt;simple&gt;"),
            ("", ""),
            (5, "5"),
            (True, "true"),
            (2.0, "2"),
            ([1, "x"], "<p>[1,&quot;x&quot;]</p>\n"),
            ("**b**", "<p><strong>b</strong></p>\n"),
            ("Hello ${/name}", "Hello ${/name}"),
            ("a\u202eb", "ab"),
        ],
    )
    def test_body(self, value, inside):
        assert html(row("root", "Text", text=value)) == f'<div id="a1-0" class="a2-t">{inside}</div>'

    @pytest.mark.parametrize("level", range(1, 6))
    def test_headings(self, level):
        expected = f'<h3 id="a1-0" class="a2-h a2-h{level}"><em>x</em></h3>'

        assert html(row("root", "Text", text="# *x*", variant=f"h{level}")) == expected

    @pytest.mark.parametrize("level", range(1, 7))
    def test_a_heading_in_markdown_looks_like_the_variant_and_has_the_level_of_all(self, level):
        expected = f'<h3 class="a2-h a2-h{min(level, 5)}"><em>x</em></h3>\n<p>y</p>\n'

        found = html(row("root", "Text", text=f"{'#' * level} *x*\n\ny"))

        assert found == f'<div id="a1-0" class="a2-t">{expected}</div>'

    def test_a_heading_without_words_is_none(self):
        assert html(row("root", "Text", text="## \n\ny")) == '<div id="a1-0" class="a2-t"><p>y</p>\n</div>'

    def test_tags_that_a_text_spells_are_no_headings(self):
        assert "&lt;h1&gt;" in html(row("root", "Text", text="*a* <h1>b</h1>"))

    def test_caption(self):
        expected = '<div id="a1-0" class="a2-t a2-t--caption">x</div>'

        assert html(row("root", "Text", text="x", variant="caption")) == expected

    def test_accessibility(self):
        label = {"label": path("/l"), "description": "d"}

        found = html(row("root", "Text", text="x", accessibility=label), model={"l": '"L"'})

        assert ' aria-label="&quot;L&quot;" aria-description="d">x' in found

    def test_a_new_label_repaints(self):
        surfaces, _ = surface(
            row("root", "Text", text="x", accessibility={"label": path("/l")}), model={"l": "a"}
        )

        surfaces.apply(data("b", "/l"))

        assert ops(surfaces) == [
            ["r", "a1-0", '<div id="a1-0" class="a2-t" role="group" aria-label="b">x</div>']
        ]

    def test_too_long_for_markdown_is_plain_with_a_notice(self):
        surfaces, only = surface(row("root", "Text", text="**x** " * 5), limits=Limits(markdown_chars=20))

        assert "<strong>" not in only.html()
        assert "without formatting" in only.html()
        assert [problem.code for problem in surfaces.diagnostics()] == ["budget_exceeded"]

    def test_far_too_long_is_cut_with_a_notice(self):
        found = html(row("root", "Text", text="x" * 99), limits=Limits(markdown_chars=20, text_chars=30))

        assert "x" * 30 in found
        assert "x" * 31 not in found
        assert "left out" in found

    @pytest.mark.parametrize(
        ("weight", "name"),
        [
            (1, "1"),
            (2.0, "2"),
            (1.25, "1_2"),
            (0.04, "0_1"),
            (60, "60"),
            (1000, "100"),
            (0, "0"),
            (-3, "0"),
            (12.5, "12"),
        ],
    )
    def test_weights_are_classes(self, weight, name):
        found = html(row("root", "Row", children=["t"]), row("t", "Text", text="x", weight=weight))

        assert f'class="a2-t a2-w-{name}"' in found

    def test_a_weight_elsewhere_means_nothing(self):
        assert "a2-w-" not in html(row("root", "Card", child="t"), row("t", "Text", text="x", weight=2))


class TestImage:
    @pytest.mark.parametrize(
        "url", ["/a.png", "https://img.example/a.png", "data:image/png;base64,iVBORw0KGgo="]
    )
    def test_allowed(self, url):
        found = html(
            row("root", "Image", url=url, description="A & B"), image_hosts=frozenset({"img.example"})
        )

        assert f'src="{url}" alt="A &amp; B"' in found
        assert 'loading="lazy"' in found
        assert 'referrerpolicy="no-referrer"' in found

    @pytest.mark.parametrize("url", ["https://other.example/a.png", "javascript:x", "", 5, path("/nope")])
    def test_a_placeholder_for_any_other(self, url):
        found = html(row("root", "Image", url=url, description="A beach"))

        assert "<img" not in found
        assert 'role="img" aria-label="A beach"' in found
        assert "<span>A beach</span>" in found

    def test_decorative(self):
        assert 'alt=""' in html(row("root", "Image", url="/a.png"))
        assert 'aria-hidden="true"' in html(row("root", "Image", url="x:"))

    def test_variant_and_fit_are_classes(self):
        found = html(row("root", "Image", url="/a.png", variant="avatar", fit="cover"))

        assert 'class="a2-img a2-img--avatar a2-fit-cover"' in found
        assert 'width="40" height="40"' in found


class TestIcon:
    def test_all_names_have_a_drawing(self):
        assert len(NAMES) == 59
        assert all(drawing(name) not in ("", NEUTRAL) for name in NAMES)

    def test_decorative_unless_labelled(self):
        assert 'aria-hidden="true"' in html(row("root", "Icon", name="mail"))
        assert 'role="img" aria-label="Post"' in html(
            row("root", "Icon", name="mail", accessibility={"label": "Post"})
        )

    @pytest.mark.parametrize(
        "name", ["nope", "", path("/i"), {"svgPath": "M0 0<script>"}, {"svgPath": ""}, 5]
    )
    def test_unknown(self, name):
        assert NEUTRAL in html(row("root", "Icon", name=name))

    def test_a_path(self):
        found = html(row("root", "Icon", name={"svgPath": "M12 2 2 22h20z"}))

        assert '<path fill="currentColor" stroke="none" d="M12 2 2 22h20z"/>' in found

    def test_a_binding(self):
        assert drawing("mail") in html(row("root", "Icon", name=path("/i")), model={"i": "mail"})

    def test_alone_in_a_button_it_has_a_name(self):
        rows = (
            row("root", "Button", child="i", action={"event": {"name": "x"}}),
            row("i", "Icon", name="shoppingCart"),
        )

        assert 'role="img" aria-label="shopping cart"' in html(*rows)


class TestOthers:
    def test_divider(self):
        assert html(row("root", "Divider")) == '<hr id="a1-0" class="a2-divider">'
        assert 'aria-orientation="vertical"' in html(row("root", "Divider", axis="vertical"))

    def test_video(self):
        found = html(row("root", "Video", url="/v.mp4"))

        assert '<video class="a2-video" controls preload="metadata" src="/v.mp4" aria-label="Video">' in found

    def test_audio(self):
        found = html(row("root", "AudioPlayer", url="/a.mp3", description="Episode 3"))

        assert '<figcaption class="a2-label">Episode 3</figcaption>' in found
        assert '<audio class="a2-audio" controls preload="none" src="/a.mp3" aria-label="Episode 3">' in found

    @pytest.mark.parametrize("kind", ["Video", "AudioPlayer"])
    def test_media_from_elsewhere(self, kind):
        found = html(row("root", kind, url="https://x.example/a"))

        assert "src=" not in found
        assert "not allowed here" in found
