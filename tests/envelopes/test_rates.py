"""How many messages somebody may send in a minute: each may ask a model."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, RequestFactory

from envelopes import intake, rates
from envelopes.access import Principal, program
from envelopes.came_from import address_in, address_of
from envelopes.errors import TooManyMessages
from envelopes.providers.scripted import Say, text
from envelopes.transports.live.errors import payload_of
from tests.desk import desk, replies
from tests.sockets import Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

YES = replies([Say([text("response", "Yes.")])])


@pytest.fixture(autouse=True)
def few(settings: Any) -> Any:
    settings.BEACH_MESSAGES_PER_MINUTE, settings.BEACH_MESSAGES_PER_ADDRESS = 2, 3
    rates.forget()
    yield
    rates.forget()


async def test_of_a_guests_messages_so_many_a_minute_are_answered() -> None:
    async with desk(YES) as d:
        await d.say("one")
        await d.say("two")
        with pytest.raises(TooManyMessages) as refused:
            await d.say("three")

        assert refused.value.facts["limit"] == "BEACH_MESSAGES_PER_MINUTE"
        assert 50 < refused.value.facts["retry_after"] <= 60
        assert "2 messages within a minute" in refused.value.message
        assert len(d.requests) == 2 and len(await d.turns()) == 2, "nothing was stored"


async def test_a_message_that_comes_again_is_answered_as_before() -> None:
    async with desk(YES) as d:
        for name in ("a", "b"):
            await sync_to_async(intake.post_message)(d.session, d.owner, name, "Hello")
        again = await sync_to_async(intake.post_message)(d.session, d.owner, "a", "Hello")
        await d.quiet()

        assert again["repeated"] is True


async def test_people_of_one_address_share_its_bound(settings: Any) -> None:
    settings.BEACH_MESSAGES_PER_MINUTE = 0
    for number in range(3):
        rates.take_message(f"anonymous:{number}", "192.0.2.7")
    with pytest.raises(TooManyMessages) as refused:
        rates.take_message("anonymous:new", "192.0.2.7")
    rates.take_message("anonymous:new", "192.0.2.8")

    assert refused.value.facts["limit"] == "BEACH_MESSAGES_PER_ADDRESS"


async def test_programs_are_counted_at_their_doors() -> None:
    async with desk(YES, owner=program("peer", "7", name="Baxter")) as d:
        for words in ("one", "two", "three", "four"):
            await d.say(words)

        assert len(await d.turns()) == 4


async def test_the_page_is_told_and_whoever_wrote_it_has_it_back(settings: Any) -> None:
    settings.BEACH_MESSAGES_PER_ADDRESS = 0
    async with panel(YES) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        for words in ("one", "two"):
            await socket.ask({"type": "message", "text": words})
        told = await socket.ask({"type": "message", "text": "three"})
        await socket.close()

    assert (told["code"], told["retry"]) == ("too_many_messages", False)


async def test_over_http_it_is_429_with_the_time_to_come_again() -> None:
    user = await sync_to_async(User.objects.create_user)("ada")
    async with desk(YES, owner=Principal(user=user, name="Ada")) as d:
        client = AsyncClient()
        await client.aforce_login(user)
        url = f"/api/sessions/{d.session.public_id}/messages"
        answers = [await client.post(url, {"text": "Hi"}, content_type="application/json") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].json()["code"] == "too_many_messages"
    assert 50 < int(answers[-1].headers["Retry-After"]) <= 60


def test_the_live_channel_has_its_own_word_for_it() -> None:
    assert payload_of(TooManyMessages())["code"] == "RATE_LIMIT_EXCEEDED"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "198.51.100.1", "10.0.0.1"),
        (1, "203.0.113.9, 198.51.100.1", "198.51.100.1"),
        (2, "203.0.113.9, 198.51.100.1", "203.0.113.9"),
        (3, "203.0.113.9, 198.51.100.1", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        # Whoever has one address of IPv6 has the 64 bits behind it, and each connection has another port.
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "[2001:db8:1:2::9]:50123", "2001:db8:1:2::/64"),
        (1, "198.51.100.1:50123", "198.51.100.1"),
        (1, "::ffff:198.51.100.1", "198.51.100.1"),
        (1, "unknown", "unknown"),
    ],
)
def test_only_proxies_of_ours_are_believed(proxies: int, forwarded: str, address: str, settings: Any) -> None:
    settings.BEACH_PROXIES = proxies
    request = RequestFactory().get("/", headers={"X-Forwarded-For": forwarded}, REMOTE_ADDR="10.0.0.1")
    scope = {"client": ("10.0.0.1", 5), "headers": [(b"x-forwarded-for", forwarded.encode())]}

    assert (address_of(request), address_in(scope)) == (address, address)


def test_an_address_is_no_part_of_who_somebody_is() -> None:
    assert Principal(owner_key="k", address="a") == Principal(owner_key="k", address="b")
    assert address_in({"headers": []}) == ""
