"""What a conversation is called, everywhere alike; and what people wrote, kept as they wrote it."""

from __future__ import annotations

import re

import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from envelopes.access import COOKIE, new_anonymous_owner
from envelopes.markup.html import reveal
from envelopes.protocol.text import clip, shorten
from envelopes.providers.scripted import Say, text
from envelopes.session_state import live_sessions
from tests.desk import desk, replies
from tests.envelopes.transports.panel.talk import Talk

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
HINDI = "\u0915\u094d\u200d\u0937"
ACCENTS = "e\u0301\u0323"
WORDS = {
    "short": "Hello",
    "long": "A flight from London Gatwick to Lisbon " * 4,
    "blanks": "two   blanks\tand\n\nlines" + " x" * 30,
    "emoji": FAMILY * 30,
    "flags": ENGLAND * 20 + " " + "\U0001f1f5\U0001f1f9" * 60,
    "Persian": f"{PERSIAN} " * 20,
    "Hindi": HINDI * 40,
    "accents": ACCENTS * 60,
    "direction": "Pay \u202e001\u202c EUR" + "\u2066" * 80,
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
async def test_p23_the_live_page_its_reload_and_the_list_give_one_title(words: str) -> None:
    who, cookie = new_anonymous_owner()
    async with desk(replies([Say([text("response", "Done.")])]), owner=who) as d:
        live: list[str] = []

        def watch() -> None:
            with live_sessions.present(d.session, "panel") as view:
                frames = [frame.payload for frame in view.frames]
            pattern = re.compile(r'\["t","(?:title|side-title)","((?:[^"\\\\]|\\\\.)*)"\]')
            live.extend(match for frame in frames for match in pattern.findall(frame))

        await d.say(words)
        await sync_to_async(watch)()
        client = Client()
        client.cookies[COOKIE] = cookie
        page = (
            await sync_to_async(client.get)(reverse("envelopes:session", args=[d.session.public_id]))
        ).content.decode()
        reloaded = re.search(r'id="title">([^<]*)<', page)
        listed = re.search(r'id="side-title"[^>]*>([^<]*)<', page)
        headed = re.search(r"<title[^>]*>(.*?) · Beach</title>", page, re.DOTALL)
        assert reloaded is not None
        assert listed is not None
        assert headed is not None
        await d.session.arefresh_from_db()
        titles = {*live, reloaded[1], listed[1], headed[1].strip(), d.session.title}
        assert len(live) == 2
        assert len(titles) == 1, titles


@pytest.mark.parametrize("cluster", [FAMILY, ENGLAND, "\U0001f1f5\U0001f1f9", ACCENTS, "\u2764\ufe0f"])
@pytest.mark.parametrize("before", range(6))
def test_p19_a_title_is_not_cut_inside_of_what_a_person_sees_as_one_character(
    cluster: str, before: int
) -> None:
    talk = Talk()
    talk.me("x" * before + cluster * 60)
    title = str(talk.thread.title)
    assert len(title) <= 80
    kept = title.removeprefix("x" * before).removesuffix("\u2026")
    assert kept == cluster * (len(kept) // len(cluster))
    assert len(kept) > 0


@pytest.mark.parametrize("cut", [clip, shorten])
@pytest.mark.parametrize("cluster", [FAMILY, ACCENTS, HINDI])
def test_p19_nor_is_any_other_text_that_is_cut(cut: object, cluster: str) -> None:
    assert callable(cut)
    kept = str(cut(cluster * 100, 90)).removesuffix("\u2026")
    assert 0 < len(kept) < 90
    assert kept == cluster * (len(kept) // len(cluster))


@given(st.text(min_size=1), st.integers(1, 30))
def test_what_is_cut_fits_and_says_so(words: str, length: int) -> None:
    kept = clip(words, length)
    assert len(kept) <= length
    assert kept == words or (kept.endswith("\u2026") and words.startswith(kept[:-1]))


def test_a_character_that_is_longer_than_there_is_room_is_cut() -> None:
    assert clip("a" + "\u0301" * 100, 10) == "a" + "\u0301" * 8 + "\u2026"


@pytest.mark.parametrize("words", [FAMILY, ENGLAND, PERSIAN, HINDI, "\u2764\ufe0f\u200d\U0001f525"])
def test_p10_what_people_write_is_shown_as_they_wrote_it(words: str) -> None:
    talk = Talk()
    talk.me(f"So: {words} end")
    assert f"So: {words} end" in talk.html()
    assert talk.thread.title == f"So: {words} end"


def test_p10_an_approval_names_the_joiners_all_the_same() -> None:
    shown = reveal(f"{FAMILY} {PERSIAN} {ENGLAND}")
    assert "\u200d" not in shown
    assert "\u200c" not in shown
    for code in ("U+200D", "U+200C", "U+E0067"):
        assert code in shown
