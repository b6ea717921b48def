"""An interface shows as it is written: inert, with ids of its own, replaced by its row or taken back with its call
(D65)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from envelopes.delivery.deltas import Delta
from envelopes.protocol.bubbles import SURFACE_PREVIEW
from envelopes.providers.scripted import Fail, Say, ScriptedProvider, data, text
from envelopes.runtime.respond_stream import RespondStream, SurfaceGrown
from envelopes.session_state.engines import engine_for
from envelopes.transports.panel.drawings import Drawings
from envelopes.transports.panel.presenter.provisional import StreamedSurface
from envelopes.transports.panel.transport import PANEL
from tests.desk import desk, replies
from tests.envelopes.transports.panel.streaming import Bubble, frame_of

CATALOG = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
LIVE = "L1-1-0-0-0-0"
ROWS: list[dict[str, Any]] = [
    {"id": "root", "component": "Column", "children": ["a", "go"]},
    {"id": "a", "component": "Text", "text": "Two flights <b>"},
    {"id": "go", "component": "Button", "child": "t", "action": {"event": {"name": "go"}}},
    {"id": "t", "component": "Text", "text": "Book"},
]


def body(*rows: Any) -> dict[str, Any]:
    return {"surfaceId": "s", "catalogId": CATALOG, "components": [*rows]}


def part(*rows: Any) -> dict[str, Any]:
    return data("a2ui-surface", {"version": "1.0", "createSurface": body(*rows)})


def told(*rows: Any) -> str:
    """What is told of a surface while it is written, as the runtime reads it out of the call."""
    raw, stream = json.dumps({"parts": [part(*rows)], "turnState": "complete"}), RespondStream()
    grown = [one for at in range(0, len(raw), 7) for one in stream.feed(raw[at : at + 7])]
    assert all(isinstance(one, SurfaceGrown) for one in grown)
    return "".join(f"{json.dumps(message)}\n" for one in grown for message in one.messages)  # type: ignore[union-attr]


BOUND = {"id": "root", "component": "Text", "text": {"@path": "/said"}}


def delta(text: str, offset: int = 0) -> Delta:
    return Delta(LIVE, 1, SURFACE_PREVIEW, offset, text)


def html_of(page: Bubble) -> str:
    return "".join(page.looks())


def test_it_grows_by_each_component_and_has_ids_of_its_own() -> None:
    drawings, page, lines = Drawings("en"), Bubble(), told(*ROWS).splitlines(keepends=True)
    seen, offset = [], 0
    for line in lines:
        frame = frame_of(drawings, delta(line, offset))
        assert page.take(frame)
        assert frame["piece"] == "provisional" and frame["text"] == ""
        offset += len(line)
        seen.append(html_of(page))

    assert "Two flights" not in seen[1] and "Two flights &lt;b&gt;" in seen[2]
    assert "<button" not in seen[2] and ">Book<" in seen[-1]
    ids = re.findall(r' id="([^"]*)"', seen[-1])
    assert ids and all(one.startswith(f"q{LIVE}-") for one in ids)
    assert page.text == ""


def test_bound_values_show_once_the_data_is_written() -> None:
    raw = json.dumps({"parts": [data("a2ui-surface", {"version": "1.0", "createSurface": body(BOUND)})]})
    with_data = raw.replace(
        '"text": {"@path": "/said"}}]', '"text": {"@path": "/said"}}], "dataModel": {"said": "Bound"}'
    )
    grown = [one for one in RespondStream().feed(with_data) if isinstance(one, SurfaceGrown)]
    page = Bubble()
    lines = "".join(f"{json.dumps(message)}\n" for one in grown for message in one.messages)
    assert page.take(frame_of(Drawings("en"), delta(lines)))

    assert "Bound" in html_of(page)


def test_a_page_that_comes_later_or_misses_a_piece_gets_the_picture_and_never_the_text() -> None:
    drawings, whole = Drawings("en"), told(*ROWS)
    first, rest = whole[: whole.index("\n") + 1], whole[whole.index("\n") + 1 :]
    there, missed, late = Bubble(), Bubble(), Bubble()
    assert there.take(frame_of(drawings, delta(first)))
    assert there.take(frame_of(drawings, delta(rest, len(first))))
    assert not missed.take(frame_of(drawings, delta(rest, len(first))))
    assert missed.take(frame_of(drawings, delta(whole)))
    assert late.take(frame_of(drawings, delta(whole)))
    assert html_of(there) == html_of(missed) == html_of(late) != ""

    hole = frame_of(Drawings("en"), delta(rest, len(first)))
    assert (hole["text"], hole["draw"], hole["from"]) == ("", [], len(first))
    assert not Bubble().take(hole)


@pytest.mark.parametrize(
    "lines",
    [
        "null\n",
        '{"version":"1.0","updateComponents":{"surfaceId":"there","components":[{"id":"x","component":"Text"}]}}\n',
        '{"version":"1.0","deleteSurface":{"surfaceId":"there"}}\n',
        '{"version":"1.0","createSurface":{"surfaceId":"s","catalogId":"urn:nowhere"}}\n',
    ],
)
def test_what_cannot_be_drawn_before_its_row_shows_nothing(lines: str) -> None:
    page = Bubble()
    assert page.take(frame_of(Drawings("en"), delta(lines)))

    assert html_of(page) == ""


def test_one_without_its_catalog_yet_is_drawn_by_the_basic_one() -> None:
    written = StreamedSurface(engine_for("en", "UTC"), LIVE)
    written.take('{"version":"1.0","createSurface":{"surfaceId":"s"}}\n')
    written.take('{"version":"1.0","updateComponents":{"surfaceId":"s","components":[')
    assert written.draw() and "a2-skel" in str(written.whole())
    written.take('{"id":"root","component":"Text","text":"Here"}]}}\n')
    ((at, depth, html),) = written.draw()
    assert (at, depth) == (0, 0) and "Here" in html
    assert written.draw() == []


@pytest.mark.django_db(transaction=True)
async def test_its_row_takes_its_place() -> None:
    assert "previews" in PANEL.capabilities
    async with desk(replies([Say([text("response", "Here."), part(*ROWS)])])) as d:
        await d.say("Hello")
        answer, card = await d.rows("part")
        assert answer.data["live"].rpartition("-")[0] == card.data["live"].rpartition("-")[0]
        assert card.data["live"].endswith("-1")
        html = await d.html()
        assert "Two flights" in html and "b-provisional" not in html


@pytest.mark.django_db(transaction=True)
async def test_it_is_taken_back_with_its_call_or_its_reply() -> None:
    broken = part(*ROWS, {"id": "c", "component": "Chart"})

    def strict(script: Any) -> ScriptedProvider:
        return ScriptedProvider(script, pace=0, strict_surfaces=True)

    more = [{"id": f"more{number}", "component": "Text", "text": "more"} for number in range(9)]
    cut = [Say([part(*ROWS, *more)]), Fail("error")]
    async with desk(replies([Say([broken])], cut, [Say([part(*ROWS)])]), provider=strict) as d:
        await d.say("Hello")
        withdrawn = [row.data["live"] for row in await d.rows("withdrawn")]
        (card,) = await d.rows("part", "a2ui-surface")
        assert len(withdrawn) == 2 and all(len(one) == 1 for one in withdrawn)
        assert card.data["live"] not in [one for (one,) in withdrawn]
