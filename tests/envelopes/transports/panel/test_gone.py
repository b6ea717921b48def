"""What draws a conversation may change or go: what was said stays readable, and a clash is told at start-up."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import pytest

from envelopes.errors import RegistrationError
from envelopes.markup.html import SafeString, html, text
from envelopes.models import Event, FrozenView, Session, Snapshot
from envelopes.registries.part_types import PartType, part_types
from envelopes.session_state import live_sessions, snapshots
from envelopes.session_state.live import LiveSession
from envelopes.transports.panel import earlier
from envelopes.transports.panel.presenter import drawers, part_view
from envelopes.transports.panel.presenter.blocks import Block
from envelopes.transports.panel.presenter.gone import load
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.transports.panel.presenter.part_view import PartView, RenderContext, stored
from envelopes.transports.panel.presenter.row import RowContext
from envelopes.transports.panel.presenter.thread import Outdated, Thread
from tests import factories
from tests.envelopes.transports.panel.talk import Talk
from tests.envelopes.transports.panel.test_earlier import loaded
from tests.long_talk import talk_at_length


@dataclass
class Board(PartView):
    kind = "acme-board"

    move: str

    def html(self, render: RenderContext) -> SafeString:
        return html('<p id="{}">Board: {}</p>', self.id, text(self.move))


@dataclass
class Banner(Block):
    kind = "acme-banner"

    words: str

    def html(self, render: RenderContext) -> SafeString:
        return html('<p id="{}">Banner: {}</p>', self.id, text(self.words))


def _draw(context: RowContext) -> None:
    context.model.open(Banner(context.new_id("b"), "Chess"))
    context.model.add(context.segment(), Board(context.new_id(), context.words))


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an application has registered, for this test only."""
    monkeypatch.setattr(part_view, "kinds", dict(part_view.kinds))
    monkeypatch.setattr("envelopes.transports.panel.presenter.gone.kinds", part_view.kinds)
    monkeypatch.setattr(drawers.drawings, "_items", dict(drawers.drawings._items))
    monkeypatch.setattr(drawers.drawings, "_places", dict(drawers.drawings._places))
    monkeypatch.setattr(drawers.drawings, "_is_closed", False)
    stored(Board)
    stored(Banner)
    drawers.draw_with("acme.board", _draw)


def _played() -> Talk:
    talk = Talk()
    talk.me("Play")
    talk.turn(1)
    talk.part("acme.board", "e2 to e4")
    talk.settle()
    return talk


KIND = PartType("acme.board", frozenset({"actor"}), "flush", "once")


def _undrawn(part_type: str) -> None:
    del drawers.drawings._items[part_type], drawers.drawings._places[part_type]


def _without(*kinds: str) -> None:
    for kind in kinds:
        del part_view.kinds[kind]


@pytest.mark.parametrize("gone", ["drawer and views", "views", "part type"])
def test_s14_what_is_gone_looks_the_same_from_a_snapshot_and_from_the_log(app: None, gone: str) -> None:
    """A session whose snapshot held it could not be opened any more, or showed what a replay did not."""
    with part_types.including(KIND):
        talk = _played()
    kept, before = talk.thread.snapshot(), talk.html()
    known = nullcontext() if gone == "part type" else part_types.including(KIND)
    with known:
        if gone != "part type":
            _without("acme-board", "acme-banner")
        if gone == "drawer and views":
            _undrawn("acme.board")
        with pytest.raises(Outdated):
            Thread.restore(talk.context, kept)
        replayed = _played()
        again = Thread.restore(talk.context, replayed.thread.snapshot()) if gone != "views" else None

    assert "Play" in replayed.page.text()
    assert ("e2 to e4" in replayed.page.text()) is (gone != "part type")
    assert again is None or again.html(replayed.surfaces) == replayed.html()

    # On the day on which the code is back, what it drew is too.
    stored(Board)
    stored(Banner)
    if gone == "drawer and views":
        drawers.draw_with("acme.board", _draw)
    with part_types.including(KIND):
        if gone != "views":
            with pytest.raises(Outdated):
                Thread.restore(talk.context, replayed.thread.snapshot())
        assert Thread.restore(talk.context, kept).html(talk.surfaces) == before


@pytest.mark.django_db
def test_s14_a_session_whose_application_is_gone_is_made_from_its_log(app: None) -> None:
    session = factories.make_session()
    turn = factories.make_turn(session)
    with part_types.including(KIND):
        factories.add_part(turn, "acme.board", text="e2 to e4")
        live = LiveSession(session)
        assert "Board: e2 to e4" in html_of(live.present("panel"))
        live.saved = -1_000
        snapshots.store(live.due_snapshots())
        assert "Board: e2 to e4" in html_of(LiveSession(session).present("panel"))

        _without("acme-board", "acme-banner")
        _undrawn("acme.board")
        shown = html_of(LiveSession(session).present("panel"))
        Snapshot.objects.all().delete()
        assert shown == html_of(LiveSession(session).present("panel"))
        assert "can’t display this kind of content (acme.board)" in shown


def test_s14_a_view_whose_code_is_gone_is_readable_and_kept(app: None) -> None:
    data = {"kind": "acme-board", "id": "e3", "move": "e2 to e4"}
    _without("acme-board")
    view = load(data)
    render = RenderContext(Talk().context, lambda owner, surface_id: "")
    assert "(acme-board)" in view.html(render)
    assert "e2 to e4" in view.html(render)
    assert view.dump() == data


def test_s14_a_drawer_that_raises_takes_nothing_but_its_part(
    app: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever opened the conversation got an error, for ever."""

    def broken(context: RowContext) -> None:
        _draw(context)
        raise KeyError("move")

    _undrawn("acme.board")
    drawers.draw_with("acme.board", broken)
    with part_types.including(KIND):
        talk = _played()
        talk.part("response", "Your turn.")
    shown = talk.page.text()
    assert "can’t display this kind of content (acme.board). Here is what was sent." in shown
    assert "e2 to e4" in shown
    assert "Board:" not in shown
    assert "Banner:" not in shown
    assert talk.page.markup() == talk.reloaded().markup()
    assert "The drawer of row 3 (acme.board) fails." in caplog.text


def test_two_views_of_one_kind_are_refused(app: None) -> None:
    @dataclass
    class Other(PartView):
        kind = "acme-board"

    @dataclass
    class Nameless(PartView):
        pass

    for cls in (Other, Nameless):
        with pytest.raises(RegistrationError) as refused:
            stored(cls)
        assert cls.__name__ in str(refused.value)
    assert stored(Board) is Board


def test_two_drawers_of_one_part_type_are_refused(app: None) -> None:
    def other(context: RowContext) -> None:
        raise AssertionError

    with pytest.raises(RegistrationError, match=rf"acme\.board.*{__name__}.*{__name__}"):
        drawers.draw_with("acme.board", other)
    with pytest.raises(RegistrationError):
        drawers.draw_with("response", other)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("gone", ["drawer and views", "views", "part type"])
def test_s14_earlier_messages_whose_code_is_gone_are_what_the_log_makes_of_them(app: None, gone: str) -> None:
    """What was frozen before would be shown as data, and what a replay makes stands elsewhere in it."""
    session = factories.make_session()
    talk_at_length(session, 250)
    early = Event.objects.filter(session=session, part_type="response").earliest("seq")
    early.part_type = "acme.board"
    early.data["part"]["metadata"]["partType"], early.data["part"]["text"] = "acme.board", "e2 to e4"
    early.save()
    with part_types.including(KIND):
        assert "Board: e2 to e4" in "".join(_all_of(session))
        assert FrozenView.objects.filter(session=session, data__kind="acme-banner").exists()
        # So that the next snapshot is another one.
        factories.make_turn(session, text="Still there?")
    known = nullcontext() if gone == "part type" else part_types.including(KIND)
    with known:
        if gone != "part type":
            _without("acme-board", "acme-banner")
        if gone == "drawer and views":
            _undrawn("acme.board")
        live_sessions.clear()
        shown = _all_of(session)
        live_sessions.clear()
        assert _all_of(session) == shown
        Snapshot.objects.all().delete()
        FrozenView.objects.all().delete()
        live_sessions.clear()
        assert _all_of(session) == shown
        said = "".join(shown)
    assert ("e2 to e4" in said) is (gone != "part type")
    assert ("Board: e2 to e4" in said) is (gone == "views")
    live_sessions.clear()


def _all_of(session: Session) -> list[str]:
    """The first page, and those above it."""

    def ask() -> list[str]:
        with live_sessions.present(session, "panel") as shown:
            return [html_of(shown), *loaded(shown)]

    return earlier.with_rebuilt(session, ask)
