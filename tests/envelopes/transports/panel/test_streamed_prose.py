"""An answer that is being written, on the pages that show it: each has what a finished part would show so far."""

from __future__ import annotations

import asyncio
import json
import threading

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envelopes.delivery.deltas import Delta
from envelopes.delivery.streamed import PlacedDelta
from envelopes.protocol.bubbles import ENDED
from envelopes.providers.scripted import Say, text
from envelopes.session_state import Frame
from envelopes.transports.panel.drawings import AT_ONCE, Drawings
from envelopes.transports.panel.presenter import streamed
from envelopes.transports.panel.presenter.overlong import PIECE
from envelopes.transports.panel.presenter.prose import markdown
from envelopes.transports.panel.presenter.streamed import StreamedProse
from tests.a2ui.test_streamed_markdown import CUTS, TEXTS, pieces
from tests.desk import replies
from tests.envelopes.transports.panel.streaming import INTO, LIVE, Bubble, delta, drawn, frame_of
from tests.sockets import Socket, panel

ANSWER = (
    "# Two ferries\n\nBoth leave **today**, see [the timetable].\n\n- Nine, calm\n- Noon\n  - by way of *Paxos*\n"
    "  - direct\n- Six\n\n| Ferry | Price |\n|---|--:|\n| Nine | 12 |\n| Six | 9 |\n\n## How to go\n\n```sh\nwalk\n"
    "swim\n```\n\n1. one\n\n2. two\n\nThat is it.\n\n[the timetable]: https://example.org/\n\nEnd"
)


def deltas_of(text: str, sizes: list[int]) -> list[Delta]:
    found, at = [], 0
    for piece in pieces(text, sizes):
        if piece:
            found.append(delta(piece, at))
        at += len(piece)
    return found


def agrees(page: Bubble, text: str) -> None:
    assert page.looks() == drawn(markdown(text[: page.base]))
    assert page.text == text[page.base :]


@settings(max_examples=30, deadline=None)
@given(TEXTS | st.just(ANSWER), CUTS)
def test_p13_a_page_shows_at_any_time_what_the_part_would_so_far(text: str, sizes: list[int]) -> None:
    drawings, page, come = Drawings("en"), Bubble(), ""
    for piece in deltas_of(text, sizes):
        come += piece.text
        assert page.take(frame_of(drawings, piece))
        agrees(page, come)


def test_p13_a_block_grows_where_it_stands() -> None:
    """What is there already is not sent again, and so not drawn again."""
    drawings, sent = Drawings("en"), ""
    for piece in deltas_of(ANSWER, [9] * 100):
        sent += "".join(html for _, _, html in frame_of(drawings, piece).get("draw", []))

    assert sent.count("<table") == sent.count("<pre") == sent.count("Nine, calm") == sent.count("Paxos") == 1
    assert sent.count("Both leave") == 2  # once its link has a target
    assert sent.count("walk") == sent.count("swim") == 1


def test_p13_all_pages_of_a_process_share_one_drawing() -> None:
    drawings, first, second = Drawings("en"), Bubble(), Bubble()
    sent = deltas_of(ANSWER, [20] * 8)
    for piece in sent:
        first.take(frame_of(drawings, piece))
    read = drawings._bubbles[LIVE]._markdown.read
    for piece in sent:
        second.take(frame_of(drawings, piece))

    assert drawings._bubbles[LIVE]._markdown.read == read
    agrees(second, ANSWER)
    assert second.looks() == first.looks()


@pytest.mark.parametrize("known", [60, 160, 400])
def test_p13_who_joins_in_the_middle_sees_the_same(known: int) -> None:
    """With the text that was saved of it, which may be older than the picture of others, or newer; then what is new."""
    drawings, stayed, joined = Drawings("en"), Bubble(), Bubble()
    sent = deltas_of(ANSWER, [20] * 20)
    for piece in sent[:8]:
        stayed.take(frame_of(drawings, piece))
    assert joined.take(frame_of(drawings, delta(ANSWER[:known])))
    missed = False
    for piece in sent[3:]:
        frame = frame_of(drawings, piece)
        joined.take(frame)
        # Others may be behind then: they ask for the text from its beginning.
        if piece.offset >= 160 and not stayed.take(frame):
            missed = True
            stayed.take(frame_of(drawings, delta(ANSWER[: piece.offset + len(piece.text)])))
    for page in (stayed, joined):
        agrees(page, ANSWER)
    assert not missed or known == 400


def test_p13_a_process_that_has_nothing_but_later_text_draws_nothing_until_the_beginning_comes() -> None:
    drawings, page = Drawings("en"), Bubble()
    piece = delta("**b**\n\n", 40)
    assert "draw" not in frame_of(drawings, piece)
    assert not page.take(frame_of(drawings, piece))
    page.take(frame_of(drawings, delta("a\n\n" * 15)))
    agrees(page, "a\n\n" * 15)


def test_p13_text_that_is_lost_is_asked_for() -> None:
    drawings, page = Drawings("en"), Bubble()
    sent = deltas_of(ANSWER, [20] * 20)
    told = [page.take(frame_of(drawings, piece)) for piece in sent if piece.offset != 100]
    assert told.count(False) == len(sent) - 6
    page.take(frame_of(drawings, delta(ANSWER)))
    agrees(page, ANSWER)


LONG = {
    "paragraphs": "**a** word\n\n" * 700,
    "a list": "Words:\n\n" + "- **one** or _two_\n" * 600,
    "many marks": "# Head\n\nFirst.\n\n" + "`a` `b` `c` " * 300,
    "one line": "Grüße 😀 " * 4_000,
    "one word": "a" * 20_000,
    "lines": "    so far\n\n" * 5_000,
}


@pytest.mark.parametrize("name", LONG)
async def test_p13_what_stands_of_an_answer_that_becomes_too_long_stays_and_the_rest_comes_in_pieces(
    name: str,
) -> None:
    drawings, page, come, stood = Drawings("en"), Bubble(), "", list[str]()
    for piece in deltas_of(LONG[name], [40] * 2_000):
        come += piece.text
        assert page.take(json.loads(await drawings.frame(PlacedDelta(piece, INTO))))
        assert page.looks()[: max(0, len(stood) - 1)] == stood[:-1]
        stood = page.looks()
        # What goes on is never long: it is what a browser lays out again.
        assert len(page.text) <= 8_080
    assert len(page.text) <= 1.5 * PIECE
    *finished, notice = drawn(markdown(come))
    assert "b-cut" in notice
    changed = [here for here, there in zip(stood, finished, strict=False) if here != there]
    # More of a block that stays open may stand, and the piece behind it begins there.
    assert not changed or (name in ("a list", "lines") and len(changed) == 2)
    plain = "".join(html5lib.parseFragment(part)[0].text for part in finished if "b-plain" in part)
    assert come.endswith(plain) and plain.endswith(page.text)

    joined = Bubble()
    joined.take(json.loads(await drawings.frame(PlacedDelta(delta(come), INTO))))
    assert (joined.looks(), joined.base, joined.text) == (stood, page.base, page.text)


async def test_p13_an_answer_of_which_no_picture_is_shown_comes_in_pieces_as_well() -> None:
    drawings, page, come = Drawings("en"), Bubble(), ""
    text = "First.\n\n" + '"' * 7_000 + "\n\n" + "and on\n" * 1_000
    for piece in deltas_of(text, [300] * 50):
        come += piece.text
        assert page.take(json.loads(await drawings.frame(PlacedDelta(piece, INTO))))
    assert page.base
    assert page.looks() == [part for part in drawn(markdown(come)) if "b-plain" in part][: len(page.looks())]


def test_an_answer_that_is_too_long_says_so_once_and_shows_as_much_as_there_may_be() -> None:
    assert "Only the beginning is formatted" in markdown(LONG["paragraphs"])
    assert "Shown without formatting" in markdown(LONG["one word"])
    told = markdown("word\n" * 30_000)
    assert "Showing the first 100000 of 150000 characters." in told
    assert told.count("b-cut") == 1
    assert told.count("word") == 20_000


def test_p13_what_a_row_has_ended_is_forgotten() -> None:
    drawings = Drawings("en")
    withdrawn = "L1-1-0-1-0-0"
    for live in (LIVE, withdrawn):
        frame_of(drawings, delta("a\n\n", live=live))
    asyncio.run(drawings.frame(Frame(3, 1, 2, (1, 0, 0, 0, 0), "{}", "response")))
    assert list(drawings._bubbles) == [withdrawn]
    asyncio.run(drawings.frame(Frame(4, 1, 3, ENDED, "{}")))
    assert not drawings._bubbles and not drawings._turns


def test_p13_only_what_is_prose_is_drawn() -> None:
    for part_type in ("ack", "thinking"):
        assert "draw" not in frame_of(Drawings("en"), Delta(LIVE, 1, part_type, 0, "**a**\n\n"))


@pytest.mark.parametrize(
    ("part_type", "piece"),
    [("ack", "typing"), ("thinking", "typing"), ("clarify", None), ("acme.gone", None)],
)
def test_what_its_drawer_makes_a_moving_line_streams_into_one(part_type: str, piece: str | None) -> None:
    frame = frame_of(Drawings("en"), Delta(LIVE, 1, part_type, 0, "Looking"))

    assert frame.get("piece") == piece


def test_p13_long_text_is_read_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = asyncio.to_thread

    async def counted(work: object, *args: object) -> object:
        asked.append(1)
        return await real(work, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "to_thread", counted)
    drawings = Drawings("en")
    # A line that goes on is not read, however long it is.
    marked = f"*a*{'a' * AT_ONCE}"
    for words, threads in (
        (marked, 0),
        ("b", 0),
        ("c\n", 1),
        ("d", 1),
        ("e\n", 2),
        ("\n", 3),
        ("a\n" * (AT_ONCE // 2) + "\n", 3),
    ):
        bubble = drawings._bubbles.get(LIVE)
        piece = delta(words, 0 if bubble is None else bubble.length)
        asyncio.run(drawings.frame(PlacedDelta(piece, INTO)))
        assert len(asked) == threads, words


@pytest.mark.parametrize("sizes", [[9] * 100, [400] * 5, [1_500, 40, 1_500, 7]])
async def test_p13_what_is_drawn_at_once_is_what_is_drawn_in_turn(sizes: list[int]) -> None:
    """Where a thread is to draw, one waits, and so does all that comes behind it."""
    text = ANSWER + "**a** word\n\n" * 300
    at_once, in_turn, page = Drawings("en"), Drawings("en"), Bubble()
    waited = list[Delta]()
    for piece in deltas_of(text, sizes):
        frame = at_once.frame_at_once(PlacedDelta(piece, INTO))
        if frame is None:
            waited.append(piece)
            # A second page, which is not let past the first one.
            later = delta("later", piece.offset + len(piece.text))
            assert at_once.frame_at_once(PlacedDelta(later, INTO)) is None
            frame = await at_once.frame(PlacedDelta(piece, INTO))
        assert json.loads(frame) == json.loads(await in_turn.frame(PlacedDelta(piece, INTO)))
        page.take(json.loads(frame))
    agrees(page, text)
    assert bool(waited) == (max(sizes) > AT_ONCE)


async def test_p13_what_nobody_waits_for_any_more_is_drawn_before_what_follows() -> None:
    drawings, page = Drawings("en"), Bubble()
    first, second = delta("**a** word\n\n" * 100), delta("More.\n\n", 1_200)
    assert drawings.frame_at_once(PlacedDelta(first, INTO)) is None
    # The page that it was offered to is gone, and another one has heard of both.
    for piece in (first, second):
        page.take(json.loads(await drawings.frame(PlacedDelta(piece, INTO))))
    agrees(page, first.text + second.text)
    drawings, page = Drawings("en"), Bubble()
    first, second = delta(first.text), delta(second.text, 1_200)
    assert drawings.frame_at_once(PlacedDelta(first, INTO)) is None
    after = json.loads(await drawings.frame(PlacedDelta(second, INTO)))
    page.take(json.loads(await drawings.frame(PlacedDelta(first, INTO))))
    page.take(after)
    agrees(page, first.text + second.text)


async def test_p13_a_page_that_closes_while_a_thread_draws_leaves_the_bubble_to_the_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawing, go = threading.Event(), threading.Event()
    real = StreamedProse.draw

    def held(bubble: StreamedProse) -> object:
        drawing.set()
        assert go.wait(30)
        return real(bubble)

    monkeypatch.setattr(StreamedProse, "draw", held)
    drawings, long = Drawings("en"), "word " * AT_ONCE + "\n"
    closing = asyncio.create_task(drawings.frame(PlacedDelta(delta(long), INTO)))
    assert await asyncio.to_thread(drawing.wait, 30)
    others = [
        asyncio.create_task(drawings.frame(PlacedDelta(delta("b", len(long)), INTO))),
        asyncio.create_task(drawings.frame(Frame(3, 1, 2, ENDED, "{}"))),
    ]
    for _ in range(2):
        closing.cancel()
        await asyncio.sleep(0)
    bubble = drawings._bubbles.get(LIVE) or StreamedProse("en")
    done, _ = await asyncio.wait([closing, *others], timeout=0.02)
    length = bubble.length
    go.set()
    assert not done and length == len(long)
    with pytest.raises(asyncio.CancelledError):
        await closing
    await asyncio.gather(*others)
    assert bubble.length == len(long) + 1
    assert not drawings._bubbles


@pytest.mark.parametrize(
    ("before", "after", "strokes"),
    [
        ("<ul>\n<li>a</li>\n</ul>\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n", [[0, 1, "<li>b</li>\n"]]),
        (
            "<ul>\n<li>a</li>\n</ul>\n",
            "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>\n",
            [[0, 2, "\n<ul>\n<li>b</li>\n</ul>\n"]],
        ),
        ("<pre><code>a\n</code></pre>\n", "<pre><code>a\nb\n</code></pre>\n", [[0, 2, "b\n"]]),
        (
            "<ul>\n<li>a</li>\n</ul>\n",
            "<ul>\n<li>ab</li>\n<li>c</li>\n</ul>\n",
            [[0, 2, "b"], [0, 1, "<li>c</li>\n"]],
        ),
        ("<p>a</p>\n", "<p><em>a</em></p>\n", [[0, 0, "<p><em>a</em></p>"]]),
    ],
)
def test_p13_a_change_is_what_was_added_where_that_is_all(
    before: str, after: str, strokes: list[object]
) -> None:
    assert streamed.strokes_between(0, before, after) == strokes


@pytest.mark.django_db(transaction=True)
async def test_p13_pages_get_blocks_while_the_call_is_still_being_written() -> None:
    async with panel(replies([Say([text("response", ANSWER)])])) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Hello"})
        await socket.settled()
        await socket.close()
    page = Bubble()
    for frame in socket.frames:
        if frame.get("type") == "delta":
            assert page.take(frame)
    assert page.base > ANSWER.index("## How")
    agrees(page, ANSWER[: page.base + len(page.text)])
