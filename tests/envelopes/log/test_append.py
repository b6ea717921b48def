"""Appending: numbers without gaps whoever writes, all or nothing, heard of only when it is stored."""

from __future__ import annotations

import pytest
from django.db import transaction

from envelopes.errors import LeaseLost, NotFound
from envelopes.log.append import Fence, JobFence, TurnFence, writing
from envelopes.log.doorbell import doorbell
from envelopes.log.read import rows_after
from envelopes.models import Event, Session, Turn
from envelopes.protocol.rows import KINDS
from tests import factories
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool, int]]:
    """Every ring as ``(session, work, rows that could be read at that moment)``."""
    heard: list[tuple[int, bool, int]] = []

    def ring(session: int, *, work: bool = False, **more: bool) -> None:
        heard.append((session, work, Event.objects.filter(session=session).count()))

    monkeypatch.setattr(doorbell, "ring", ring)
    return heard


def _seqs(session: Session) -> list[int]:
    return [row.seq for row in rows_after(session.pk, 0)]


def test_sixteen_writers_leave_no_gap_and_no_double() -> None:
    session = factories.make_session()

    def write(name: int) -> None:
        for number in range(10):
            with writing(session.pk) as writer:
                writer.add("note", {"writer": name, "number": number})
                writer.add("note", {"writer": name, "number": number, "second": True})

    assert together(*(lambda name=name: write(name) for name in range(16))) == [None] * 16

    rows = rows_after(session.pk, 0)
    assert [row.seq for row in rows] == list(range(1, 321))
    session.refresh_from_db()
    assert session.last_seq == 320
    # Rows of one append stay together, and each writer's in its own order.
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert second.data == {**first.data, "second": True}
    for name in range(16):
        assert [row.data["number"] for row in rows[::2] if row.data["writer"] == name] == list(range(10))


def test_sessions_count_for_themselves() -> None:
    one, two = factories.make_session(), factories.make_session()
    for session in (one, two, one):
        with writing(session.pk) as writer:
            writer.add("note")
    assert (_seqs(one), _seqs(two)) == ([1, 2], [1])


def test_a_block_that_raises_stores_nothing_and_uses_up_no_number(rings: list[object]) -> None:
    session = factories.make_session()
    with pytest.raises(ZeroDivisionError), writing(session.pk) as writer:  # noqa: PT012 - the block is the point
        writer.add("note")
        writer.flush()
        raise ZeroDivisionError
    assert _seqs(session) == []
    assert rings == []
    with writing(session.pk) as writer:
        assert writer.add("note") == 1


def test_an_unknown_session_is_told() -> None:
    with pytest.raises(NotFound) as caught, writing(123_456):
        pass
    assert caught.value.message.endswith(".")


def test_the_bell_rings_once_an_append_and_after_the_commit(rings: list[object]) -> None:
    session = factories.make_session()
    with transaction.atomic():
        with writing(session.pk) as writer:
            writer.add("note")
            writer.add("note")
        assert rings == []
    assert rings == [(session.pk, False, 2)]


def test_rows_that_were_flushed_inside_the_block_ring_like_any_other(rings: list[object]) -> None:
    session = factories.make_session()
    with writing(session.pk) as writer:
        writer.add("note")
        writer.flush()
        assert _seqs(session) == [1]
    assert rings == [(session.pk, False, 1)]


def test_a_block_without_rows_rings_only_for_work(rings: list[object]) -> None:
    session = factories.make_session()
    with writing(session.pk):
        pass
    assert rings == []
    with writing(session.pk) as writer:
        writer.wake_runner()
    assert rings == [(session.pk, True, 0)]


def test_a_kind_says_who_gets_it_and_a_row_may_say_otherwise() -> None:
    session = factories.make_session()
    with writing(session.pk) as writer:
        for kind in KINDS:
            writer.add(kind)
        writer.add("part", audience="audit")
    rows = rows_after(session.pk, 0)
    assert {row.kind: row.audience for row in rows[:-1]} == KINDS
    assert (rows[-1].kind, rows[-1].audience) == ("part", "audit")


# -- fences -------------------------------------------------------------------------------------------------------


def _append(session: int, fence: Fence) -> None:
    with writing(session, fence=fence) as writer:
        writer.add("note")


def test_only_the_attempt_that_runs_the_turn_may_write() -> None:
    session = factories.make_session()
    turn = factories.make_turn(session)
    before = _seqs(session)
    for stale in (TurnFence(turn.pk, 0), TurnFence(turn.pk, 2), TurnFence(turn.pk + 1, 1)):
        with pytest.raises(LeaseLost):
            _append(session.pk, stale)
    assert _seqs(session) == before
    _append(session.pk, TurnFence(turn.pk, 1))
    for status in ("queued", "suspended", "waiting", "settled"):
        Turn.objects.filter(pk=turn.pk).update(status=status)
        with pytest.raises(LeaseLost):
            _append(session.pk, TurnFence(turn.pk, 1))
    assert len(_seqs(session)) == len(before) + 1


def test_only_the_attempt_that_runs_the_job_may_write() -> None:
    session = factories.make_session()
    turn = factories.make_turn(session)
    call = factories.make_call(turn, state="running", background=True, attempt=3)
    before = _seqs(session)
    with pytest.raises(LeaseLost):
        _append(session.pk, JobFence(call.pk, 2))
    _append(session.pk, JobFence(call.pk, 3))
    call.state = "succeeded"
    call.save()
    with pytest.raises(LeaseLost):
        _append(session.pk, JobFence(call.pk, 3))
    assert len(_seqs(session)) == len(before) + 1


def test_a_runner_that_is_overtaken_while_it_writes_loses_cleanly() -> None:
    """The fence is looked at under the lock, so there is no moment between the look and the write."""
    session = factories.make_session()
    turn = factories.make_turn(session)

    def overtake() -> None:
        with writing(session.pk) as writer:
            taken = Turn.objects.get(pk=turn.pk)
            taken.attempt = 2
            taken.save(update_fields=["attempt"])
            writer.add("note", {"by": "new"})

    def write() -> int:
        written = 0
        for _ in range(20):
            try:
                with writing(session.pk, fence=TurnFence(turn.pk, 1)) as writer:
                    writer.add("note", {"by": "old"})
                written += 1
            except LeaseLost:
                break
        return written

    written, _ = together(write, overtake)
    by = [row.data["by"] for row in rows_after(session.pk, 0) if row.kind == "note"]
    assert by == ["old"] * written + ["new"]
