"""Earlier messages of a stored conversation: over the socket, by link, by search, made again where they are lost."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse

from envelopes.models import Event, FrozenView, Session, Snapshot
from envelopes.providers.scripted import Say, text
from envelopes.session_state import PresentedSession, live_sessions
from envelopes.session_state.live import LiveSession
from envelopes.transports.panel import earlier
from envelopes.transports.panel.presenter.panel import html_of, thread_of
from envelopes.transports.panel.search import search
from tests import factories
from tests.desk import replies
from tests.envelopes.transports.panel.talk import Page
from tests.long_talk import talk_at_length
from tests.sockets import Socket, panel

GAP = re.compile(r'data-more="g(\d+)-(\d+)-(\d+)"')
ROWS = 300


@pytest.fixture
def long_one(client: Client) -> Iterator[Session]:
    live_sessions.clear()  # a database that was rolled back gives out the same keys again
    user = factories.make_user()
    session = factories.make_session(factories.make_principal(user))
    talk_at_length(session, ROWS)
    client.force_login(user)
    yield session
    live_sessions.clear()


def drawn(session: Session) -> tuple[str, list[str]]:
    """The first page, and every page that is loaded above it, down to the first row."""
    with live_sessions.present(session, "panel") as shown:
        return html_of(shown), loaded(shown)


def loaded(shown: PresentedSession) -> list[str]:
    """The pages above the first one, from the newest on."""
    pages = []
    gaps = GAP.findall(html_of(shown))
    while gaps:
        numbers = map(int, gaps.pop())
        ops = earlier.page(shown, *numbers)
        pages += [op[3] for op in ops if op[0] == "i"]
        gaps += [gap for op in ops if op[0] == "r" for gap in GAP.findall(op[2])]
    return pages


@pytest.mark.django_db(transaction=True)
def test_every_process_and_every_replay_loads_the_same_pages(long_one: Session) -> None:
    first, pages = drawn(long_one)
    assert len(pages) > 1
    assert "The Needle" in pages[-1]
    assert "The Needle" not in first
    stored = FrozenView.objects.filter(session=long_one)
    assert stored.exists()
    # Another process: from the snapshot, and what is stored.
    live_sessions.clear()
    assert drawn(long_one) == (first, pages)
    # Nothing but the log.
    live_sessions.clear()
    stored.delete()
    Snapshot.objects.all().delete()
    assert drawn(long_one) == (first, pages)


@pytest.mark.django_db(transaction=True)
def test_what_is_lost_is_made_again(long_one: Session, client: Client) -> None:
    first, pages = drawn(long_one)
    FrozenView.objects.filter(session=long_one, number__lt=20).delete()
    live_sessions.clear()
    page = client.get(reverse("envelopes:session", args=[long_one.public_id]) + "?before=9").content.decode()
    assert "The Needle, in the hay</p>" in page
    live_sessions.clear()
    assert drawn(long_one) == (first, pages)


@pytest.mark.django_db(transaction=True)
def test_a_presenter_keeps_no_more_than_is_about_to_be_stored(long_one: Session) -> None:
    live = LiveSession(long_one)
    assert len(thread_of(live.present("panel")).model.frozen) > 50
    with live_sessions.present(long_one, "panel") as shown:
        pass
    assert not thread_of(shown).model.frozen
    assert len(thread_of(shown).snapshot()["turns"]) < 20


@pytest.mark.django_db
def test_links_lead_to_what_is_not_on_the_first_page(long_one: Session, client: Client) -> None:
    here = reverse("envelopes:session", args=[long_one.public_id])

    def led(target: str) -> tuple[str, str]:
        answer = client.get(reverse("envelopes:place", args=[long_one.public_id, target]))
        path, _, anchor = answer["Location"].partition("#")
        return path, anchor

    path, anchor = led("1")
    assert (path.partition("?")[0], anchor) == (here, "e1")
    assert f'id="{anchor}"' in client.get(path).content.decode()
    # A row that shows nothing by itself, a turn, and a card that may still change.
    assert led("5")[1] == "t1-0"
    assert led("t1-0") == (led("5")[0], "t1-0")
    assert led("e4")[1] == "e4"
    assert f'id="{led("e4")[1]}"' in client.get(led("e4")[0]).content.decode()
    last = Event.objects.filter(session=long_one, part_type="response").latest("seq").seq
    assert led(str(last)) == (here, f"e{last}")
    for nowhere in ("e999999", "t999-0", "x", "a1-0", "e"):
        assert led(nowhere) == (here, "")
    assert client.get(f"{here}?at=999999&before=nonsense").status_code == 200


@pytest.mark.django_db
def test_a_search_reaches_what_is_not_loaded(long_one: Session, client: Client) -> None:
    (found,) = search(long_one, "hay NEEDLE").found
    assert (found.seq, found.mine) == (1, True)
    assert found.said == "The <mark>Needle</mark>, in the <mark>hay</mark>"
    many = search(long_one, "answer")
    assert many.more
    assert [each.seq for each in many.found] == sorted((each.seq for each in many.found), reverse=True)
    assert not search(long_one, "needle answer").found
    assert not search(long_one, "  ").found
    url = reverse("envelopes:find", args=[long_one.public_id])
    whole = client.get(url, {"q": "needle"}).content.decode()
    part = client.get(url, {"q": "needle"}, headers={"HX-Request": "true"}).content.decode()
    assert part in whole
    assert reverse("envelopes:place", args=[long_one.public_id, 1]) in part
    # SQLite takes a NUL for the end of a pattern that everything matches, PostgreSQL for an error.
    assert "b-find__hit" not in client.get(url, {"q": "\0"}).content.decode()
    assert client.get(url, {"q": "\0needle"}).content.decode().count("b-find__hit") == 1
    assert client.get(url, {"q": "<b>"}).content.decode().count("&lt;b&gt;") == 1
    assert Client().get(url, {"q": "needle"}).status_code == 404
    # A page that was there before its conversation: the server sees which one asks. Enter leads on to what is found.
    here = {"HX-Request": "true", "HX-Current-URL": f"http://testserver/chat/{long_one.public_id}/"}
    find = reverse("envelopes:find_here")
    assert client.get(find, {"q": "needle"}, headers=here).content.decode() == part
    led = client.get(find, {"q": "needle", "go": "1"}, headers=here).content.decode()
    assert led == part.replace('"b-find__hit"', '"b-find__hit" autofocus', 1) != part
    assert client.get(find, {"q": "needle"}).status_code == 404
    assert Client().get(find, {"q": "needle"}, headers=here).status_code == 404


@pytest.mark.django_db
def test_a_search_shows_a_text_as_it_is_read(long_one: Session) -> None:
    turn = factories.make_turn(long_one)
    link = "[the `desk`](https://desk.example/ask)"
    said = f"### Two *ways*\n\n- _Book the **easyJet** one_\n- ask {link}\n\na\\*b &amp; 1 < 2"
    factories.add_part(turn, "response", text=said)
    (found,) = search(long_one, "easyjet").found
    assert found.said == "Two ways Book the <mark>easyJet</mark> one ask the desk a*b &amp; 1 &lt; 2"
    # Only what is written has this: without it nobody would see what was found.
    (found,) = search(long_one, "desk.example").found
    assert "](https://<mark>desk.example</mark>/ask)" in found.said
    # What a person wrote is no Markdown.
    row = {
        "session": long_one,
        "at": Event.objects.latest("seq").at,
        "kind": "message",
        "audience": "delivered",
    }
    Event.objects.create(seq=9_001, data={"text": "*Book* the **easyJet** one for two"}, **row)
    assert "*Book* the **<mark>easyJet</mark>**" in search(long_one, "two easyjet").found[0].said


@pytest.mark.django_db
def test_a_search_reaches_what_came_with_a_message(long_one: Session) -> None:
    """As far as a page shows it, and over what it says in words as well."""
    row = {
        "session": long_one,
        "at": Event.objects.latest("seq").at,
        "kind": "message",
        "audience": "delivered",
    }
    data = {"where": {"city": "Córdoba"}, "days": [7, True], "note": 'a "quoted" word'}
    parts = [
        {"metadata": {"partType": "artifact"}, "data": {"artifactId": "hidden", "name": "Reisekosten.pdf"}},
        {"metadata": {"partType": "domain-data", "dataKind": "trip"}, "text": "spoken", "data": data},
        {"metadata": {"partType": "llm-context"}, "text": "secretword"},
    ]
    Event.objects.create(seq=9_001, data={"text": "My plans", "parts": parts}, **row)
    for words in ("reisekosten.PDF", "my Córdoba", "CÓRDOBA city", "7 spoken", '"quoted"'):
        (found,) = search(long_one, words).found
        assert found.seq == 9_001
        assert "<mark>" in found.said
    for words in ("secretword", "hidden", "partType", "artifactId", "trip", "my nowhere"):
        assert not search(long_one, words).found


@pytest.mark.django_db
def test_a_search_says_of_what_it_was_when_there_were_more_words(long_one: Session, client: Client) -> None:
    url = reverse("envelopes:find", args=[long_one.public_id])
    eight = "the needle in the hay the needle in"
    assert "Only this was" not in client.get(url, {"q": eight}).content.decode()
    told = client.get(url, {"q": f"{eight} nowhere"}).content.decode()
    assert f'Only this was: <q dir="auto">{eight}</q>' in told
    assert told.count("b-find__hit") == 1
    (cut,) = re.findall("<q[^>]*>(.*)</q>", client.get(url, {"q": f"needle {'x' * 300}"}).content.decode())
    assert cut == f"needle {'x' * 193}"


@pytest.mark.django_db
def test_what_never_leaves_the_server_is_not_found(long_one: Session) -> None:
    row = {"session": long_one, "at": Event.objects.latest("seq").at}
    Event.objects.create(
        seq=9_001, kind="note", audience="audit", data={"text": "secretword"}, **row
    )  # fmt: skip
    hidden = {"part": {"text": "secretword", "metadata": {"partType": "llm-context"}}}
    Event.objects.create(
        seq=9_002, kind="part", part_type="llm-context", audience="delivered", data=hidden, **row
    )  # fmt: skip
    assert not search(long_one, "secretword").found


@pytest.mark.django_db(transaction=True)
async def test_a_page_comes_in_its_place_among_rows() -> None:
    """What is due is sent before it, so that it shows what the reader has: nothing is missed, nothing comes twice."""
    async with panel(replies([Say([text("response", "Hello to you.")])])) as (session, browser, _):
        await sync_to_async(talk_at_length)(session, ROWS)
        socket = await Socket(browser, session.public_id).open(after=session.last_seq)
        card = await sync_to_async(_first_field)(session)
        gap = await sync_to_async(_gap)(session)
        # Written, and not sent yet.
        await socket.send({"type": "edit", "id": "e", "target": card, "value": "typed"})
        await socket.send({"type": "show", "id": "m", "target": gap})
        got = await socket.until(lambda frame: frame.get("id") == "m")
        before = [frame for frame in socket.frames[:-1] if frame.get("ops")]
        assert (got["type"], got["seq"], got["prev"]) == ("ack", before[-1]["seq"], before[-1]["seq"])
        page = Page(await sync_to_async(_first_page)(session))
        page.apply(got["ops"])
        refused = await socket.ask({"type": "show", "target": "g1"})
        assert refused["type"] == "error"
        await socket.close()


def _first_page(session: Session) -> str:
    with live_sessions.present(session, "panel") as shown:
        return html_of(shown)


def _gap(session: Session) -> str:
    found = GAP.search(_first_page(session))
    assert found is not None
    return f"g{found[1]}-{found[2]}-{found[3]}"


def _first_field(session: Session) -> str:
    with live_sessions.present(session, "panel") as shown:
        (surface,) = (each for each in shown.state.surfaces if each.id == "first")
        found = re.search(r'id="([\w-]+)" class="a2-field"', surface.html())
    assert found is not None
    return found[1]
