"""The frame of the desk and its start page."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group as DjangoGroup
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from envelopes.admin import charts, today
from envelopes.approvals.service import decide
from envelopes.desk import times
from envelopes.models import Approval, Event, ToolCall, Turn
from envelopes.registries.policies import Ask, Group
from tests import factories
from tests.envelopes.admin.pages import client_of, decider, one_of_each, parsed, text_of, url, viewer

pytestmark = pytest.mark.django_db

NOON = datetime(2027, 8, 10, 12, 0, tzinfo=UTC)


def a_day() -> None:
    """Two decisions that took one minute and nine, one question that waits, an error, an unknown outcome, tokens."""
    now, session = timezone.now(), factories.make_session(title="Corfu in August")
    for number, (state, took) in enumerate((("granted", 1), ("denied", 9))):
        one = factories.make_approval(session, {"order": f"B{number}"})
        Approval.objects.filter(pk=one.pk).update(
            state=state, requested_at=now - timedelta(minutes=took), decided_at=now, decided_by="user:1"
        )
        ToolCall.objects.filter(pk=one.tool_call_id).update(
            state="unknown" if state == "granted" else "denied"
        )
    factories.make_approval(session, {"order": "A17"}, expires_after=120)
    failed = factories.settle_turn(factories.make_turn(session), "error")
    Turn.objects.filter(pk=failed.pk).update(settled_at=now)
    row = Event.objects.filter(session=session).latest("seq")
    Event.objects.create(
        session=session, seq=row.seq + 1, kind="provider", audience="audit", at=now,
        data={"usage": {"input_tokens": 1_900, "output_tokens": 100}},
    )  # fmt: skip


def test_the_start_page_tells_what_waits_and_how_the_day_went() -> None:
    a_day()
    response = decider().get("/admin/")
    text = text_of(response.content)

    figures = {one.name: (one.value, one.note) for one in response.context["figures"]}
    assert figures["Decided today"] == ("2", "1 approved, 1 denied")
    assert figures["Time to decide"][0] == "5:00"
    assert figures["Errors today"] == ("1", "1 outcome unknown")
    assert figures["Tokens today"] == ("2.0k", "1.9k read, 100 written")
    assert figures["Live conversations"][0] == "1"
    for words in (
        "next expires in 1:5",
        "Answer failed: “Corfu in August”",
        "Outcome unknown:",
        "no prices are set",
        "Up to 1 min",
    ):
        assert words in text, words
    labels = [one.get("aria-label") for one in parsed(response.content).iter() if one.get("role") == "img"]
    assert "Decisions by hour today. 1 approved, 1 denied and 0 expired in all." in labels


def test_what_a_rule_approved_took_nobody_any_time() -> None:
    a_day()
    for number in range(3):
        one = factories.make_approval(factories.make_session(), {"order": f"C{number}"})
        now = timezone.now()
        Approval.objects.filter(pk=one.pk).update(
            state="granted", requested_at=now, decided_at=now, decided_by="policy:small"
        )

    figures = {one.name: one for one in decider().get("/admin/").context["figures"]}
    assert figures["Time to decide"].value == "5:00"
    decided = figures["Decided today"]
    assert (decided.value, decided.note) == ("2", "1 approved, 1 denied, 3 more by rules")


def test_no_page_of_the_desk_asks_more_where_there_is_more() -> None:
    rows = one_of_each()
    a_day()
    client = decider()
    pages = ["/admin/", url(Approval, "changelist"), url(rows[Approval], "change"), "/admin/pulse/"]

    queries: dict[str, list[str]] = {}

    def asked() -> list[int]:
        counts = []
        for page in pages:
            with CaptureQueriesContext(connection) as captured:
                assert client.get(page).status_code == 200
            queries[page] = [query["sql"] for query in captured]
            counts.append(len(captured))
        return counts

    # As many as a list shows; one that is shorter asks for those without a limit as well.
    for _ in range(5):
        a_day()
    asked()
    few = asked()
    for _ in range(4):
        a_day()
    many = asked()

    assert many == few, "\n".join(sql[:300] for sql in queries[pages[2]])
    assert max(many[:2]) <= 12 and many[2] <= 15 and many[3] <= 7, many


def test_staff_without_rights_see_no_numbers() -> None:
    a_day()
    response = client_of(factories.make_user(staff=True)).get("/admin/")

    assert response.status_code == 200
    assert not response.context["figures"]
    assert "Corfu" not in text_of(response.content)


def test_how_many_wait_stands_in_the_head_of_every_page() -> None:
    rows = one_of_each()
    client = viewer()
    for page in (
        "/admin/",
        "/admin/settings/",
        url(rows[Approval], "change"),
        url(rows[ToolCall], "history"),
    ):
        html = client.get(page).content
        assert "<title>(1) " in html.decode()
        assert "1 waiting" in text_of(html)


def test_whoever_decides_some_is_told_of_those_alone() -> None:
    managers = Group("Managers")
    factories.make_approval(factories.make_session(), {"order": "A1"})
    mine = factories.make_approval(
        factories.make_session(), {"order": "A2"}, tool=factories.asking(Ask([managers]))
    )
    user = factories.make_user(staff=True)
    user.groups.add(DjangoGroup.objects.get_or_create(name=managers.name)[0])
    client = client_of(user)

    pages = [client.get(page).content for page in ("/admin/", url(Approval, "changelist"), "/admin/pulse/")]
    assert "<title>(1) " in pages[0].decode() and "<title>(1) " in pages[1].decode()
    assert json.loads(pages[2])["count"] == "1"
    assert url(mine, "change") in pages[0].decode() and "Decided today" not in text_of(pages[0])


def test_times_are_those_of_the_readers_clock(settings: Any) -> None:
    settings.TIME_ZONE = "UTC"
    row = one_of_each()[Approval]
    Approval.objects.filter(pk=row.pk).update(requested_at=NOON)
    client = viewer()

    assert "10 Aug 2027, 12:00:00" in text_of(client.get(url(row, "change")).content)
    client.cookies["beach_zone"] = "Asia%2FTokyo"
    assert "10 Aug 2027, 21:00:00" in text_of(client.get(url(row, "change")).content)
    client.cookies["beach_zone"] = "Nowhere/At all"
    assert "10 Aug 2027, 12:00:00" in text_of(client.get(url(row, "change")).content)


def test_the_card_and_what_stands_around_it_tell_one_time(settings: Any) -> None:
    settings.TIME_ZONE = "UTC"
    row = one_of_each()[Approval]
    Approval.objects.filter(pk=row.pk).update(state="expired", decided_at=NOON, expires_at=NOON)
    client = viewer()
    client.cookies["beach_zone"] = "Asia%2FTokyo"

    text = text_of(client.get(url(row, "change")).content)

    assert "10 Aug 2027, 21:00:00" in text and "21:00" in text.partition("No decision by")[2][:60]
    assert "12:00" not in text
    assert "Nobody" in text


def test_what_took_no_time_is_told_to_be_under_a_second() -> None:
    ada = factories.make_principal(factories.make_user())
    with factories.acting(factories.make_tool()):
        decide(factories.make_approval(factories.make_session(ada)).approval_id, "denied", ada)

    text = text_of(client_of(factories.make_user(superuser=True)).get("/admin/").content)

    assert "9 in 10 under 1 s" in text and "Half were faster than 1 s" in text


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (timedelta(minutes=2, seconds=14), "2:14 left"),
        (timedelta(0), "Time is up"),
        (timedelta(hours=6), "today 18:00"),
        (timedelta(hours=21), "tomorrow 09:00"),
        (timedelta(days=9), "19 August 12:00"),
    ],
)
def test_what_is_left_is_told_as_people_say_it(settings: Any, after: timedelta, told: str) -> None:
    settings.TIME_ZONE = "UTC"
    with timezone.override("UTC"):
        assert f">{told}<" in times.left(NOON + after, NOON)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (timedelta(seconds=28), "28 s ago"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(hours=20), "yesterday 16:00"),
        (timedelta(days=4), "6 August"),
        (timedelta(days=400), "6 Jul 2026"),
    ],
)
def test_how_long_ago_is_told_as_people_say_it(before: timedelta, told: str) -> None:
    with timezone.override("UTC"):
        assert f">{told}<" in times.ago(NOON - before, NOON)


def test_a_bound_that_cuts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(today, "DECISIONS", 1)
    a_day()

    assert "of the newest 1" in text_of(decider().get("/admin/").content)


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(0, [0, 1]), (1, [0, 1]), (4, [0, 1, 2, 3, 4]), (6, [0, 2, 4, 6]), (37, [0, 10, 20, 30, 40])],
)
def test_an_axis_has_round_numbers(most: int, ticks: list[int]) -> None:
    drawn = charts.bars([charts.Bar("09", (most,))], "An hour")

    assert [int(word) for word in re.findall(r"is-end[^>]*>(\d+)<", drawn)] == ticks


def test_the_numbers_of_an_axis_are_as_short_as_there_is_room() -> None:
    drawn = charts.bars([charts.Bar("09", (336_200,))], "An hour")

    assert re.findall(r"is-end[^>]*>([^<]+)<", drawn) == ["0", "100k", "200k", "300k", "400k"]


def test_the_cost_of_today_is_told_where_there_are_prices(settings: Any) -> None:
    a_day()
    settings.BEACH_PRICES = {"claude": {"input": 3}}
    text = text_of(decider().get("/admin/").content)

    assert "2.0k so far today, 0.00 USD" in text and "no prices are set" not in text


def test_beside_a_figure_of_nothing_nothing_is_drawn() -> None:
    assert charts.spark([0, 0, 0]) == charts.spark([]) == ""
    assert charts.spark([0, 2]).count("<rect") == 2


def test_bars_stand_on_the_axis_and_no_length_is_a_style() -> None:
    drawn = charts.bars([charts.Bar("<09>", (3, 1)), charts.Bar("10", (0, 0), now=True)], "Two hours")

    assert "&lt;09&gt;" in drawn and 'aria-label="Two hours"' in drawn
    assert drawn.count("<rect") == 2 and "style" not in drawn
