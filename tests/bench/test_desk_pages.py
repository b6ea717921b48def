"""The bench of the desk, as small as it goes: no page asks more of the database where there is more in it."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client

from envelopes.models import ConversationFacts, Session
from envelopes.search.making import make
from tests import factories
from tests.bench.desk import filling
from tests.bench.desk.measuring import asking
from tests.bench.desk.pages import addresses

pytestmark = pytest.mark.django_db

MOST = 12


def counted(client: Client) -> dict[str, int]:
    """How many statements each page takes, once what is kept for it is there."""
    found = {}
    for name, address in addresses().items():
        client.get(address)
        with asking() as asked:
            assert client.get(address).status_code == 200, (name, address)
        found[name] = len(asked.statements)
    return found


def test_no_page_of_the_desk_asks_more_with_200_conversations_than_with_10() -> None:
    client = Client()
    client.force_login(factories.make_user("maria", superuser=True))
    with factories.acting():
        filling.fill(10)
        few = counted(client)
        filling.fill(190)
        many = counted(client)

    assert {name: (few[name], count) for name, count in many.items() if count > few[name]} == {}
    assert {name for name, count in many.items() if count > MOST} == set(), many


def test_what_the_bench_stores_for_the_search_is_what_the_search_makes() -> None:
    with factories.acting():
        filling.fill(40)

    pks = list(Session.objects.order_by("-pk").values_list("pk", flat=True)[::9])
    stored = ConversationFacts.objects.in_bulk(pks)
    for made in make(pks, anew=True):
        was = stored[made.facts.session_id]
        for name in ("seq", "state", "actor", "owner", "has_approval", "has_error"):
            assert getattr(made.facts, name) == getattr(was, name), (name, connection.vendor)
