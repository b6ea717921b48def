"""Markdown while it is written: what is drawn is always what a finished text up to there would be."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2ui.safety import markdown
from a2ui.safety.streamed_markdown import AHEAD, READINGS, StreamedMarkdown
from tests.a2ui.test_markdown import PATHOLOGICAL
from tests.shared import caselib, needs_shared, xss_payloads

PIECES = [
    "#", ">", "*", "**", "_", "`", "[", "](", ")", "!", "<", "&", "|", "~~", "\\", "|", "-", "===", "---", "a",
    "1.", "é", "[a]", "[a][b]", "<b>", "&#7;",
    " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\n\n", "- ", "- x\n", "+ y\n", "- x\n\n", "  - z\n", "   text\n",
    "1. one\n", "2. two\n\n", "7) seven\n", "   - n\n", "```", "```\n", "  ```\n", "~~~~\n", "code\n", "> q\n",
    "para **b**\n\n", "[a]: /x\n", '[b]: http://b.c "t', '"title"\n', "[b]:\n", "| a | b |\n|---|:-:|\n", "| c | d |\n",
    "- some words\n", '- more\n- "of" it\n', "1. one\n2. two\n", "some words\n", "## Head\n\n", "```\nx < y\n```\n\n",
    "| c | some words |\n", "| a | b |\n| :-- | --: |\n| c | d |\n", "| e |\n", "\n## Head\n", "- a | b\n",
    "- \u200b# x\n",
    "# h\n", "x\n", "===\n", "http://a.b <http://a.b>", "\u200b", "👩\u200d💻", "\n\n", "\n\n",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=26).map("".join)
CUTS = st.lists(st.integers(1, 9), max_size=40)


def pieces(text: str, sizes: list[int]) -> list[str]:
    found, at = [], 0
    for size in sizes:
        found.append(text[at : at + size])
        at += size
    return [*found, text[at:]]


def same(html: str) -> str:
    """Two ways of writing a quotation mark, by the sanitiser and without it."""
    return html.replace("&quot;", '"')


def check(stream: StreamedMarkdown, text: str) -> None:
    finished = markdown.render(text[: stream.closed])
    assert not finished.cut
    assert same("".join(stream.blocks)) == same(finished.html)
    assert stream.plain or text[stream.closed :] == stream.tail


@settings(max_examples=50, deadline=None)
@given(TEXTS, CUTS)
def test_p13_what_is_drawn_is_at_any_time_what_a_finished_text_would_be(text: str, sizes: list[int]) -> None:
    stream, come, closed = StreamedMarkdown(), "", 0
    drawn: dict[int, str] = {}
    for piece in pieces(text, sizes):
        come += piece
        drawn.update(stream.feed(piece))
        check(stream, come)
        assert stream.closed >= closed
        closed = stream.closed
        assert [drawn[at] for at in sorted(drawn)] == stream.blocks


@settings(max_examples=25, deadline=None)
@given(TEXTS, CUTS)
def test_p13_whoever_joins_in_the_middle_gets_to_the_same_picture(text: str, sizes: list[int]) -> None:
    *before, last = pieces(text, sizes)
    stayed, joined = StreamedMarkdown(), StreamedMarkdown()
    for piece in before:
        stayed.feed(piece)
    joined.feed("".join(before))
    assert (joined.blocks, joined.closed) == (stayed.blocks, stayed.closed)
    for one in (stayed, joined):
        one.feed(last)
    assert (joined.blocks, joined.closed) == (stayed.blocks, stayed.closed)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Some **bo", ""),
        ("Some **bold**\n", ""),
        ("Some **bold**\n\n", "<p>Some <strong>bold</strong></p>\n"),
        ("# Head", ""),
        ("# Head\n", "<h1>Head</h1>\n"),
        ("# a | b\n", ""),
        ("- one\n", ""),
        ("- one\n-", ""),
        ("- one\n- t", "<ul>\n<li>one</li>\n</ul>\n"),
        ("- one\n- two\n", "<ul>\n<li>one</li>\n</ul>\n"),
        ("3. one\n4. two\n", '<ol start="3">\n<li>one</li>\n</ol>\n'),
        ("- one\n  - two\n", "<ul>\n<li>one</li>\n</ul>\n"),
        ("- one\n  - two\n  - three\n", "<ul>\n<li>one\n<ul>\n<li>two</li>\n</ul>\n</li>\n</ul>\n"),
        ("| a |\n", ""),
        ("| a |\n|---|\n", "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n</table>\n"),
        (
            "| a |\n|---|\n| 1 |\n| 2",
            "<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table>\n",
        ),
        ("```py\nx = 1\ny =", "<pre><code>x = 1\n</code></pre>\n"),
        ("See [here](https://a.example", ""),
        ("A **b\n\nc** d\n\n", "<p>A **b</p>\n<p>c** d</p>\n"),
    ],
)  # fmt: skip
def test_p13_complete_rows_items_and_lines_are_drawn_and_what_is_open_is_not(text: str, html: str) -> None:
    stream = StreamedMarkdown()
    stream.feed(text)

    assert "".join(stream.blocks) == html
    check(stream, text)


def test_p13_a_later_target_or_a_loose_list_changes_that_block_alone() -> None:
    stream = StreamedMarkdown()
    stream.feed("See [it].\n\nOther.\n\n- one\n- two\n- three\n")
    assert stream.feed("\n- four\n- five\n") == [
        (
            2,
            "<ul>\n"
            + "".join(f"<li>\n<p>{n}</p>\n</li>\n" for n in ("one", "two", "three", "four"))
            + "</ul>\n",
        )
    ]
    changes = dict(stream.feed("\nEnd.\n\n[it]: https://a.example\n\n"))
    assert sorted(changes) == [0, 2, 3]
    assert '<a href="https://a.example"' in changes[0]
    # A target that may still turn into something else changes nothing.
    assert stream.feed("[End]: /x|y\n") == []


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("**a** b\n\n" * 1_100, 160),
        ("c\n\n" + "[a](/b) " * 400 + "\n\n", 1),
        ("c\n\n" + "|a" * 40 + "|\n" + "|-" * 40 + "|\n" + "|b|\n" * 50, 2),
    ],
)
def test_p13_text_beyond_the_limits_is_read_no_further_and_what_stands_stays(text: str, blocks: int) -> None:
    stream = StreamedMarkdown()
    for at in range(0, len(text), 50):
        stream.feed(text[at : at + 50])
    assert markdown.render(text).cut
    assert stream.plain
    assert len(stream.blocks) >= blocks
    check(stream, text)


def test_p13_where_what_is_drawn_is_more_than_is_sent_no_block_stands() -> None:
    text = "First.\n\n" + '"' * 7_000 + "\n\nLast.\n\n"
    stream = StreamedMarkdown()
    for at in range(0, len(text), 50):
        stream.feed(text[at : at + 50])
    assert markdown.render(text).cut
    assert stream.plain and stream.closed == 0 and stream.blocks == []


HOSTILE = {
    "one paragraph": "word " * 20_000,
    "soft lines": "word\n" * 1_500,
    "items": "- a\n" * 990,
    "nested": "".join("  " * (n % 15) + "- a\n" for n in range(300)),
    "one item": "- a\n" + "  word\n" * 900,
    "quote": "> a\n" * 900,
    "code": "    a\n" * 900,
    "fence": "```\n" + "a\n" * 900,
    "targets": "".join(f"[{n}]: /{n}\n" for n in range(300)),
    "targets of one paragraph": "".join(f"[{n}] " for n in range(100)) + "\n\n"
    + "".join(f"[{n}]: /{n}\n\n" for n in range(100)),
    **PATHOLOGICAL,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_p13_no_text_is_read_more_than_so_many_times(name: str) -> None:
    """However it is cut: what is read grows with the text, not with its square."""
    text, stream, come = HOSTILE[name], StreamedMarkdown(), 0
    step = 5 if len(text) < 5_000 else 40
    for at in range(0, len(text), step):
        stream.feed(text[at : at + step])
        come = min(len(text), at + step)
        # One look at what is open, and at its last item again.
        assert stream.read <= READINGS * come + AHEAD + 2 * 8_000
    assert stream.read <= READINGS * min(len(text), 8_000) + AHEAD + 2 * 8_000


def test_p13_the_cost_of_a_character_does_not_grow_with_the_answer() -> None:
    block = "## Head\n\nSome words.\n\n- one\n- two\n- three\n\n| a | b |\n|---|---|\n| c | d |\n\n```\ncode\n```\n\n"
    read = []
    for count in (3, 12):
        stream, text = StreamedMarkdown(), block * count
        for at in range(0, len(text), 7):
            stream.feed(text[at : at + 7])
        read.append(stream.read / len(text))
        assert stream.closed == len(text)
    assert read[1] <= 1.05 * read[0] < 4


@needs_shared
@pytest.mark.parametrize("entry", xss_payloads())
def test_p13_hostile_text_in_pieces_draws_nothing_that_the_finished_text_would_not(
    entry: dict[str, str],
) -> None:
    payload, random_ = entry["payload"], random.Random(entry["payload"])
    forms = ["{}\n\n", "- {}\n- x\n", "| a |\n|---|\n| {} |\n", "```\n{}\n", "> {}\n\n"]
    text = random_.choice(forms).format(payload) + payload
    stream = StreamedMarkdown()
    drawn = set()
    for piece in pieces(text, [random_.randint(1, 9) for _ in text]):
        stream.feed(piece)
        drawn.add("".join(stream.blocks))
    check(stream, text)
    for html in drawn:
        assert caselib().xss_findings(html, markdown.render("benign").html, payload) == []


def test_plain_lines_are_drawn_without_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        '## Days\n\nSome words,\nand more.\n\n- one\n- two\n\n| a | b |\n|---|:-:|\n| 1 | "2" |\n\n'
        "3. three\n4. four\n\n```sh\n- x < y\n\n```\nThe end.\n\n"
    )
    finished = markdown.render(text).html
    monkeypatch.setattr(markdown, "block_tokens", None)
    stream = StreamedMarkdown()
    stream.feed(text)

    assert same("".join(stream.blocks)) == same(finished)
    assert stream.closed == len(text)


def test_a_long_plain_paragraph_is_not_looked_through_for_each_of_its_lines() -> None:
    stream = StreamedMarkdown()
    for _ in range(900):
        stream.feed("abcdefg\n")
        assert stream.read <= READINGS * stream.length + AHEAD
    assert stream.blocks == []
