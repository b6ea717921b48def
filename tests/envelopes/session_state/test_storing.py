"""What is stored of sessions beside their logs: by one at a time, and not over what was let go of meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection

from envelopes.models import FrozenView, Session
from envelopes.registries.transports import Frozen, Transport, transports
from envelopes.session_state import LiveSession, frozen, live_sessions, registry
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PANEL = transports["panel"]


def _frozen(number: int) -> Frozen:
    return Frozen(number, "", number, {"id": f"b{number}"})


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    """One of which something is always due."""
    monkeypatch.setattr(LiveSession, "due_frozen", lambda self, **_: {PANEL.name: [_frozen(1)]})
    return factories.make_session(factories.make_visitor()[0])


class Held:
    """``frozen.store``, each call of which waits until it may go on."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        self.calls = 0
        self._store = frozen.store

    def store(self, session_pk: int, transport: Transport, views: Iterable[Frozen], **more: Any) -> None:
        self.calls += 1
        self.reached.set()
        assert self.go.wait(30)
        self._store(session_pk, transport, views, **more)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    made = Held()
    monkeypatch.setattr(registry.frozen, "store", made.store)
    return made


@contextmanager
def _meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """``work`` in a thread, which has ended after the block."""

    def do() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=do)
    thread.start()
    yield
    thread.join(30)
    assert not thread.is_alive()


def test_what_is_due_is_stored_by_one_at_a_time_and_nobody_waits_for_that(
    session: Session, held: Held
) -> None:
    """Two that make it anew would each take away what the other has stored."""
    with _meanwhile(lambda: live_sessions.keep(session)):
        assert held.reached.wait(30)
        live_sessions.keep(session)
        assert held.calls == 1
        held.go.set()
    live_sessions.keep(session)
    assert held.calls == 2


def test_what_is_to_be_made_again_is_not_stored_by_whoever_was_about_to(session: Session, held: Held) -> None:
    forgotten: list[int] = []

    def forget() -> None:
        live_sessions.forget_stored(session, PANEL)
        forgotten.append(FrozenView.objects.filter(session=session).count())

    with _meanwhile(lambda: live_sessions.keep(session)):
        assert held.reached.wait(30)
        with _meanwhile(forget):
            held.go.set()
    assert forgotten == [0]
    assert not FrozenView.objects.filter(session=session).exists()


def test_a_session_that_was_forgotten_while_somebody_used_it_is_not_stored(
    session: Session, held: Held
) -> None:
    held.go.set()
    with live_sessions.open(session):
        live_sessions.forget(session.pk)
    assert held.calls == 0
    live_sessions.keep(session)
    assert held.calls == 1


def test_what_is_made_anew_takes_the_place_of_the_old_or_leaves_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen.store(session.pk, PANEL, [_frozen(1), _frozen(2)])

    def full(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(frozen.by_hand, "insert_all", full)
        with pytest.raises(OperationalError):
            frozen.store(session.pk, PANEL, [_frozen(3)], anew=True)
    assert [view.number for view in frozen.load(session.pk, PANEL, 1, 9)] == [1, 2]
    frozen.store(session.pk, PANEL, [_frozen(3)], anew=True)
    assert [view.number for view in frozen.load(session.pk, PANEL, 1, 9)] == [3]
