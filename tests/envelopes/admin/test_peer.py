"""The programs that staff let in."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from beachsite.suite import ROOT
from envelopes.models import Peer
from envelopes.registries.scopes import SCOPES
from tests import factories
from tests.envelopes.admin.pages import VIEW, client_of, text_of, url

pytestmark = pytest.mark.django_db


def manager() -> Client:
    rights = (*VIEW, "view_peer", "add_peer", "change_peer")
    return client_of(factories.make_user(staff=True, permissions=rights))


def test_the_list_is_called_what_it_lists_whoever_may_change_it() -> None:
    for client in (manager(), client_of(factories.make_user(staff=True, permissions=("view_peer",)))):
        page = text_of(client.get(url(Peer, "changelist")).content)
        assert "Peers" in page
        assert "Select peer" not in page


def test_a_card_that_is_not_there_is_an_empty_box() -> None:
    client = manager()
    page = client.get(url(Peer, "add")).content.decode()
    assert re.search(r'<textarea name="card"[^>]*>\s*</textarea>', page)
    sent = {"name": "desk", "scopes": ["chat"], "rate": "120", "card": "", "is_active": "on"}
    assert client.post(url(Peer, "add"), sent).status_code == 302
    peer = Peer.objects.get()
    assert peer.card is None
    card = '{"name": "Desk"}'
    refused = client.post(url(peer, "change"), sent | {"card": card})
    assert "errornote" in refused.content.decode()
    # What was written stays there to be mended.
    assert "Desk" in refused.content.decode()


def test_each_scope_says_what_it_lets_a_peer_do() -> None:
    page = text_of(manager().get(url(Peer, "add")).content)
    assert [name for name, meaning in SCOPES.items() if f"{name}: {meaning}" not in page] == []
    # As the guide does.
    guide = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", guide, re.MULTILINE))
    assert {*rows} >= {*SCOPES}
    assert not [row for row in rows.values() if re.search("not there yet|none does so far", row)]
