"""The gallery over HTTP: who gets in, what comes back, and what hostile input gets."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from typing import Any

import html5lib
import pytest
from django.contrib.auth.models import User
from django.test import Client

from a2ui.gallery import access, samples
from a2ui.gallery import replay as replaying
from tests.a2ui.gallery.page import FIELDS, GO, HTMX, LINK, MANY, NAME, SECRET, Tab, form, text
from tests.a2ui.programs import components, create, message, row
from tests.a2ui.strategies import FUZZ
from tests.shared import needs_shared, xss_payloads

# -- who gets in ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path"), [("get", "/gallery/"), ("post", "/gallery/"), ("post", "/gallery/act")]
)
def test_there_is_no_gallery_for_strangers(
    client: Client, django_user_model: type[User], method: str, path: str
) -> None:
    ask = getattr(client, method)
    assert ask(path).status_code == 404
    client.force_login(django_user_model.objects.create_user("ann"))
    assert ask(path).status_code == 404


@pytest.mark.django_db
def test_staff_get_in_everywhere(client: Client, django_user_model: type[User]) -> None:
    sam = django_user_model.objects.create_user("sam", is_staff=True)
    client.force_login(sam)

    assert client.get("/gallery/").status_code == 200
    assert "/gallery/" in client.get("/?new").text

    sam.is_active = False
    sam.save()
    assert client.get("/gallery/").status_code == 404


def test_everyone_gets_in_where_the_setting_is_on(gallery: Client) -> None:
    assert gallery.get("/gallery/").status_code == 200


def test_only_staff_are_shown_the_way(gallery: Client) -> None:
    assert "/gallery/" not in gallery.get("/?new").text


def test_it_is_off_in_production_and_on_in_the_demo() -> None:
    from beachsite.suite import ROOT

    settings = ROOT / "beachsite" / "settings"
    line = 'BEACH_GALLERY = env.flag("BEACH_GALLERY", default={})'
    assert line.format("False") in (settings / "production.py").read_text()
    assert line.format("True") in (settings / "local.py").read_text()


@pytest.mark.parametrize("path", ["/gallery/", "/gallery/act"])
def test_it_needs_a_token_against_forgery(gallery: Client, path: str) -> None:
    stranger = Client(enforce_csrf_checks=True)

    assert stranger.post(path, form()).status_code == 403


def test_acting_is_a_post(gallery: Client) -> None:
    assert gallery.get("/gallery/act").status_code == 405


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [sample.name for sample in samples.ours()])
def test_every_sample_has_a_page_without_anything_inline(gallery: Client, name: str) -> None:
    answer = gallery.get("/gallery/", {"sample": name})

    assert answer.status_code == 200
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert_inert(answer.text)


def test_an_unknown_sample_is_the_first_one(gallery: Client) -> None:
    answer = gallery.get("/gallery/", {"sample": "../../settings"})

    assert "Product card" in answer.text


def test_ids_are_there_once(gallery: Client) -> None:
    tree = html5lib.parse(gallery.get("/gallery/").text, namespaceHTMLElements=False)
    ids = [element.get("id") for element in tree.iter() if element.get("id")]

    assert len(ids) == len(set(ids))


def test_a_step_brings_the_parts_of_the_page(tab: Tab) -> None:
    answer = tab.go(step="3")

    assert 'hx-target="#thread"' in answer
    assert "<html" not in answer
    assert ">Ines<" in answer


def test_without_script_a_step_is_a_page(gallery: Client) -> None:
    answer = gallery.post("/gallery/", form(step="3"))

    assert "<html" in answer.text
    assert 'aria-current="step"' in answer.text


def test_the_language_of_the_surface_is_that_of_the_switch(tab: Tab) -> None:
    assert 'lang="ar-EG" dir="rtl"' in tab.go(locale="ar-EG")


def test_a_fault_stands_at_its_place(tab: Tab) -> None:
    answer = tab.go(program=text([create("s"), components(row("root", "Text", text="x", variant="h9"))]))

    before, _, fault = answer.partition("&quot;h9&quot;")
    assert "g-line--bad" in before[-400:]
    assert "/components/0/variant" in fault[:400]


def test_strict_refuses_what_is_else_shown(tab: Tab) -> None:
    program = text([create("s"), components(row("root", "Text", text="x", variant="h9"))])

    assert "g-step__fault" in tab.go(program=program)
    assert ">refused<" in "".join(tab.go(program=program, strict="1").split())


# -- a program of one's own -------------------------------------------------------------------------------------------


def test_a_program_is_run(tab: Tab) -> None:
    answer = tab.go(
        run="1",
        draft=text([create("mine"), components(row("root", "Text", text="All mine"), surface="mine")]),
    )

    assert "All mine" in answer
    assert 'hx-target="#program"' in answer
    assert re.search(r'hx-target="#name"\s+hx-swap="innerHTML"\s*>Your program<', answer)


@pytest.mark.parametrize("draft", ["", "{", '[{"version": "v0.9",]', "[" * 50_000, "nonsense", '{"a": NaN}'])
def test_what_is_no_program_changes_nothing_but_the_notice(gallery: Client, draft: str) -> None:
    answer = gallery.post("/gallery/", form(run="1", draft=draft), headers=HTMX)

    assert answer.status_code == 200
    assert answer.text.count("hx-partial hx-target") == 1
    assert "This was not run" in answer.text


def test_without_script_it_is_given_back(gallery: Client) -> None:
    answer = gallery.post("/gallery/", form(run="1", draft='{"mine": <b>'))

    assert answer.status_code == 422
    assert "{&quot;mine&quot;: &lt;b&gt;" in answer.text


def test_running_starts_over(tab: Tab) -> None:
    tab.do("edit", NAME, "Bea")

    assert "Bea" not in tab.go(run="1")
    assert tab.fields["journal"] == ""


# -- the live surface -------------------------------------------------------------------------------------------------


def test_typing_is_answered_with_fragments_and_the_data(tab: Tab) -> None:
    answer = tab.do("edit", NAME, "Bea")

    assert ["t", "a1-3", "Bea"] in answer["ops"]
    assert "g-line--new" in answer["parts"]
    assert "Bea" in tab.go()


def test_a_click_is_told_to_the_agent_with_the_data_model(tab: Tab) -> None:
    tab.do("edit", NAME, "Bea")
    parts = tab.do("action", GO)["parts"]

    assert "a2uiClientDataModel" in parts
    assert "&quot;Bea&quot;" in parts


def test_an_address_is_opened_by_the_browser(tab: Tab) -> None:
    assert tab.do("action", LINK)["effect"] == {"openUrl": "https://a2ui.org/"}


def test_more_of_a_list_stays_shown(tab: Tab) -> None:
    assert tab.do("show", MANY)["ops"]
    assert "1,000 of" not in tab.go()


def test_start_over_forgets_what_was_done(tab: Tab) -> None:
    tab.do("edit", NAME, "Bea")

    assert "Bea" not in tab.go(over="1")


def test_an_obscured_value_is_in_no_answer_but_the_journal(tab: Tab) -> None:
    answer = tab.do("edit", SECRET, "hunter2")
    page = tab.go()

    for found in (answer["parts"] + json.dumps(answer["ops"]), page):
        without = found.replace(next(line for line in found.splitlines() if 'name="journal"' in line), "")
        assert "hunter2" not in without
        assert "hunter2" in found


# -- hostile ----------------------------------------------------------------------------------------------------------


REFUSED = ["", "{}", "[]", '{"type": "edit", "target": "a1-3", "value": 1}', '{"type": "decide"}']


@pytest.mark.parametrize("doing", REFUSED)
def test_what_cannot_be_done_is_refused_in_words(gallery: Client, doing: str) -> None:
    answer = gallery.post("/gallery/act", form(doing=doing))

    assert answer.status_code == 200
    assert answer.json()["refused"]


@pytest.mark.parametrize("field", ["locale", "timezone", "version", "width", "theme", "step", "journal"])
def test_a_field_that_no_page_would_send_is_refused_in_words(gallery: Client, field: str) -> None:
    answer = gallery.post("/gallery/", form(**{field: "\0<script>"}), headers=HTMX)

    assert answer.status_code == 200
    assert "This was not run" in answer.text
    assert "<script>" not in answer.text
    assert gallery.get("/gallery/", {field: "\0<script>"}).status_code in {200, 422}


def test_more_than_a_form_may_hold_is_refused(gallery: Client) -> None:
    assert gallery.post("/gallery/", form(draft="x" * 3_000_000)).status_code == 400


async def test_programs_are_played_one_after_the_other() -> None:
    at_once, most = 0, 0

    def work() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        time.sleep(0.01)
        at_once -= 1

    await asyncio.gather(*(access.aside(work) for _ in range(4)))

    assert most == 1


def test_a_program_that_is_too_long_says_so(gallery: Client) -> None:
    answer = gallery.post("/gallery/", form([create("s")], run="1", draft="x" * 1_100_000), headers=HTMX)

    assert "at most 1,048,576 are run" in answer.text


def test_half_a_surrogate_pair_anywhere_is_no_error(gallery: Client) -> None:
    half = '"\\ud800"'
    body, odd = f'{{"surfaceId": {half}, "catalogId": {half}}}', f'{{"surfaceId": {half}, "path": {half}}}'
    program = f'[{{"version": "v0.9", "createSurface": {body}}}, {{{half}: {odd}}}]'

    assert gallery.post("/gallery/", form(program)).status_code == 200
    assert (
        gallery.post("/gallery/act", form(program, doing=f'{{"type": "edit", "target": {half}}}')).status_code
        == 200
    )


def test_half_a_surrogate_pair_can_be_typed_and_played_again(tab: Tab) -> None:
    assert "ops" in tab.do("edit", NAME, "\ud83d")
    # A form holds no such thing: the browser puts something else in its place.
    tab.fields["journal"] = tab.fields["journal"].encode("utf-8", "replace").decode()
    assert "ops" in tab.do("edit", NAME, "é and more")
    assert "é and more" in tab.go()


@pytest.mark.parametrize("deep", ["[" * 900 + "]" * 900, '{"a":' * 500 + "1" + "}" * 500])
def test_something_deep_in_any_place_is_no_error(gallery: Client, deep: str) -> None:
    for program in (
        deep,
        f'[{{"version": "v0.9", "createSurface": {{"surfaceId": {deep}}}}}]',
        f'[{text(create("s"))}, {{"version": "v0.9", "updateDataModel": {{"surfaceId": "s", "value": {deep}}}}}]',
    ):
        assert gallery.post("/gallery/", form(program), headers=HTMX).status_code == 200


PAYLOADS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus=alert(1) autofocus x='",
    "</pre></textarea></template><iframe src=//example.org>",
    "javascript:alert(1)",
    "</script><base href=//example.org>",
    "<hx-partial hx-target='#thread'><b>mine</b></hx-partial>",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_payload_is_text_in_every_place_of_the_page(tab: Tab, payload: str) -> None:
    check_inert(tab, payload)


@needs_shared
def test_so_is_every_payload_that_was_ever_reported(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "REQUESTS", 10_000)
    # Each is tested alone in the text of a surface; here it is about the places of the page.
    for param in xss_payloads()[:: 1 if FUZZ > 1 else 4]:
        check_inert(tab, param.values[0]["payload"])


def check_inert(tab: Tab, payload: Any) -> None:
    evil = payload if isinstance(payload, str) else json.dumps(payload)
    program = [
        create(evil[:200], theme={"primaryColor": evil}),
        components(row(evil, evil, text=evil), row("root", "Text", text=evil), surface=evil[:200]),
        message("updateDataModel", evil[:200], value={evil: evil}),
        {"version": evil, evil: {"surfaceId": evil, "path": evil}},
    ]
    page = tab.client.post("/gallery/", form(program, sample=evil, draft=evil)).text
    assert_inert(page)
    assert page.count("</textarea>") == 2
    parts = tab.client.post("/gallery/", form(program), headers=HTMX).text
    assert parts.count("<hx-partial") == parts.count("</hx-partial>") == 9
    assert_inert(tab.client.post("/gallery/", form(run="1", draft=evil)).text)


def assert_inert(page: str) -> None:
    for element in html5lib.parse(page, namespaceHTMLElements=False).iter():
        if not isinstance(element.tag, str):
            continue
        assert element.tag not in {"iframe", "object", "embed", "style", "base"}
        assert element.tag != "script" or element.get("src") or element.get("type") == "application/json"
        for key, value in element.attrib.items():
            assert not str(key).startswith("on") and key != "style"
            assert not (key in {"href", "src", "action"} and value.strip().lower().startswith("javascript"))


# -- limits -----------------------------------------------------------------------------------------------------------


def test_who_asks_too_often_is_told(gallery: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "REQUESTS", 3)
    monkeypatch.setattr(access, "SECONDS", 3600)
    answers = [gallery.post("/gallery/act", form(doing="{}")) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "At most 3 requests" in answers[-1].json()["refused"]


def test_too_many_at_once_are_told(gallery: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_inside", threading.BoundedSemaphore(1))
    assert gallery.get("/gallery/").status_code == 200
    assert access._inside.acquire(blocking=False)

    answer = gallery.get("/gallery/")

    assert answer.status_code == 429
    assert "Too many programs" in answer.text


def test_a_program_that_takes_too_long_is_stopped_and_told(tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "SECONDS", -1.0)

    answer = tab.go()

    assert "Stopped before message 1" in answer
    assert "not run" in answer


def test_nothing_is_kept_on_the_server(tab: Tab, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        tab.do("edit", NAME, "Bea")
        tab.go()

    assert "Bea" not in Tab(tab.client, FIELDS).go()


def test_a_program_in_another_version_says_what_is_different(gallery: Client) -> None:
    named = [
        create("s", theme={"primaryColor": "#112233"}),
        components(row("root", "Text", text="x", variant="h2")),
    ]

    there = Tab(gallery, named, version="1.0").go(step="2")
    as_written = Tab(gallery, named).go(step="2")

    assert "What is different in 1.0" in there
    assert "/createSurface/theme" in there
    assert "## x" in there
    assert "What is different" not in as_written
