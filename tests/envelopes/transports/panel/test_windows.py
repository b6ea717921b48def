"""A page draws the last turns; what was before them comes a page at a time, and is the same in every process (D58)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from a2ui.ops import Op
from envelopes.markup.html import SafeString
from envelopes.registries.transports import Frozen
from envelopes.session_state import frozen
from envelopes.transports.panel import earlier
from envelopes.transports.panel.presenter import window
from envelopes.transports.panel.presenter.blocks import Segment
from envelopes.transports.panel.presenter.panel import PanelPresenter
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext
from envelopes.transports.panel.presenter.thread import Thread
from tests.envelopes.transports.panel.talk import ENGINE, Page, Talk, surface, update
from tests.envelopes.transports.panel.test_thread_laws import other, part, take
from tests.long.replay import Replay, rows

GAP = re.compile(r'data-more="g(\d+)-(\d+)-(\d+)"')


def _of_one_turn(step: tuple[Any, ...]) -> tuple[Any, ...]:
    """No two turns ask the same question: ids of approvals are random."""
    if step[0] not in ("ask", "decide", "tool"):
        return step
    kind, turn, approval, *rest = step
    return kind, turn, f"{approval}{turn}", *rest


few = st.lists(
    part | other.map(_of_one_turn) | st.tuples(st.just("me"), st.just("Next")), min_size=10, max_size=40
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "EXCHANGES", 2)
    monkeypatch.setattr(window, "PAGE", 4)


def windowed() -> Talk:
    """A talk whose pages show its last six rows."""
    talk = Talk()
    talk.thread = Thread(talk.context, 6)
    return talk


def whole(talk: Talk) -> Page:
    """The page of the same rows where nothing leaves the window."""
    same = Talk()
    same.thread = Thread(talk.context, 10**6)
    for row in talk.rows:
        same.at = row.at
        same.row(row.kind, row.data, row.part_type, row.turn, row.actor, after=0)
    return Page(same.html())


class Loaded:
    """A page, and what it asks for. ``stored``: what was let go of, whoever did."""

    def __init__(self, talk: Talk, stored: dict[tuple[int, str], Frozen] | None = None) -> None:
        self.talk = talk
        self.page = Page(talk.html())
        self.stored = dict(stored or {})
        presenter = PanelPresenter(talk.thread)
        self.shown: Any = SimpleNamespace(
            presenter=presenter, state=SimpleNamespace(session_pk=1, surfaces=talk.surfaces)
        )

    @property
    def gaps(self) -> list[tuple[int, int, int]]:
        return [(int(a), int(b), int(name)) for a, b, name in GAP.findall(self.page.markup())]

    def load(self, gap: tuple[int, int, int]) -> list[Op]:
        known = {**self.stored, **self.talk.thread.model.frozen}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                frozen, "load", lambda pk, transport, first, last: [
                    each for each in known.values() if first <= each.number <= last
                ]
            )  # fmt: skip
            ops = earlier.page(self.shown, *gap)
        self.page.apply(ops)
        return ops

    def load_all(self) -> Iterator[list[Op]]:
        while self.gaps:
            yield self.load(self.gaps[-1])


@settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(few, st.integers(0, 39), st.integers(0, 39))
def test_pages_down_to_the_first_row_are_the_whole_conversation(
    steps: list[tuple[Any, ...]], cut: int, opened: int
) -> None:
    """However the thread came to be, whenever the page was opened, and whatever comes in meanwhile."""
    talk, first = windowed(), None
    gone: dict[tuple[int, str], Frozen] = {}
    for number, step in enumerate(steps):
        if number == cut:
            # Another process goes on from a snapshot; what had settled is stored.
            gone = talk.thread.model.frozen
            kept = json.loads(json.dumps(talk.thread.snapshot()))
            talk.thread = Thread.restore(talk.context, kept, 6)
            talk.surfaces = ENGINE.restore(json.loads(json.dumps(talk.surfaces.snapshot())))
            assert talk.thread.snapshot() == kept
        if number == opened:
            first = talk.page = Page(talk.html())
        take(talk, step)
    now = Loaded(talk, gone)
    for ops in now.load_all():
        assert len(ops) <= 3
    assert now.page.markup() == whole(talk).markup()
    if first is not None:
        then = Loaded(talk, gone)
        then.page = first
        list(then.load_all())
        assert then.page.markup() == now.page.markup()

    again = windowed()
    for row in talk.rows:
        again.at = row.at
        again.row(row.kind, row.data, row.part_type, row.turn, row.actor, after=0)
    assert again.thread.model.frozen == {**gone, **talk.thread.model.frozen}
    assert again.thread.snapshot() == talk.thread.snapshot()
    assert len(talk.thread.snapshot()["turns"]) <= len(talk.thread.model.segments) + 3


def said(talk: Talk, turns: int, start: int = 1) -> None:
    for number in range(start, start + turns):
        talk.me(f"Question {number}")
        talk.turn(number)
        talk.part("response", f"Answer {number}", turn=number)
        talk.settle(number)


def test_a_page_has_the_last_turns_and_a_link_to_those_before() -> None:
    talk = windowed()
    said(talk, 9)
    page = Loaded(talk)
    assert "Question 8" in page.page.text()
    assert "Question 7" not in page.page.text()
    ((above, below, _name),) = page.gaps
    (link,) = page.page.root.iter("a")
    first = talk.thread.model.blocks[0].id
    assert link.get("href") == f"?before={below}#{first}"
    assert (above, below) == (0, talk.thread.model.left + 1)


def test_a_question_that_waits_is_on_the_first_page_however_far_back() -> None:
    talk = windowed()
    said(talk, 3)
    talk.me("Book it")
    talk.turn(4)
    talk.ask(turn=4)
    talk.turn(4, "suspended")
    said(talk, 9, 5)
    page = Loaded(talk)
    assert len(page.page.select("b-approval")) == 1
    assert len(page.gaps) == 2
    assert [card.state for card in talk.pending] == ["pending"]
    # Decided, and its turn settled, it is as far away as what stands beside it.
    talk.page = page.page
    talk.decide("granted", turn=4)
    talk.tool("succeeded", turn=4)
    talk.settle(4)
    assert page.page.select("b-approval")[0].get("data-state") == "done"
    list(page.load_all())
    assert page.page.markup() == whole(talk).markup()
    assert not Page(talk.html()).select("b-approval")


def test_what_is_known_of_turns_does_not_grow_beside_one_that_waits() -> None:
    talk = windowed()
    talk.me("Book it")
    talk.turn(1)
    talk.ask(turn=1)
    talk.turn(1, "suspended")
    sizes = []
    for first in (2, 42):
        said(talk, 40, first)
        sizes.append(len(json.dumps(talk.thread.snapshot()["turns"])))
    assert sizes[1] < 1.1 * sizes[0]
    talk.decide("granted", turn=1)
    talk.tool("succeeded", turn=1)
    talk.settle(1)
    assert not talk.thread.busy


def test_a_card_in_an_unloaded_page_is_drawn_as_it_is_now() -> None:
    talk = windowed()
    talk.me("Show it")
    talk.turn(1)
    text = {"id": "root", "component": "Text", "text": {"path": "/n"}}
    talk.part("a2ui-surface", data=surface("s", text, model={"n": "first"}))
    talk.settle(1)
    said(talk, 9, 2)
    page = Loaded(talk)
    talk.page = page.page
    assert "first" not in page.page.text()
    talk.turn(20)
    ops = talk.part("a2ui-surface", data=update("s", "/n", "second"), turn=20)
    # The page has none of it, and does not mind.
    assert ops
    list(page.load_all())
    assert "second" in page.page.text()
    assert page.page.markup() == whole(talk).markup()
    talk.part("a2ui-surface", data=update("s", "/n", "third"), turn=20)
    assert "third" in page.page.text()


def test_what_comes_late_stands_below_however_long_ago_its_turn_was() -> None:
    """Its turn is forgotten by then, with the number of its segments."""
    talk = windowed()
    said(talk, 9)
    talk.page = Page(talk.html())
    text = {"id": "root", "component": "Text", "text": "Late"}
    talk.part("a2ui-surface", data=surface("one", text))
    said(talk, 9, 10)
    talk.part("a2ui-surface", data=surface("two", text))
    page = Loaded(talk)
    list(page.load_all())
    assert page.page.markup() == whole(talk).markup()
    assert page.page.text().count("Late") == 2
    ids = [element.get("id") for element in page.page.root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_a_page_that_somebody_has_seen_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for what changes by itself, and for what a row has changed since."""
    drawn: list[str] = []
    draw = PartView.drawn

    def noted(view: PartView, render: RenderContext) -> SafeString:
        drawn.append(view.id)
        return draw(view, render)

    monkeypatch.setattr(PartView, "drawn", noted)
    talk = windowed()
    talk.me("Book it")
    talk.turn(1)
    talk.ask()
    talk.turn(1, "suspended")
    said(talk, 9, 2)
    first = talk.html()
    held, *window = talk.thread.model.held.values(), *talk.thread.model.blocks
    assert len(held) == 1
    assert len(window) > 3
    assert drawn
    drawn.clear()
    assert talk.html() == first
    assert not drawn
    talk.turn(11)
    talk.part("response", "And this.", turn=11)
    drawn.clear()
    talk.html()
    last = talk.thread.model.blocks[-1]
    assert isinstance(last, Segment)
    assert drawn == [last.id, *(part.id for part in last.parts)]


def test_who_came_by_a_link_reads_on_from_there() -> None:
    """Each page that comes for messages in between has the next of them too, not only the last ones."""
    talk = windowed()
    said(talk, 40)
    model = talk.thread.model
    page = Loaded(talk)
    page.page = Page(talk.thread.html(talk.surfaces, window.thaw(model, 10, 12, model.frozen.values())))
    between = page.gaps[-1]
    assert between[0] == between[2] == 12
    page.load(between)
    on = page.gaps[-1]
    # Under the same DOM id, so that focus stays on the link.
    assert on[0] == 12 + window.PAGE // 2
    assert on[2] == 12
    assert on[1] < between[1]
    list(page.load_all())
    assert page.page.markup() == whole(talk).markup()


def test_what_is_missing_is_said_to_be_missing() -> None:
    talk = windowed()
    said(talk, 9)
    page = Loaded(talk)
    talk.thread.model.frozen.clear()
    with pytest.raises(window.Lost):
        page.load(page.gaps[0])


@pytest.mark.parametrize("gap", [(0, 10**12), (5, 3), (10**12, 10**12 + 1), (0, 1), (7, 8)])
def test_numbers_that_are_made_up_bring_nothing_that_is_not_there(gap: tuple[int, int]) -> None:
    talk = windowed()
    said(talk, 9)
    page = Loaded(talk)
    page.load((*gap, gap[0]))


def test_page_and_snapshot_of_a_long_conversation_are_as_large_as_of_a_hundred_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(window, "EXCHANGES", 8)
    sizes = []
    for count in (100, 1_600):
        replay = Replay()
        replay.apply(rows(count))
        html = replay.html()
        sizes.append((len(html), html.count("<"), len(json.dumps(replay.panel.snapshot()))))
    for short, long in zip(*sizes, strict=True):
        assert long <= 1.5 * short
