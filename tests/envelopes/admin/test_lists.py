"""Lists: their order, filters and search, and that their cost does not grow with what they list."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from envelopes.admin import agent_call, base
from envelopes.admin import queue as queue_module
from envelopes.admin.newest import NewestFirstAdmin
from envelopes.approvals.service import decide, expire_due
from envelopes.models import AgentCall, Approval, Artifact, Session, ToolCall, Turn
from tests import factories
from tests.envelopes.admin.pages import MODELS, client_of, decider, one_of_each, text_of, url, viewer

pytestmark = pytest.mark.django_db


def queries_of(client: Client, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in captured.captured_queries]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_list_needs_no_query_for_each_row(model: type[Model]) -> None:
    one_of_each()
    client = viewer()
    # The list of conversations reads what the search has not read yet.
    queries_of(client, url(model, "changelist"))
    few = queries_of(client, url(model, "changelist"))
    for _ in range(10):
        one_of_each()
    queries_of(client, url(model, "changelist"))
    many = queries_of(client, url(model, "changelist"))

    assert len(many) == len(few) <= 12, "\n".join(many)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_list_leaves_large_values_in_the_database(model: type[Model]) -> None:
    one_of_each()
    large = ["messages", "results", "live", "trigger", "args", "result", "error", "content", "data"]
    client = viewer()
    queries_of(client, url(model, "changelist"))
    for sql in queries_of(client, url(model, "changelist")):
        selected = sql.partition(" FROM ")[0]
        if model is Approval:
            # Those of waiting approvals are what the queue is about.
            selected = selected.partition("CASE")[0]
        assert not [name for name in large if f'."{name}"' in selected], sql


def test_a_page_of_the_timeline_needs_no_query_for_each_row(django_assert_num_queries: Any) -> None:
    session = factories.make_session()
    turn = factories.make_turn(session)
    client = viewer()
    few = len(queries_of(client, url(session, "change")))
    for number in range(30):
        factories.add_part(turn, "response", text=f"{number}")
    factories.make_approvals(turn, *({"order": f"A{number}"} for number in range(5)))
    many = queries_of(client, url(session, "change"))

    # One more: the approvals of the page, all at once.
    assert len(many) <= few + 1


def test_nothing_counts_a_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "COUNTED", 3)
    for _ in range(5):
        factories.make_agent_call(factories.make_session())
    client = viewer()

    queries = queries_of(client, url(AgentCall, "changelist"))
    response = client.get(url(AgentCall, "changelist"))

    counting = [sql for sql in queries if "COUNT(*)" in sql]
    # That of the list, and that of what waits in the head of every page.
    assert counting and all(re.search(r"LIMIT (4|100)\b", sql) for sql in counting), counting
    assert "Showing the first 3" in text_of(response.content)


# -- newest first ------------------------------------------------------------------------------------------------


def listed(client: Client, address: str) -> list[Any]:
    return list(client.get(address).context["cl"].result_list)


@pytest.mark.parametrize("model", [Turn, ToolCall, Artifact], ids=lambda model: model.__name__)
def test_long_lists_go_on_from_where_one_is(monkeypatch: pytest.MonkeyPatch, model: type[Model]) -> None:
    monkeypatch.setattr(NewestFirstAdmin, "list_per_page", 2)
    rows = [one_of_each()[model].pk for _ in range(5)]
    client, address = viewer(), url(model, "changelist")
    # Of one more answer each was approved something.
    found = list(model._default_manager.filter(pk__gte=min(rows)).order_by("-pk"))

    first = client.get(f"{address}?q=").context["cl"]
    assert (list(first.result_list), first.newer) == (found[:2], "")
    second = client.get(f"{address}{first.older}").context["cl"]
    one_of_each()
    assert list(second.result_list) == found[2:4]
    third = client.get(f"{address}{second.older}").context["cl"]
    assert list(third.result_list) == found[4:6]
    back = client.get(f"{address}{third.newer}").context["cl"]
    assert list(back.result_list) == found[2:4]
    assert all(
        "COUNT(" not in sql or "LIMIT" in sql for sql in queries_of(client, f"{address}{second.older}")
    )
    assert client.get(f"{address}?before=x&after=-3").context["cl"].newer == ""
    assert "Nothing matches. Show all" in text_of(client.get(f"{address}?before=0").content)


# -- the queue ---------------------------------------------------------------------------------------------------


def make_queue() -> dict[str, Approval]:
    """One of each state; the waiting ones are the oldest."""
    session = factories.make_session()
    names = ("first", "second", "expired", "denied", "done", "unknown")
    queue = {name: factories.make_approval(session, {"order": name}, expires_after=3600) for name in names}
    old = timezone.now() - timedelta(hours=2)
    Approval.objects.filter(pk__in=[queue["first"].pk, queue["second"].pk]).update(requested_at=old)
    Approval.objects.filter(pk=queue["expired"].pk).update(expires_at=old)
    expire_due()
    for name, state, call in (
        ("denied", "denied", "denied"),
        ("done", "granted", "succeeded"),
        ("unknown", "granted", "unknown"),
    ):
        Approval.objects.filter(pk=queue[name].pk).update(
            state=state, decided_at=timezone.now(), decided_by="user:1"
        )
        ToolCall.objects.filter(pk=queue[name].tool_call_id).update(state=call)
    return queue


def queue(client: Client, query: str = "") -> list[int]:
    """The keys of the approvals of the page."""
    return [int(row.pk) for row in client.get(f"{url(Approval, 'changelist')}{query}").context["rows"]]


def test_the_next_to_expire_stands_first_and_what_has_no_limit_last() -> None:
    session, now = factories.make_session(), timezone.now()
    lasting, later, soon, same = (factories.make_approval(session, {"order": f"A{n}"}) for n in range(4))
    for approval, minutes in ((later, 50), (soon, 5), (same, 5)):
        Approval.objects.filter(pk=approval.pk).update(expires_at=now + timedelta(minutes=minutes))

    assert queue(viewer()) == [soon.pk, same.pk, later.pk, lasting.pk]


def test_a_page_of_the_queue_begins_where_the_one_before_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "PAGE", 2)
    session, now = factories.make_session(), timezone.now()
    made = [factories.make_approval(session, {"order": f"A{n}"}) for n in range(7)]
    for number, approval in enumerate(made[:4]):
        # Two at the same moment, on both sides of a page's end.
        at = now + timedelta(minutes=10 * (number // 3))
        Approval.objects.filter(pk=approval.pk).update(expires_at=at + timedelta(hours=1))
    client, read, query = viewer(), [], ""
    while True:
        page = client.get(f"{url(Approval, 'changelist')}{query}")
        read += [int(row.pk) for row in page.context["rows"]]
        query = page.context["more"]
        if not query:
            break

    assert read == [approval.pk for approval in made]
    assert queue(client, "?after=nonsense") == read[:2]


def test_the_queue_says_all_that_matters() -> None:
    make_queue()
    text = text_of(viewer().get(url(Approval, "changelist")).content)

    for word in ("Waiting 2", "Outcome unknown 1", "59:", "order: first", "refund", "High"):
        assert word in text, word
    everything = text_of(viewer().get(f"{url(Approval, 'changelist')}?view=all").content)
    for state in ("Outcome unknown", "Done", "Denied", "Expired"):
        assert state in everything


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"first", "second"}),
        ("?view=unknown", {"unknown"}),
        ("?view=decided", {"expired", "denied", "done", "unknown"}),
        ("?view=all", {"first", "second", "expired", "denied", "done", "unknown"}),
        ("?view=nonsense", {"first", "second"}),
        ("?view=all&risk=low", set()),
        ("?tool=refund&agent=billing&risk=high", {"first", "second"}),
        ("?tool=other", set()),
        ("?age=older", set()),
        ("?age=hour", set()),
        ("?age=day", {"first", "second"}),
        ("?q=REFUND", {"first", "second"}),
    ],
)
def test_the_views_and_filters_of_the_queue(query: str, names: set[str]) -> None:
    made = make_queue()

    assert set(queue(viewer(), query)) == {made[name].pk for name in names}


def test_mine_to_decide_is_what_one_may_decide() -> None:
    waiting = make_queue()["first"]

    assert queue(viewer(), "?view=mine") == []
    assert waiting.pk in queue(decider(), "?view=mine")


@pytest.mark.parametrize(
    ("view", "are_there"), [("waiting", True), ("all", True), ("unknown", False), ("decided", False)]
)
def test_keys_that_decide_are_named_where_something_may_wait(view: str, are_there: bool) -> None:
    make_queue()
    page = decider().get(f"{url(Approval, 'changelist')}?view={view}").content.decode()

    assert ("<kbd>d</kbd> deny" in page) is are_there


def test_an_open_queue_hears_what_is_new_and_what_was_decided_elsewhere() -> None:
    client = decider()
    pulse, address = "/admin/pulse/", url(Approval, "changelist")
    first = factories.make_approval(factories.make_session(), expires_after=3600)
    before = client.get(pulse).json()
    maria = factories.make_user("maria", staff=True, permissions=["decide_approval"])
    decide(first.approval_id, "denied", factories.make_principal(maria), source="admin")
    second = factories.make_approval(factories.make_session())

    after = client.get(pulse).json()
    rows = client.get(f"{address}?part=rows&shown={first.pk},x,999999").context["rows"]

    assert before["version"] != after["version"] and after["counted"] == "1 waiting"
    assert [(int(row.pk), row.state) for row in rows] == [(second.pk, ""), (first.pk, "gone")]
    assert "Denied by" in rows[1].when and "maria" in rows[1].when
    assert client_of(factories.make_user(staff=True)).get(pulse).status_code == 403


def test_every_sort_and_search_of_a_list_works() -> None:
    one_of_each()
    client = viewer()
    for model in MODELS:
        for query in ("q=x", *(f"o={column}" for column in range(10)), "o=-1.2", "all=", "p=1"):
            response = client.get(f"{url(model, 'changelist')}?{query}", follow=True)
            assert response.status_code == 200, (model, query)


def test_a_list_of_nothing() -> None:
    for model in (Session, Turn, ToolCall, Approval, Artifact):
        assert viewer().get(url(model, "changelist")).status_code == 200


def test_a_turn_that_a_person_stopped_is_no_error() -> None:
    session = factories.make_session()
    factories.settle_turn(factories.make_turn(session), "error", finalized_by="cancelled")

    for model, mark in ((Turn, "stopped"), (Session, "closed")):
        html = viewer().get(url(model, "changelist")).content.decode()
        assert f'data-state="{mark}">Stopped<' in html
        assert 'data-state="failed"' not in html


def test_the_page_of_an_answer_says_where_it_stands_as_the_list_does() -> None:
    turn = factories.make_turn(factories.make_session(actor="sally"))
    factories.settle_turn(turn, "error")

    page = viewer().get(url(turn, "change")).content.decode()
    assert 'data-state="failed">Error<' in page and "Settled" not in page
    assert ">Sally<" in page and ">sally<" not in page
    assert "began" in viewer().get(url(Turn, "changelist")).context["cl"].list_display


def test_times_have_24_hours_and_lists_are_called_what_they_list(settings: Any) -> None:
    settings.TIME_ZONE = "UTC"
    rows = one_of_each()
    client = viewer()
    for model, row in rows.items():
        for page in (url(model, "changelist"), url(row, "change"), url(row, "history")):
            text = text_of(client.get(page).content)
            assert "a.m." not in text
            assert "p.m." not in text
    text = text_of(client.get(url(Session, "changelist")).content)
    assert "Conversations" in text
    assert "to view" not in text


# -- calls of agents' functions ----------------------------------------------------------------------------------


def test_calls_that_wait_stand_in_a_list_and_on_the_page_of_their_conversation() -> None:
    session = factories.make_session(title="Lisbon")
    client = viewer()
    assert "seatsLeft" not in text_of(client.get(url(session, "change")).content)
    now = timezone.now()
    late = factories.make_agent_call(
        session, call_id="a1-f9", by_tool=False, deadline=now + timedelta(hours=2)
    )
    soon = factories.make_agent_call(
        session, "<b>fare</b>", lease_owner="x", deadline=now + timedelta(hours=1)
    )

    assert listed(client, url(AgentCall, "changelist")) == [soon, late]
    listing = text_of(client.get(url(AgentCall, "changelist")).content)
    for words in ("Lisbon", "<b>fare</b>", "a tool, at work", "seatsLeft", "the agent, in a turn"):
        assert words in listing
    page = text_of(client.get(url(session, "change")).content)
    assert page.index("<b>fare</b>") < page.index("seatsLeft (a1-f9): the agent, in a turn, in ")


def test_the_page_of_a_conversation_says_where_further_calls_are() -> None:
    session = factories.make_session()
    for _ in range(agent_call.LISTED + 1):
        factories.make_agent_call(session)

    page = text_of(viewer().get(url(session, "change")).content)

    assert page.count("seatsLeft") == agent_call.LISTED
    assert "and more; see the list of agent calls" in page


def test_the_page_of_a_row_says_what_people_say_and_keeps_the_runtime_behind_a_line() -> None:
    call = one_of_each()[ToolCall]
    page = viewer().get(url(call, "change")).content.decode()
    main, _, runtime = page.partition("<details")
    for words in ("Conversation", "Answer", "Status", "Waiting for approval", "In the background", "No"):
        assert f">{words}<" in main, words
    assert "awaiting-approval" not in text_of(page)
    assert ">Digest<" in runtime and ">Digest<" not in main
