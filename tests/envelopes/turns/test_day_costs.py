"""What answers may cost in a day: all of them, those to one person or guest, those to guests from one address."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from envelopes import intake
from envelopes.access import COOKIE, Principal, new_anonymous_owner
from envelopes.errors import (
    AddressCostReached,
    BeachError,
    DayCostReached,
    PersonCostReached,
    TooManyMessages,
)
from envelopes.fakes import FakeMessagesApi, Reply, call
from envelopes.intake.originating import originator
from envelopes.log.append import writing
from envelopes.models import Event, Session, Turn
from envelopes.providers.anthropic import AnthropicProvider
from envelopes.providers.clients import close_clients
from envelopes.testing import create_session
from envelopes.turns import day_costs as module
from envelopes.turns.day_costs import AT_ONCE, LOOK_BACK, DayCosts, day_costs
from envelopes.turns.opening import open_turn
from tests import factories
from tests.desk import Desk, desk, replies
from tests.envelopes.admin.pages import text_of, viewer
from tests.envelopes.test_costs import LOOK, PRICES, USAGE

pytestmark = pytest.mark.django_db(transaction=True)

PERSON = Principal(owner_key="a" * 64, name="Ada", address="192.0.2.7")
NEXT_DOOR = Principal(owner_key="b" * 64, name="Bo", address="192.0.2.7")
ELSEWHERE = Principal(owner_key="c" * 64, name="Cy", address="198.51.100.1")


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    day_costs.forget()
    yield
    day_costs.forget()


def spent(who: Principal, *costs: float, ago: timedelta = timedelta()) -> Session:
    """A conversation of ``who`` with an answer that took a reply of each of these costs."""
    session = create_session(who, "sally")
    with writing(session.pk) as writer:
        trigger = {"kind": "message", "text": "Hello", "metadata": {}}
        turn = open_turn(writer, trigger, originators=[originator(who)])
        for cost in costs:
            writer.add("provider", {"usage": {}, "step": 1, "cost": cost}, turn=turn, audience="audit")
        writer.add("provider", {"error": {"code": "provider_failed"}}, turn=turn, audience="audit")
    if ago:
        Event.objects.filter(session=session).update(at=timezone.now() - ago)
    return session


def reached(who: Principal, *, zone: str = "UTC", by: DayCosts = day_costs) -> BeachError | None:
    by.look()
    return by.reached([originator(who)], zone)


@pytest.mark.parametrize(
    ("setting", "kind", "still"),
    [
        ("BEACH_PERSON_DAY_COST", PersonCostReached, [NEXT_DOOR, ELSEWHERE]),
        ("BEACH_ADDRESS_DAY_COST", AddressCostReached, [ELSEWHERE]),
        ("BEACH_DAY_COST", DayCostReached, []),
    ],
)
def test_each_bound_has_its_own_error(
    setting: str, kind: type[BeachError], still: list[Principal], settings: Any
) -> None:
    setattr(settings, setting, 0.5)
    spent(PERSON, 0.3)
    assert reached(PERSON) is None
    spent(PERSON, 0.2)

    for who in (PERSON, NEXT_DOOR, ELSEWHERE):
        found = reached(who)
        assert (found is None) == (who in still)
        if found is not None:
            assert type(found) is kind and found.facts["limit"] == setting
    with pytest.raises(kind):
        intake.post_message(create_session(PERSON, "sally"), PERSON, "m", "Hello")
    assert Turn.objects.count() == 2, "nothing was stored"


def test_it_says_until_when_in_the_words_of_whoever_reads_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BEACH_PERSON_DAY_COST, settings.TIME_ZONE = 0.1, "Europe/Lisbon"
    monkeypatch.setattr(module.timezone, "now", lambda: datetime(2027, 8, 10, 21, 30, tzinfo=UTC))
    session = spent(PERSON, 0.2)
    Event.objects.filter(session=session).update(at=datetime(2027, 8, 10, 9, 0, tzinfo=UTC))

    found = reached(PERSON, zone="Asia/Tokyo")

    # Midnight in Lisbon, which is 23:00 UTC in summer.
    assert found is not None and found.facts["retry_after"] == 90 * 60
    assert found.message == (
        "You have reached today’s limit for answers. You can go on from 08:00 on Wednesday."
    )


def test_a_day_is_over_at_midnight_and_yesterday_counts_for_nothing(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BEACH_PERSON_DAY_COST = settings.BEACH_ADDRESS_DAY_COST = settings.BEACH_DAY_COST = 0.1
    spent(PERSON, 5.0, ago=timedelta(days=1))
    assert reached(PERSON) is None
    spent(PERSON, 0.2)
    assert isinstance(reached(PERSON), DayCostReached)
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(module.timezone, "now", lambda: tomorrow)

    assert reached(PERSON) is None


def test_what_other_processes_wrote_counts_once_and_late_rows_too(settings: Any) -> None:
    settings.BEACH_DAY_COST = 1.0
    here, elsewhere = DayCosts(), DayCosts()
    for number in range(4):
        spent(PERSON, 0.1, ago=timedelta(seconds=10 * number) if timezone.now().hour else timedelta())
        here.look()
        here.look()
    told, other = here.standing(), elsewhere.standing()

    assert told is not None and other is not None
    assert told.cost == pytest.approx(other.cost) == pytest.approx(0.4)


def test_a_row_that_was_committed_late_or_by_a_slow_clock_counts_within_a_minute(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BEACH_PERSON_DAY_COST = 1.0
    now = timezone.now().replace(hour=12)
    monkeypatch.setattr(module.timezone, "now", lambda: now)
    spent(PERSON, 0.3)
    deleted = spent(PERSON, 0.3)
    assert reached(PERSON) is None
    spent(PERSON, 0.5, ago=timedelta(hours=2))
    # As many rows as before: another one went.
    deleted.delete()
    assert reached(PERSON) is None, "it is not looked for each time"

    now += LOOK_BACK
    with CaptureQueriesContext(connection) as looked:
        assert isinstance(reached(PERSON), PersonCostReached), "0.3, 0.5, and 0.3 that was deleted"
    now += LOOK_BACK
    with CaptureQueriesContext(connection) as again:
        assert isinstance(reached(PERSON), PersonCostReached)
    told = day_costs.standing()

    assert told is not None and told.cost == pytest.approx(1.1)
    assert (len(looked), len(again)) == (3, 2)


def test_to_ask_takes_so_many_queries_and_reads_the_index_of_replies(settings: Any) -> None:
    spent(PERSON, 0.1)
    with CaptureQueriesContext(connection) as none:
        assert reached(PERSON) is None
    settings.BEACH_DAY_COST = 5.0
    with CaptureQueriesContext(connection) as first:
        day_costs.look()
    with CaptureQueriesContext(connection) as nothing_new:
        day_costs.look()
    for _ in range(5):
        spent(NEXT_DOOR, 0.1, 0.1)
    with CaptureQueriesContext(connection) as some:
        day_costs.look()

    assert [len(one) for one in (none, first, nothing_new, some)] == [0, 2, 1, 2]
    assert AT_ONCE >= 6
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' if connection.vendor == 'sqlite' else ''}{some[0]['sql']}")
        assert "event_replies" in str(cursor.fetchall())


async def test_a_turn_that_is_at_work_ends_with_what_it_has(settings: Any) -> None:
    settings.BEACH_PRICES, settings.BEACH_PERSON_DAY_COST = PRICES, 0.02
    looks = Reply((call("look"),), usage=USAGE)
    async with FakeMessagesApi(replies=deque(), handler=lambda body: looks) as api:

        def provider(_: Any) -> AnthropicProvider:
            return AnthropicProvider("key", "claude-test-5", base_url=api.base_url)

        async with desk(replies([]), LOOK, provider=provider) as d:
            await d.say("Look")
            with pytest.raises(PersonCostReached):
                await d.say("Again")
            await _check(d)
        await close_clients()


async def _check(d: Desk) -> None:
    assert len(await d.rows("provider")) == 2
    (part,) = await d.parts("error")
    assert part["data"]["code"] == "person_cost_reached"
    assert part["text"].startswith("You have reached today’s limit for answers. You can go on from")
    assert part["text"].endswith("What is shown above was done.")
    assert len(await d.turns()) == 1, "the second message is back with who wrote it"


async def test_a_message_that_comes_again_is_answered_as_before(settings: Any) -> None:
    async with desk(replies([])) as d:
        await sync_to_async(intake.post_message)(d.session, d.owner, "a", "Hello")
        settings.BEACH_DAY_COST = 0.1
        await sync_to_async(spent)(PERSON, 0.2)
        again = await sync_to_async(intake.post_message)(d.session, d.owner, "a", "Hello")
        with pytest.raises(TooManyMessages):
            await sync_to_async(intake.post_message)(d.session, d.owner, "b", "Hello")

        assert again["repeated"] is True


def test_an_address_is_kept_as_a_digest_of_the_day_for_guests_and_only_while_it_is_bounded(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "origin" not in originator(PERSON)
    settings.BEACH_ADDRESS_DAY_COST = 1.0
    today = originator(PERSON)["origin"]
    assert today == originator(NEXT_DOOR)["origin"] != originator(ELSEWHERE)["origin"]
    assert "192.0.2" not in today
    assert "origin" not in originator(replace(PERSON, user=factories.make_user()))
    assert "origin" not in originator(replace(PERSON, address=""))
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(module.timezone, "now", lambda: tomorrow)
    assert originator(PERSON)["origin"] != today


def test_over_http_it_is_429_until_midnight(settings: Any) -> None:
    who, cookie = new_anonymous_owner()
    settings.BEACH_PERSON_DAY_COST = 0.1
    session = spent(who, 0.2)
    client = Client()
    client.cookies[COOKIE] = cookie

    answer = client.post(f"/api/sessions/{session.public_id}/messages", {"text": "Hi"}, "application/json")

    assert (answer.status_code, answer.json()["code"]) == (429, "person_cost_reached")
    assert 0 < int(answer.headers["Retry-After"]) <= 25 * 3600


@pytest.mark.parametrize(
    ("bounds", "figure"),
    [
        ({}, None),
        ({"BEACH_DAY_COST": 5.0}, ("0.3000", "USD", "of 5.00 USD")),
        ({"BEACH_DAY_COST": 0.25}, ("0.3000", "USD", "limit of 0.2500 USD reached, until 00:00")),
        ({"BEACH_PERSON_DAY_COST": 0.2}, ("0.3000", "USD", "1 person at their limit")),
        ({"BEACH_PERSON_DAY_COST": 5.0}, ("0.3000", "USD", "nobody is at their limit")),
    ],
)
def test_staff_see_what_was_spent_and_who_is_at_their_limit(
    bounds: dict[str, float], figure: Any, settings: Any
) -> None:
    for name, value in bounds.items():
        setattr(settings, name, value)
    spent(PERSON, 0.3)
    page = viewer().get("/admin/")

    figures = {one.name: (one.value, one.unit, one.note) for one in page.context["figures"]}
    assert figures.get("Cost today") == figure
    assert ("Cost today" in text_of(page.content)) == (figure is not None)
