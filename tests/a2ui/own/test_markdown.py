"""Long texts."""

from __future__ import annotations

import pytest

from a2ui import Limits
from tests.a2ui.own import html, made, ops
from tests.a2ui.programs import data, path, row


@pytest.mark.parametrize("version", ["0.9", "1.0"])
def test_headings_keep_their_order_below_those_of_the_page(version):
    page = html(row("root", "Markdown", text="# One\n\n## Two\n\n###### Six"), version=version)

    assert '<h3 class="a2-h a2-h1">One</h3>' in page
    assert '<h4 class="a2-h a2-h2">Two</h4>' in page
    assert '<h6 class="a2-h a2-h5">Six</h6>' in page


def test_a_text_that_is_too_long_for_a_text_is_read_and_one_that_is_too_long_is_shown_plain():
    words = "**word** and more\n\n"
    assert "<strong>" in html(row("root", "Markdown", text=words * 100), limits=Limits(markdown_chars=500))
    surfaces = made(row("root", "Markdown", text=words * 100), limits=Limits(long_markdown_chars=500))
    (change,) = surfaces.flush()

    assert "<strong>" not in change.html
    assert "This text is too long: it is shown without formatting." in change.html
    assert [problem.facts["limit"] for problem in surfaces.diagnostics()] == ["long_markdown_chars"]


@pytest.mark.parametrize(
    ("text", "limits", "limit"),
    [
        ("*a* " * 50, Limits(long_markdown_marks=20), "long_markdown_marks"),
        ("*a* " * 50, Limits(markdown_work=20), "markdown_work"),
        ("a" * 3_000, Limits(html_chars=2_000), "html_chars"),
        ("a" * 3_000, Limits(text_chars=2_000), "text_chars"),
    ],
)
def test_each_limit_says_so(text, limits, limit):
    surfaces = made(row("root", "Markdown", text=text), limits=limits)
    (change,) = surfaces.flush()

    assert '<small class="a2-note">' in change.html
    assert [problem.facts["limit"] for problem in surfaces.diagnostics()] == [limit]


def test_it_follows_the_data():
    surfaces = made(row("root", "Markdown", text=path("/t")), model={"t": "one"})
    surfaces.flush()
    surfaces.apply(data("*two*", "/t"))

    ((letter, _, markup),) = ops(surfaces)
    assert letter == "r"
    assert "<em>two</em>" in markup


def test_in_a_button_it_has_no_links():
    page = html(
        row("root", "Button", child="t", action={"event": {"name": "go"}}),
        row("t", "Markdown", text="[a](https://a.example)"),
    )

    assert "<a " not in page
    assert '<span id="a1-1"' in page
