"""What people send, taken in once and whole, however often and by however many processes it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from envelopes import intake
from envelopes.access import adopt_sessions
from envelopes.approvals.resolve import resolve
from envelopes.errors import AlreadyDecided, BeachError, ValidationFailed
from envelopes.models import Approval, Session
from tests import factories
from tests.together import together

ROUNDS = 5
AT_ONCE = 4


@pytest.fixture(autouse=True)
def _actor() -> Iterator[None]:
    with factories.acting(factories.make_tool()):
        yield


# -- the same frame through several processes ----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("decision", ["granted", "denied"])
def test_s6_the_same_decision_through_two_processes_at_once_is_one_and_nobody_was_late(decision: str) -> None:
    owner = factories.make_principal(factories.make_user())
    for number in range(ROUNDS):
        session = factories.make_session(owner)
        approval = factories.make_approval(session)
        send = partial(intake.post_decision, session, owner, f"d{number}", approval.approval_id, decision)

        answers = together(*[send] * AT_ONCE)

        assert [answer["state"] for answer in answers if isinstance(answer, dict)] == [decision] * AT_ONCE
        assert sum(answer.get("repeated", False) for answer in answers) == AT_ONCE - 1
        assert factories.log_of(session, "late-decision") == []


@pytest.mark.django_db(transaction=True)
def test_s6_a_late_click_that_is_sent_again_is_refused_again_and_recorded_once() -> None:
    owner = factories.make_principal(factories.make_user())
    session = factories.make_session(owner)
    approval = factories.make_approval(session)
    intake.post_decision(session, owner, "first", approval.approval_id, "denied")
    send = partial(intake.post_decision, session, owner, "second", approval.approval_id, "granted")

    refused = [*together(*[send] * AT_ONCE), *together(send)]

    assert [type(error) for error in refused] == [AlreadyDecided] * (AT_ONCE + 1)
    assert {error.facts["state"] for error in refused} == {"denied"}
    assert len(factories.log_of(session, "late-decision")) == 1
    assert Approval.objects.get().state == "denied"


def _message(session: Session, owner: Any) -> Callable[[], Any]:
    return partial(intake.post_message, session, owner, "m1", "Hello")


def _stop(session: Session, owner: Any) -> Callable[[], Any]:
    return partial(intake.stop, session, owner, "m1")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("send", "kind", "rows"), [(_message, "message", 1), (_stop, "settled", 1)])
def test_s6_other_frames_that_arrive_twice_at_once_have_one_effect(send: Any, kind: str, rows: int) -> None:
    owner = factories.make_principal(factories.make_user())
    for _ in range(ROUNDS):
        session = factories.make_session(owner)
        if kind == "settled":
            factories.make_turn(session, status="queued")

        answers = together(*[send(session, owner)] * AT_ONCE)

        assert sum(answer.get("repeated", False) for answer in answers) == AT_ONCE - 1
        assert len({answer["seq"] for answer in answers}) == 1
        assert len(factories.log_of(session, kind)) == rows


@pytest.mark.django_db
def test_s6_what_a_visitor_sent_before_signing_in_is_a_repeat_after_it() -> None:
    visitor, cookie = factories.make_visitor()
    session = factories.make_session(visitor)
    intake.post_message(session, visitor, "m1", "Hello")
    user = factories.make_user()

    assert adopt_sessions(user, cookie) == 1
    again = intake.post_message(session, factories.make_principal(user), "m1", "Hello")

    assert again["repeated"] is True
    assert len(factories.log_of(session, "message")) == 1


# -- nothing to be seen --------------------------------------------------------------------------------------------

UNSEEN = [
    "\u200b",
    "\u200d\ufe0f",
    "\u2060 \ufeff\n",
    "\u00ad\u034f",
    "\u202e\u2066",
    "\u3164\u115f\uffa0",
    "\u2800",
    "\u180e\u17b4",
    "\U000e0041\U000e007f",
    "\x00\x07",
    "\u00a0\u2003",
]


@pytest.mark.django_db
@pytest.mark.parametrize("words", UNSEEN, ids=[words.encode("unicode_escape").decode() for words in UNSEEN])
def test_s9_a_message_without_a_visible_character_is_empty(words: str) -> None:
    owner = factories.make_principal(factories.make_user())
    session = factories.make_session(owner)

    with pytest.raises(ValidationFailed, match="The message is empty"):
        intake.post_message(session, owner, "m1", words)

    assert factories.log_of(session) == []


@pytest.mark.django_db
def test_s9_a_note_that_nobody_can_read_says_nothing() -> None:
    staff = factories.make_principal(factories.make_user(superuser=True))
    call = factories.make_call(factories.make_turn(factories.make_session()), state="unknown")

    with pytest.raises(ValidationFailed, match=r"(Explain|Say) how you"):
        resolve(call.pk, "succeeded", staff, note="\u200b\u2060")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "words", ["\u200f\u05e9\u05dc\u05d5\u05dd", "👩\u200d🚀", ".", "\ufffc", "0\ufe0f\u20e3"]
)
def test_s9_whatever_shows_is_a_message(words: str) -> None:
    owner = factories.make_principal(factories.make_user())
    session = factories.make_session(owner)
    try:
        intake.post_message(session, owner, "m1", words)
    except BeachError as error:
        pytest.fail(error.message)
