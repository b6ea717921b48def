"""What is kept of earlier turns is what the log says of them, whatever happened to them since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envelopes.access import Principal
from envelopes.approvals.resolve import resolve
from envelopes.models import Session, ToolCall, Turn
from envelopes.providers.transcript import in_order
from envelopes.registries.part_types import PartType, part_types
from envelopes.session_state import live_sessions
from envelopes.turns import earlier, window
from envelopes.turns.history import opening_messages
from envelopes.types import JsonObject
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

SURFACE = {"version": "v0.9", "deleteSurface": {"surfaceId": "sights"}}


def _set(value: int) -> JsonObject:
    return {"version": "v1.0", "updateDataModel": {"surfaceId": "sights", "path": "/n", "value": value}}


@pytest.fixture
def staff() -> Principal:
    return factories.make_principal(factories.make_user(staff=True, superuser=True))


def _following(session: Session) -> Turn:
    turn = factories.make_turn(session, status="queued")
    return Turn.objects.select_related("session").get(pk=turn.pk)


def _anew(turn: Turn) -> list[JsonObject]:
    live_sessions.forget(turn.session_id)
    return opening_messages(turn)


def _happens(session: Session, what: str, staff: Principal) -> None:
    if what == "found out":
        call = ToolCall.objects.filter(session=session, state="unknown").first()
        if call is not None:
            resolve(call.pk, "succeeded", staff, note="Seen.")
        return
    if what == "goes on":
        turn = Turn.objects.filter(session=session, status="suspended").first()
        if turn is not None:
            factories.add_part(turn, "response", text=f"More of {turn.number}.")
            factories.settle_turn(turn)
        return
    if what == "shows more":
        turn = Turn.objects.filter(session=session, status="suspended").last()
        if turn is not None:
            factories.add_part(turn, "a2ui-surface", data=_set(turn.session.events.count()))
            factories.add_part(turn, "response", text=f"{turn.session.events.count()},", partId="counted")
        return
    turn = factories.make_turn(session, text=f"<action> {what}?")
    match what:
        case "says":
            factories.add_part(turn, "response", text=f"Said {turn.number}.")
        case "shows":
            factories.add_part(turn, "a2ui-surface", data=SURFACE)
        case "asks":
            factories.make_approvals(turn)
            return
        case "calls":
            factories.make_call(turn, state="unknown")
    factories.settle_turn(turn)


@settings(max_examples=13, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sampled_from(
            ["says", "says", "shows", "asks", "shows more", "calls", "found out", "goes on", "nothing"]
        ),
        max_size=9,
    )
)
def test_models_read_what_they_would_read_if_nothing_were_kept(staff: Principal, happens: list[str]) -> None:
    monkeypatch = pytest.MonkeyPatch()
    session = factories.make_session()
    with monkeypatch.context() as patched, factories.acting(factories.make_tool()):
        patched.setattr(window, "EARLIER_TURNS", 4)
        for what in happens:
            _happens(session, what, staff)
            # Nobody is to find the turn that asks.
            with transaction.atomic():
                following = _following(session)
                told = opening_messages(following)
                kept = live_sessions.at_hand(session).memory
                assert told == _anew(following)
                live_sessions.at_hand(session).memory = kept
                transaction.set_rollback(True)


def _rows_read(turn: Turn, patched: pytest.MonkeyPatch) -> int:
    count = 0
    fetched = earlier._fetched

    def counted(*args: object) -> list[tuple[object, ...]]:
        nonlocal count
        found = fetched(*args)  # type: ignore[arg-type]
        count += len(found)
        return found

    with patched.context() as here:
        here.setattr(earlier, "_fetched", counted)
        opening_messages(turn)
    return count


def test_a_turn_reads_of_the_last_one_only(staff: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    session = factories.make_session()
    for _ in range(10):
        _happens(session, "says", staff)
        opening_messages(_following(session))

    turn = _following(session)
    # The last that settled, those that wait, and what these said.
    before = _rows_read(turn, monkeypatch)
    live_sessions.forget(session.pk)
    assert before < _rows_read(turn, monkeypatch)


@pytest.mark.parametrize("settled_before", [0, 1])
def test_of_a_turn_in_which_a_job_goes_on_only_what_is_new_is_read(
    staff: Principal, monkeypatch: pytest.MonkeyPatch, settled_before: int
) -> None:
    session = factories.make_session()
    for _ in range(settled_before):
        _happens(session, "says", staff)
    with factories.acting(factories.make_tool()):
        _happens(session, "asks", staff)
    job = Turn.objects.get(session=session, status="suspended")
    for number in range(200):
        factories.add_part(job, "a2ui-surface", data=_set(number))
    before = _rows_read(_following(session), monkeypatch)
    assert before > 200

    factories.add_part(job, "a2ui-surface", data=_set(200))
    turn = _following(session)
    # The turns and the part that is new.
    assert _rows_read(turn, monkeypatch) < 10
    told = opening_messages(turn)
    assert told == _anew(turn)
    said = str(told[2 * settled_before + 1]["content"][0]["text"])
    assert said.count("data /n") == 1
    assert said.endswith("[Surface sights: data /n = 200]")


def test_of_a_job_that_shows_what_no_model_reads_each_row_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board, map_, fetched = _wordless("acme.board"), _wordless("acme.map"), earlier._fetched
    looked: list[int] = []

    def watched(text: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        if "DISTINCT" in text:
            looked.append(values[1])
        return fetched(text, values)

    with part_types.including(board), part_types.including(map_):
        session = factories.make_session()
        job = factories.make_turn(session)
        rows = [factories.add_part(job, "acme.board", data={"n": number}) for number in range(20)]
        monkeypatch.setattr(earlier, "_fetched", watched)
        told = [opening_messages(turn := _following(session))]
        factories.add_part(job, "acme.map", data={})
        told += [opening_messages(turn := _following(session)) for _ in range(2)]
        assert looked[0] < rows[0] and rows[-1] < looked[1] < looked[2]
        assert told[-1] == _anew(turn)

    said = [str(messages[1]["content"][0]["text"]) for messages in told]
    assert said[0].endswith("[Shown, without words: acme.board.]")
    both = "[Shown, without words: acme.board.]\n[Shown, without words: acme.map.]"
    assert said[1].endswith(both) and said[2].endswith(both)


def _wordless(name: str) -> PartType:
    return PartType(name, frozenset({"actor"}), "flush", "once", retold=None)


def test_of_long_texts_nothing_is_kept(staff: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    session = factories.make_session()
    _happens(session, "says", staff)
    opening_messages(_following(session))
    assert live_sessions.at_hand(session).memory

    monkeypatch.setattr(earlier, "KEPT_CHARACTERS", 10)
    opening_messages(_following(session))
    assert not live_sessions.at_hand(session).memory


def test_what_models_read_of_one_turn_is_not_what_they_read_of_the_next(staff: Principal) -> None:
    """A provider of an application may change what it is given."""
    session = factories.make_session()
    _happens(session, "says", staff)
    turn = _following(session)
    first, second = in_order(opening_messages(turn)), opening_messages(turn)
    first[0]["content"][0]["text"] = first[1]["content"][0]["text"] = "changed"
    first[0]["content"].append({"type": "text", "text": "added"})

    assert second == opening_messages(turn) != first
