"""``plain`` makes Markdown show a text as it is (D21)."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui.compose import plain
from a2ui.safety import markdown
from a2ui.safety.text import clean_text
from tests.a2ui.strategies import FUZZ

MARKS = "\\*_[]()<>&~`#+-=|:!.1 2\n\ta'\"{}$^/@;,?"


def seen(text: str, *, inline: bool) -> str:
    """What a person reads, with the lines as they are."""
    found = markdown.render(plain(text), inline=inline).html
    found = re.sub(r"<br>\n?|</p>\n<p>", "\n", found)
    left = re.sub(r"</?p>", "", found)
    assert "<" not in left, left
    return html.unescape(left)


def words(text: str) -> str:
    return re.sub(r"\s+", " ", clean_text(text)).strip()


@settings(max_examples=200 * FUZZ)
@given(st.text(MARKS, max_size=30), st.booleans())
def test_nothing_is_read_as_markdown(text: str, inline: bool) -> None:
    assert words(seen(text, inline=inline)) == words(text)


@pytest.mark.parametrize(
    "text",
    [
        "**bold**", "# heading", "- item", "1. item", "1) item", "> quote", "a\n---", "a\n===", "a | b\n:- | -:",
        "a|\n:-", "[a](https://x.example)", "<https://x.example>", "&amp;", "`code`", "~~~\ncode", "    code",
        "\tcode", "a\\", "a\\\nb", "***", "![a](b)", "[a]: b", "a  \nb", "~~a~~",
    ],
)  # fmt: skip
def test_each_mark_is_shown(text: str) -> None:
    assert words(seen(text, inline=False)) == words(text)


def test_lines_stay_lines() -> None:
    assert markdown.render(plain("a\nb\n\nc")).html == "<p>a<br>\nb</p>\n<p>c</p>\n"
    assert markdown.render(plain("a\r\nb"), inline=True).html == "a<br>\nb"
    assert plain("Corfu, at 06:15!") == "Corfu, at 06:15!"
