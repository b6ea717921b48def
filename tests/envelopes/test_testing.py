"""What tests of applications are given: a conversation that waits, and a database that can be emptied afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test.utils import _TestState

from a2ui.compose import Button, Column, Surface, Text, event
from envelopes.errors import NotFound, RegistrationError
from envelopes.intake import SurfaceRefused
from envelopes.models import AuditChain, AuditEntry
from envelopes.providers.scripted import Reply, Say, data, text
from envelopes.testing import conversation
from tests.desk import replies


def _said(words: str) -> Any:
    return [Say([text("response", words)])]


@pytest.mark.django_db(transaction=True)
async def test_a_conversation_has_what_was_said_in_order() -> None:
    async with conversation("sally", replies(_said("First."), _said("Second."))) as talk:
        await talk.say("One")
        await talk.say("Two")
        assert await talk.texts() == ["First.", "Second."]
        assert [part["text"] for part in await talk.parts()] == ["First.", "Second."]
        with pytest.raises(NotFound):
            await talk.decide("granted")


@pytest.mark.django_db(transaction=True)
async def test_an_agent_that_is_not_there_is_named() -> None:
    with pytest.raises(RegistrationError, match="No actor is called 'nobody'"):
        async with conversation("nobody"):
            pass


async def test_it_is_for_tests_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_TestState, "saved_data")
    with pytest.raises(RuntimeError, match="This is for tests"):
        async with conversation("sally"):
            pass


@pytest.mark.django_db
def test_a_test_that_never_commits_is_told_so() -> None:
    """No runner would ever see the message, and the agent would seem to have said nothing. ``TestCase`` of Django calls
    its async tests like this."""

    async def talk() -> None:
        async with conversation("sally"):
            pass

    with pytest.raises(RuntimeError, match="derive it from TransactionTestCase"):
        async_to_sync(talk)()


@pytest.mark.django_db(transaction=True)
async def test_a_database_in_memory_is_refused_with_what_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables are locked whenever an agent and the test use one at once, so some runs would fail."""
    monkeypatch.setattr("envelopes.testing._is_in_memory", lambda: True)
    with pytest.raises(RuntimeError, match=r'in memory.*DATABASES\["default"\]\["TEST"\]'):
        async with conversation("sally"):
            pass


@pytest.mark.django_db(transaction=True)
async def test_what_was_refused_of_a_script_is_told() -> None:
    wrong = [Say([text("answer", "Hello.")])]
    async with conversation("sally", replies(wrong, _said("Hello."))) as talk:
        await talk.say("Hi")
        (refused,) = await talk.refused()
        assert await talk.texts() == ["Hello."]
    assert (refused["call"], refused["error"]["path"]) == ("respond", "/parts/0/metadata/partType")
    assert "'answer' is not registered" in refused["error"]["message"]


@pytest.mark.django_db(transaction=True)
def test_django_can_empty_the_tables_afterwards() -> None:
    """``TransactionTestCase`` flushes them, which a trigger refuses as long as the decision log holds something."""

    async def talk() -> None:
        async with conversation("sally") as found:
            await found.say("Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets")
            await found.decide("denied")
            assert await AuditEntry.objects.acount() > 0

    async_to_sync(talk)()
    # In which order it takes tables it does not say.
    assert (AuditEntry.objects.count(), AuditChain.objects.count()) == (0, 0)
    call_command("flush", interactive=False, verbosity=0)


@pytest.mark.django_db(transaction=True)
async def test_a_button_is_pressed_by_its_id_and_the_page_is_its_owners() -> None:
    ada = await User.objects.acreate(username="ada")
    card = Surface("card", Column(Button(Text("Go on"), event("go"), id="go")))
    said = Reply([Say([data("a2ui-surface", {"messages": card.create()}), text("response", "A card.")])])
    async with conversation("sally", replies(said, _said("Gone on.")), owner=ada) as talk:
        await talk.say("A card, please")
        assert "Go on" in await talk.page()
        await talk.press("go")
        assert await talk.texts() == ["A card.", "Gone on."]
        with pytest.raises(SurfaceRefused):
            await talk.press("nothing")


@pytest.mark.django_db(transaction=True)
async def test_somebody_else_decides() -> None:
    ada, grace = (
        await User.objects.acreate(username="ada"),
        await sync_to_async(User.objects.create_superuser)("grace"),
    )
    other = await User.objects.acreate(username="bo")
    async with conversation("sally", owner=ada) as talk:
        await talk.say("Book easyJet EJ4521 on 15 August for Ada Lovelace, 2 tickets")
        with pytest.raises(NotFound):
            await talk.decide("granted", by=other)
        await talk.decide("denied", by=grace)
        assert await talk.asked() == []


@pytest.mark.django_db(transaction=True)
async def test_a_guest_of_a_test_has_no_page() -> None:
    async with conversation("sally") as talk:
        with pytest.raises(ValueError, match="owner=user"):
            await talk.page()
