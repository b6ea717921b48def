"""Peers: let in by staff or on the command line, known by a token that nobody can read again."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from envelopes import peers
from envelopes.admin.people import people
from envelopes.errors import Conflict, TooOften, ValidationFailed
from envelopes.models import Peer
from tests.cards import agent_card

pytestmark = pytest.mark.django_db


def test_only_a_digest_of_the_token_is_stored_and_it_alone_lets_in() -> None:
    peer, token = peers.add("desk", ["chat", "read", "chat"])

    assert peers.authenticate(token) == peer
    assert peer.scopes == ["chat", "read"]
    assert token not in json.dumps(list(Peer.objects.values()), default=str)
    assert token.endswith(peer.token_end) and len(token) > 40
    for wrong in (
        "",
        token[:-1],
        token + "x",
        token.upper(),
        peer.token_digest,
        f"beach_{peer.token_digest}",
        "beach_",
    ):
        assert peers.authenticate(wrong) is None
    new = peers.renew(peer)
    assert (peers.authenticate(token), peers.authenticate(new)) == (None, peer)
    assert peers.principal_of_peer(peer).key == f"peer:{peer.pk}"


@pytest.mark.parametrize("name", ["", "de sk", "dësk", "x" * 57, "-desk", "desk\n", "desk\x00"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationFailed):
        peers.add(name, ["chat"])
    assert not Peer.objects.exists()


def test_a_name_is_taken_once_and_scopes_are_a_closed_list() -> None:
    peers.add("desk", [])
    with pytest.raises(ValidationFailed, match="fly"):
        peers.add("other", ["chat", "fly"])
    with pytest.raises(ValidationFailed, match="rate"):
        peers.add("other", ["chat"], rate=0)
    with pytest.raises(Conflict):
        peers.add("desk", ["chat"])


def test_a_rate_is_so_many_a_minute_and_those_that_came_last_are_known() -> None:
    now = [0.0]
    rates = peers.Rates(lambda: now[0])
    first = Peer(pk=1, rate=60)
    for _ in range(60):
        rates.take(first)
    with pytest.raises(TooOften) as refused:
        rates.take(first)
    assert refused.value.facts["retry_after"] == 1.0
    now[0] += 1.5
    rates.take(first)
    with pytest.raises(TooOften):
        rates.take(first)
    for pk in range(2, 2 + peers.REMEMBERED_PEERS):
        rates.take(Peer(pk=pk, rate=1))
    assert len(rates._left) == peers.REMEMBERED_PEERS


def command(*words: str) -> str:
    out = StringIO()
    call_command("beach", "peer", *words, stdout=out, no_color=True)
    return out.getvalue()


def test_the_command_adds_lists_renews_and_blocks(tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    card.write_text(json.dumps(agent_card("llm-context")))
    token = command("add", "desk", "--scopes", "chat, read", "--rate", "7", "--card", str(card)).strip()
    peer = peers.authenticate(token)
    assert peer is not None
    assert peers.principal_of_peer(peer).consumes == {"llm-context"}
    assert command("list").split() == ["desk", f"...{token[-4:]}", "chat,read", "7", "a", "minute"]

    new = command("renew", "desk").strip()
    command("block", "desk")
    assert peers.authenticate(token) is peers.authenticate(new) is None
    assert command("list").rstrip().endswith("blocked")
    command("unblock", "desk")
    assert peers.authenticate(new) == peer


def test_the_command_checks_a_card_and_says_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_text(json.dumps(agent_card("llm-context", "domain-data")))
    out = StringIO()
    call_command("beach", "card", str(file), stdout=out, no_color=True)
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["name", "Baxter"],
        ["interface", "https://baxter.example/a2a", "(JSONRPC)"],
        ["envelopeConsumes", "llm-context", "domain-data"],
    ]
    file.write_text(json.dumps(agent_card(name="")))
    for words in (("card", str(file)), ("peer", "add", "desk", "--scopes", "chat", "--card", str(file))):
        with pytest.raises(CommandError, match=r"This is no Agent Card: .* \(at /name\)"):
            call_command("beach", *words)
    assert not Peer.objects.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "desk", "--scopes", "fly"), "no scope fly"),
        (("add", "de sk", "--scopes", "chat"), "not what a peer can be called"),
        (("add", "desk", "--scopes", "chat", "--card", "/nowhere.json"), "cannot be read"),
        (("renew", "nobody"), "Known: none"),
        (("block", "nobody"), "no peer 'nobody'"),
    ],
)
def test_what_the_command_cannot_do_it_says(words: tuple[str, ...], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        command(*words)


def test_staff_let_one_in_and_see_its_token_once(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ruth"))
    given = {"name": "desk", "scopes": ["chat", "read"], "rate": "60", "card": "null", "is_active": "on"}
    page = client.post("/admin/envelopes/peer/add/", given, follow=True)
    peer = Peer.objects.get()

    assert page.status_code == 200
    shown = page.content.decode().split("<code>")[1].split("</code>")[0]
    assert peers.authenticate(shown) == peer
    assert (peer.scopes, peer.rate, peer.card) == (["chat", "read"], 60, None)
    for path in ("", f"{peer.pk}/change/"):
        assert shown not in client.get(f"/admin/envelopes/peer/{path}").content.decode()

    renewed = client.post(
        "/admin/envelopes/peer/", {"action": "renew_tokens", "_selected_action": [peer.pk]}, follow=True
    )
    assert peers.authenticate(shown) is None
    assert "<code>beach_" in renewed.content.decode()
    assert client.get(f"/admin/envelopes/peer/{peer.pk}/delete/").status_code == 403
    refused = client.post("/admin/envelopes/peer/add/", {**given, "name": "other", "scopes": ["fly"]})
    assert "fly is not one of the available choices" in refused.content.decode()
    refused = client.post(
        "/admin/envelopes/peer/add/", {**given, "name": "other", "card": json.dumps(agent_card(name=7))}
    )
    assert (
        "This is no Agent Card: 7 is not of type &#x27;string&#x27; (at /name)." in refused.content.decode()
    )
    assert Peer.objects.count() == 1


def test_the_desk_calls_a_peer_by_its_name() -> None:
    peer, _ = peers.add("desk", ["chat"])

    assert people(None, [f"peer:{peer.pk}", "peer:x", "peer:999"]).heading(f"peer:{peer.pk}") == "Desk"
