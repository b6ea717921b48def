"""The pages of the chat over plain HTTP: who sees what, what a first visit stores, what the markup may hold."""

from __future__ import annotations

import re

import html5lib
import pytest
from django.test import Client
from django.utils import translation
from pytest_django import DjangoAssertNumQueries

from a2ui import BASIC_CATALOG_1_0
from envelopes import access
from envelopes.approvals.service import decide
from envelopes.models import Participant, Session
from envelopes.registries.actors import Prompt, actors
from envelopes.registries.policies import OWNER, STAFF, Ask
from envelopes.session_state import live_sessions
from envelopes.testing import create_session
from envelopes.transports.panel import sidebar
from envelopes.types import JsonObject
from tests.factories import (
    acting,
    add_part,
    asking,
    make_approval,
    make_approvals,
    make_principal,
    make_session,
    make_turn,
    make_user,
    make_visitor,
)

pytestmark = pytest.mark.django_db


class _Model:
    """What a page says of a model; nobody runs it."""

    name = model = "none"
    label = "Scripted <model>"
    stream = None


@pytest.fixture(autouse=True)
def actor(settings):  # type: ignore[no-untyped-def]
    settings.BEACH_DEFAULT_ACTOR = "billing"
    live_sessions.clear()  # a database that was rolled back gives out the same keys again
    prompt = Prompt("Pay it back", "An order", "Pay order <A17> back")
    with acting(provider=_Model, prompts=(prompt,), greeting="Hello & welcome") as made:
        yield made


def text(response) -> str:  # type: ignore[no-untyped-def]
    return response.content.decode()


def test_a_first_visit_shows_an_empty_page_and_stores_nothing(client: Client) -> None:
    page = text(client.get("/"))
    assert "Hello &amp; welcome" in page
    assert 'data-say="Pay order &lt;A17&gt; back"' in page
    assert "Scripted &lt;model&gt;" in page
    assert 'data-session=""' in page
    assert not Session.objects.exists()
    assert access.COOKIE not in client.cookies


def test_head_works_where_get_does(client: Client) -> None:
    owner = make_user("ada")
    client.force_login(owner)
    session = make_session(owner)
    for url in ("/?new", f"/chat/{session.public_id}/", "/chat/list"):
        get, head = client.get(url), client.head(url)
        assert (get.status_code, head.status_code) == (200, 200), url
        assert head.content == b""


def test_the_first_message_gets_a_conversation_for_this_browser_only(client: Client) -> None:
    answer = client.post("/chat/new", {"timezone": "Europe/Berlin"}, headers={"accept": "application/json"})
    assert answer.status_code == 201
    session = Session.objects.get()
    assert answer.json() == {"id": session.public_id, "url": f"/chat/{session.public_id}/"}
    assert session.timezone == "Europe/Berlin"
    assert client.cookies[access.COOKIE]["httponly"]
    assert client.get(answer.json()["url"]).status_code == 200
    assert client.get("/", follow=True).redirect_chain == [(f"/chat/{session.public_id}/", 302)]
    assert client.get("/?new").status_code == 200
    assert Client().get(answer.json()["url"]).status_code == 404
    again = client.post("/chat/new", {"timezone": "Mars/Olympus"})
    assert again.status_code == 302
    assert Session.objects.count() == 2
    assert Participant.objects.exclude(owner_key="").values("owner_key").distinct().count() == 1
    assert Session.objects.order_by("-pk")[0].timezone == "UTC"


KEY = "0123456789-abcdefgh"
JSON = {"accept": "application/json"}


def begin(client: Client, key: str = KEY, **more: str):  # type: ignore[no-untyped-def]
    return client.post("/chat/new", {"key": key, **more}, headers=JSON)


def test_p1_asking_again_for_a_conversation_gives_the_same_one(client: Client) -> None:
    client.force_login(make_user("ada"))
    first, again = begin(client), begin(client)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert Session.objects.get().participants.count() == 2
    assert KEY not in Session.objects.values_list("made_with", flat=True)
    assert begin(client, KEY + "2").json() != first.json()


def test_p1_a_browser_that_did_not_get_its_cookie_gets_it_by_asking_again(client: Client) -> None:
    """The conversation was made, the answer was lost: for a stranger the cookie was lost with it."""
    first = begin(client)
    client.cookies.clear()
    again = begin(client)
    assert again.json() == first.json()
    assert client.get(first.json()["url"]).status_code == 200
    assert begin(Client(), KEY + "2").json() != first.json()


@pytest.mark.parametrize("how", ["signed in since", "began another one since"])
def test_p1_the_same_conversation_belongs_to_whoever_the_browser_is_by_then(client: Client, how: str) -> None:
    first = begin(client)
    client.cookies.clear()
    if how == "signed in since":
        client.force_login(make_user("ada"))
    else:
        begin(client, KEY + "2")
    assert begin(client).json() == first.json()
    assert client.get(first.json()["url"]).status_code == 200
    assert Session.objects.get(public_id=first.json()["id"]).participants.count() == 2


def test_p1_a_key_of_somebody_elses_conversation_opens_nothing(client: Client) -> None:
    client.force_login(make_user("ada"))
    begin(client)
    for stranger in (Client(), Client()):
        answer = begin(stranger)
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
        assert access.COOKIE not in stranger.cookies
    other = Client()
    other.force_login(make_user("grace"))
    assert begin(other).status_code == 409


@pytest.mark.parametrize("key", ["short", "x" * 65, "with blanks in it, too", "é" * 20, "a\x00" * 10])
def test_p1_a_key_that_is_none_is_refused(client: Client, key: str) -> None:
    assert begin(client, key).status_code == 400
    assert not Session.objects.exists()


def test_p1_who_has_to_sign_in_first_is_told_so_in_json(client: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.BEACH_ANONYMOUS = False
    assert begin(client).status_code == 401
    assert not Session.objects.exists()


def test_p1_a_page_of_somebody_who_was_signed_out_begins_nothing_as_a_stranger(client: Client) -> None:
    ada, grace = make_user("ada"), make_user("grace")
    assert begin(client, person=f"user:{ada.pk}").status_code == 401
    client.force_login(grace)
    assert begin(client, person=f"user:{ada.pk}").status_code == 401
    assert not Session.objects.exists()
    client.force_login(ada)
    assert begin(client, person=f"user:{ada.pk}").status_code == 201


def test_s16_a_page_can_ask_why_it_cannot_connect(settings) -> None:  # type: ignore[no-untyped-def]
    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client(enforce_csrf_checks=True)

    def reach(origin: str, host: str = "testserver"):  # type: ignore[no-untyped-def]
        return client.post("/chat/reach", headers={"origin": origin, "host": host})

    answer = reach("http://testserver")
    told = answer.json()
    assert {**told, "csrf": ""} == {"origin": True, "known": False, "person": "", "csrf": ""}
    assert "no-store" in answer["Cache-Control"]
    # The token is one that counts.
    made = client.post("/chat/new", {"csrfmiddlewaretoken": told["csrf"]}, headers=JSON)
    assert made.status_code == 201
    assert reach("http://testserver").json()["known"] is True
    # What a proxy does that passes the host without its port.
    assert reach("http://testserver:8443").json()["origin"] is False
    assert reach("http://evil.example").json()["origin"] is False
    assert reach("").json()["origin"] is False
    user = make_user("ada")
    client.force_login(user)
    assert reach("http://testserver").json()["person"] == f"user:{user.pk}"
    assert client.get("/chat/reach").status_code == 405


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://testserver:8443"])
def test_another_site_cannot_replace_the_token_of_a_page(origin: str, settings) -> None:  # type: ignore[no-untyped-def]
    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client(enforce_csrf_checks=True)
    here = client.post("/chat/reach", headers={"origin": "http://testserver", "host": "testserver"}).json()[
        "csrf"
    ]
    # A browser sends no Lax cookie with another site's POST, but takes what the answer to its form sets.
    answer = Client().post("/chat/reach", headers={"origin": origin, "host": "testserver"})
    assert not answer.cookies
    assert answer.json()["csrf"] == ""
    # A proxy that changes the host takes nobody's token away.
    again = client.post("/chat/reach", headers={"origin": origin, "host": "testserver"})
    assert again.json()["csrf"]
    for token in (here, again.json()["csrf"]):
        assert client.post("/theme", {"theme": "dark", "csrfmiddlewaretoken": token}).status_code == 302


def test_p1_a_form_with_an_old_token_is_refused_in_words(client: Client) -> None:
    answer = Client(enforce_csrf_checks=True).post("/theme", {"theme": "dark"})
    assert answer.status_code == 403
    assert "This page is out of date" in text(answer)
    assert "<style" not in text(answer)


def test_a_conversation_needs_a_token_against_forgery() -> None:
    assert Client(enforce_csrf_checks=True).post("/chat/new").status_code == 403
    assert Client(enforce_csrf_checks=True).post("/theme", {"theme": "dark"}).status_code == 403
    assert not Session.objects.exists()


def test_reading_routes_take_no_posts_and_writing_routes_no_gets(client: Client) -> None:
    assert client.post("/").status_code == 405
    assert client.get("/chat/new").status_code == 405
    assert client.get("/theme").status_code == 405


def test_without_anonymous_visitors_there_is_a_login(client: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.BEACH_ANONYMOUS = False
    session = make_session()
    for path in ("/", f"/chat/{session.public_id}/"):
        answer = client.get(path)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/accounts/login/?next=")
    assert client.post("/chat/new").status_code == 302
    assert Session.objects.count() == 1


def test_an_unknown_conversation_and_a_foreign_one_look_the_same(client: Client) -> None:
    client.force_login(make_user())
    foreign = make_session(make_user())
    answers = [client.get(f"/chat/{public_id}/") for public_id in (foreign.public_id, "nothing")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert text(answers[0]).replace(foreign.public_id, "nothing") == text(answers[1])


def test_staff_may_look_and_not_write(client: Client) -> None:
    session = make_session(title="Refund")
    make_turn(session, text="Please <b>refund</b>")
    client.force_login(make_user(staff=True, permissions=["view_session"]))
    page = text(client.get(f"/chat/{session.public_id}/"))
    assert "Please &lt;b&gt;refund&lt;/b&gt;" in page
    assert "View only." in page
    assert page.count("<textarea") == 1
    assert "disabled></textarea>" in page
    assert '<form class="b-composer b-composer--line" id="composer" hidden>' in page


def test_a_page_says_where_the_socket_goes_on_from(client: Client) -> None:
    user = make_user()
    session = make_session(user, title="Refund")
    make_turn(session)
    session.refresh_from_db()
    client.force_login(user)
    page = " ".join(text(client.get(f"/chat/{session.public_id}/")).split())
    assert f'data-session="{session.public_id}" data-seq="{session.last_seq}" data-busy="true"' in page
    assert 'id="side-title">Refund</span>' in page
    assert "no-store" in client.get(f"/chat/{session.public_id}/")["Cache-Control"]


def test_the_list_knows_where_it_is_asked_from_and_takes_one_query(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    user = make_user()
    sessions = [make_session(user, title=f"Talk {number}") for number in range(5)]
    make_turn(sessions[0])
    client.force_login(user)
    current = f"http://testserver/chat/{sessions[1].public_id}/"
    with django_assert_num_queries(3):  # session, user, list
        answer = client.get("/chat/list", headers={"hx-request": "true", "hx-current-url": current})
    assert text(answer).count('aria-current="page"') == 1
    assert text(answer).count("Working") == 2  # a hidden one waits for the current conversation
    assert "Talk 4" in text(answer)
    assert "<html" not in text(answer)
    assert text(Client().get("/chat/list")).strip() == ""


def test_the_list_says_waiting_for_you_only_where_the_owner_can_still_decide(client: Client) -> None:
    user = make_user("ada")
    rules = (Ask((OWNER, STAFF), needed=2), Ask(four_eyes=True), Ask((STAFF,)), Ask())
    several, *_ = [make_approval(make_session(user), tool=asking(rule)) for rule in rules]
    client.force_login(user)
    assert text(client.get("/chat/list")).count("Waiting for you") == 2

    decide(several.approval_id, "granted", make_principal(user))

    assert text(client.get("/chat/list")).count("Waiting for you") == 1


def test_a_page_says_of_its_own_conversation_that_it_asks_before_any_script_does(client: Client) -> None:
    user = make_user("ada")
    client.force_login(user)
    asks, other = make_session(user), make_session(user)
    approval = make_approval(asks)

    assert 'data-asks="true"' in text(client.get(f"/chat/{asks.public_id}/"))
    assert 'data-asks="false"' in text(client.get(f"/chat/{other.public_id}/"))
    decide(approval.approval_id, "denied", make_principal(user))
    assert 'data-asks="false"' in text(client.get(f"/chat/{asks.public_id}/"))


def test_the_theme_is_remembered_and_served(client: Client) -> None:
    assert "data-theme=" not in text(client.get("/")).split("<head>")[0]
    answer = client.post("/theme", {"theme": "dark"}, headers={"hx-request": "true"})
    assert answer["HX-Trigger"] == '{"theme": "dark"}'
    assert re.findall('value="(.+)"\\s+aria-pressed="true"', text(answer)) == ["dark"]
    assert 'data-theme="dark"' in text(client.get("/")).split("<head>")[0]
    assert (
        client.post("/theme", {"theme": "auto"}, headers={"referer": "http://evil.example/"})["Location"]
        == "/"
    )
    assert "data-theme=" not in text(client.get("/")).split("<head>")[0]
    assert client.post("/theme", {"theme": '"><script>'}).status_code == 400
    client.cookies["beach_theme"] = '"><script>'
    assert "<script>" not in text(client.get("/")).split("<head>")[0]


@pytest.mark.parametrize(
    "referer",
    [
        "http://testserver",
        "http://testserver//evil.example/x",
        "//testserver//evil.example",
        "chat/x",
        "\thttps://evil",
        "http://[",
    ],
)
def test_an_odd_referer_leads_to_the_front_page_and_nowhere_else(client: Client, referer: str) -> None:
    answer = client.post("/theme", {"theme": "dark"}, headers={"referer": referer})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("address", ["http://[", "http://testserver/chat/%00/", "javascript:alert(1)"])
def test_an_odd_address_of_the_page_still_gives_the_list(client: Client, address: str) -> None:
    headers = {"hx-request": "true", "hx-current-url": address}
    assert client.get("/chat/list", headers=headers).status_code == 200


def test_no_page_holds_inline_script_style_or_handlers(client: Client) -> None:
    who, cookie = make_visitor()
    session = create_session(who, "billing")
    turn = make_turn(session, text="Hi")
    add_part(turn, "progress", data={"id": "p", "label": "Paying", "current": 1, "total": 3})
    add_part(turn, "domain-data", data={"rows": [{"amount": 40}]}, dataKind="payments")
    surface: JsonObject = {
        "version": "v1.0",
        "createSurface": {
            "surfaceId": "s",
            "catalogId": BASIC_CATALOG_1_0.id,
            "theme": {"primaryColor": "#123456"},
        },
        "updateComponents": {
            "surfaceId": "s",
            "components": [{"id": "root", "component": "Text", "text": "Wide"}],
        },
    }
    add_part(turn, "a2ui-surface", data=surface)
    one, _other = make_approvals(turn, {"order": "A17", "amount": 40}, {"order": "A18", "amount": 2})
    decide(one.approval_id, "denied", who, reason="Not yet.")
    client.cookies[access.COOKIE] = cookie
    drawn = text(client.get(f"/chat/{session.public_id}/"))
    assert all(words in drawn for words in ("Paying", "Wide", "A17", "A18", "Not yet."))
    for path in ("/?new", f"/chat/{session.public_id}/"):
        tree = html5lib.parse(text(client.get(path)), namespaceHTMLElements=False)
        for element in tree.iter():
            assert "style" not in element.attrib, element.attrib
            assert not [name for name in element.attrib if str(name).startswith("on")], element.attrib
            assert element.tag != "style"
            if element.tag == "script":
                assert element.get("src") or element.get("type") == "application/json"
        ids = [element.get("id") for element in tree.iter() if element.get("id")]
        assert len(ids) == len(set(ids))


def test_a_signed_in_person_is_named(client: Client) -> None:
    user = make_user("ada")
    client.force_login(user)
    assert make_principal(user).name == "ada"
    page = text(client.get("/"))
    assert ">ada</span>" in page
    assert "Sign out" in page
    assert "Desk" not in page


def test_a_list_that_is_cut_says_so(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidebar, "SHOWN", 2)
    who, cookie = access.new_anonymous_owner()
    client.cookies[access.COOKIE] = cookie
    for _ in range(2):
        create_session(who, next(iter(actors)).name)
    assert "Showing the newest" not in client.get("/chat/list").content.decode()
    create_session(who, next(iter(actors)).name)
    page = client.get("/chat/list").content.decode()
    assert page.count("b-session__name") == 2
    assert "Showing the newest 2." in page


def test_the_heading_of_todays_conversations_is_in_the_language_of_the_page() -> None:
    who = make_principal(make_user("ada"))
    make_session(who, title="Corfu")
    with translation.override("de"):
        groups = sidebar.sidebar(who, current="")
    assert [group.name for group in groups] == ["Today"]
