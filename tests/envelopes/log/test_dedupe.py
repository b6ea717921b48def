"""A client message that comes again is answered and not run again; who sent it is part of its name (D36)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from envelopes import intake
from envelopes.errors import Forbidden, TooLarge, ValidationFailed
from envelopes.intake import remembering
from envelopes.models import ClientMessage, Event, Turn
from envelopes.runtime.tidying import in_batches
from tests import factories
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


def _counts() -> tuple[int, int, int]:
    return Event.objects.count(), Turn.objects.count(), ClientMessage.objects.count()


def test_eight_copies_at_once_open_one_turn_and_get_one_answer() -> None:
    who, _ = factories.make_visitor()
    session = factories.make_session(who)
    answers = together(*[lambda: intake.post_message(session, who, "tab1-1", "Hello")] * 8)
    assert {answer["seq"] for answer in answers} == {answers[0]["seq"]}
    assert sorted(answer.get("repeated", False) for answer in answers) == [False] + [True] * 7
    assert Turn.objects.count() == 1
    assert Event.objects.filter(kind="message").count() == 1


def test_a_repeat_with_another_text_gets_the_first_answer_and_changes_nothing() -> None:
    who, _ = factories.make_visitor()
    session = factories.make_session(who)
    first = intake.post_message(session, who, "one", "Hello")
    before = _counts()
    assert intake.post_message(session, who, "one", "Something else") == {**first, "repeated": True}
    assert intake.stop(session, who, "one") == {**first, "repeated": True}
    assert _counts() == before


def test_equal_ids_in_other_conversations_or_of_other_people_have_nothing_to_do_with_each_other() -> None:
    ada, _ = factories.make_visitor()
    bo, _ = factories.make_visitor()
    sessions = [(factories.make_session(ada), ada), (factories.make_session(ada), ada)]
    sessions.append((factories.make_session(bo), bo))
    for session, who in sessions:
        assert "repeated" not in intake.post_message(session, who, "one", "Hello")
    assert Turn.objects.count() == 3


def test_the_answer_is_kept_after_the_login_changed_only_for_whoever_sent_it() -> None:
    user = factories.make_user()
    who, cookie = factories.make_visitor()
    session = factories.make_session(who)
    intake.post_message(session, who, "one", "Hello")
    from envelopes.access import adopt_sessions

    assert adopt_sessions(user, cookie) == 1
    with pytest.raises(Forbidden):
        intake.post_message(session, who, "one", "Hello")


@pytest.mark.parametrize(
    ("message_id", "text", "error"),
    [
        ("ok", "", ValidationFailed),
        ("ok", " \n\t ", ValidationFailed),
        ("ok", "x" * 101, TooLarge),
        ("", "Hello", ValidationFailed),
        ("x" * 65, "Hello", ValidationFailed),
    ],
)
def test_a_refused_message_leaves_nothing_and_may_be_sent_again(
    message_id: str, text: str, error: type[Any], settings: Any
) -> None:
    settings.BEACH_MESSAGE_CHARACTERS = 100
    who, _ = factories.make_visitor()
    session = factories.make_session(who)
    before = _counts()
    with pytest.raises(error) as caught:
        intake.post_message(session, who, message_id, text)
    assert caught.value.message.endswith(".")
    assert _counts() == before
    assert "repeated" not in intake.post_message(session, who, "ok", "Hello")


def test_what_nobody_sends_again_is_forgotten_after_days() -> None:
    who, _ = factories.make_visitor()
    session = factories.make_session(who)
    intake.post_message(session, who, "old", "Hello")
    ClientMessage.objects.update(at=timezone.now() - intake.REMEMBERED - timedelta(minutes=1))
    intake.post_message(session, who, "new", "Hello again")

    assert intake.forget_messages() == 1
    assert [message.message_id for message in ClientMessage.objects.all()] == ["new"]


def test_what_is_forgotten_is_forgotten_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wants to write meanwhile waits for one of them at most."""
    monkeypatch.setattr(remembering, "FORGOTTEN_AT_ONCE", 2)
    who, _ = factories.make_visitor()
    session = factories.make_session(who)
    for number in range(5):
        intake.post_message(session, who, str(number), "Hello")
    ClientMessage.objects.exclude(message_id="4").update(
        at=timezone.now() - intake.REMEMBERED - timedelta(minutes=1)
    )

    assert [intake.forget_messages() for _ in range(3)] == [2, 2, 0]
    assert [message.message_id for message in ClientMessage.objects.all()] == ["4"]


def test_the_sweeper_goes_on_until_a_batch_is_not_full() -> None:
    left = [2, 2, 1, 2]
    asyncio.run(in_batches(lambda: left.pop(0), 2))
    assert left == [2]
