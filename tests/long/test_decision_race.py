"""64 people at four processes decide one approval at the same moment, through every door: one decision, one execution,
63 honest answers."""

from __future__ import annotations

import asyncio
import html
import re
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from tests.faults.conftest import Lab, database, make_lab, make_sibling
from tests.faults.scenes import BOOK, BOOKED
from tests.visitor import Visitor

__all__ = ["database", "make_lab", "make_sibling"]

EACH = 4
"""Deciders of a door at one process."""
DENIED = "I have not booked it"
LATE = re.compile(r"(You already|This was already|It was already) (approved|denied)")
STAFF = """
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
for number in range({count}):
    user = User.objects.create_user(f"staff{{number}}", password=None, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["decide_approval", "view_approval"]))
    store = SessionStore()
    store[SESSION_KEY], store[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store.create()
    print(store.session_key)
"""

Answer = tuple[str, str]
"""``won`` or ``late``, and what was said."""


def client(lab: Lab, cookies: dict[str, str]) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=lab.server.url, cookies=cookies, timeout=120, trust_env=False)


async def by_socket(tab: Visitor, approval: str, word: str) -> Answer:
    name = f"race-{secrets.token_hex(8)}"
    await tab.send({"type": "decide", "id": name, "approval": approval, "decision": word})
    # All of them wait for one lock, on a machine that may have more to do.
    await tab.until(lambda: any(frame.get("id") == name for frame in tab.frames), seconds=120)
    answer = next(frame for frame in tab.frames if frame.get("id") == name)
    if answer["type"] == "ack":
        return "won", answer["state"]
    assert answer["code"] == "already_decided", answer
    return "late", answer["message"]


async def by_http(lab: Lab, here: Visitor, path: str, body: dict[str, Any], word: str) -> Answer:
    async with client(lab, here.cookies) as http:
        headers = {"X-CSRFToken": here.cookies["csrftoken"], "Prefer": "respond-async"}
        answer = await http.post(f"/api/sessions/{here.session}/{path}", json=body, headers=headers)
    if answer.status_code in (200, 202):
        return "won", word
    assert (answer.status_code, answer.json()["code"]) == (409, "already_decided"), answer.text
    return "late", answer.json()["message"]


async def by_admin(lab: Lab, session: str, pk: int, word: str) -> Answer:
    token = secrets.token_hex(16)
    async with client(lab, {"sessionid": session, "csrftoken": token}) as http:
        answer = await http.post(
            f"/admin/envelopes/approval/{pk}/decide/",
            data={"decision": word, "reason": "", "csrfmiddlewaretoken": token},
            headers={"Referer": f"{lab.server.url}/admin/"},
            follow_redirects=True,
        )
    assert answer.status_code == 200, answer.text[:2000]
    text = html.unescape(answer.text)
    if "It will run once." in text or "Denied. Nothing ran." in text:
        return "won", word
    found = re.search(r"It was already [^<]*", text)
    assert found is not None and "Your decision was not applied" in text, text[:4000]
    return "late", found[0]


async def test_sixty_four_deciders_at_four_processes_and_one_decision(
    database: dict[str, str], make_lab: Callable[..., Lab], make_sibling: Callable[[Lab], Lab]
) -> None:
    lab = await asyncio.to_thread(make_lab, database)
    labs = [lab, *[await asyncio.to_thread(make_sibling, lab) for _ in range(3)]]
    printed = await lab.shell(STAFF.format(count=len(labs) * EACH))
    staff = printed.split()
    here = await (await Visitor.arrive(lab.server)).connect()
    await here.say(BOOK)
    await here.until(lambda: len(here.approvals()) == 1)
    (approval,) = here.approvals()
    ((pk,),) = lab.query("SELECT id FROM envelopes_approval WHERE approval_id = ?", approval)
    tabs = [[await here.tab(one.server).connect() for _ in range(EACH)] for one in labs]

    deciders: list[Coroutine[Any, Any, Answer]] = []
    for place, one in enumerate(labs):
        for number in range(EACH):
            word = ("granted", "denied")[(place + number) % 2]
            part = {
                "metadata": {"partType": "approval-response"},
                "data": {"approvalId": approval, "decision": word},
            }
            click = {
                "surfaceId": f"beach:approval:{approval}",
                "componentId": {"granted": "approve", "denied": "deny"}[word],
            }
            deciders += [
                by_socket(tabs[place][number], approval, word),
                by_http(one, here, "messages", {"parts": [part]}, word),
                by_http(one, here, "actions", click, word),
                by_admin(one, staff[place * EACH + number], pk, word),
            ]
    assert len(deciders) == 64
    answers = await asyncio.gather(*deciders)

    assert Counter(kind for kind, _ in answers) == {"won": 1, "late": 63}
    ((_, won),) = [answer for answer in answers if answer[0] == "won"]
    told = [text for kind, text in answers if kind == "late"]
    assert all((found := LATE.search(text)) and _word(found[2]) == won for text in told), told
    await here.shows(BOOKED if won == "granted" else DENIED, seconds=120)
    rows = lab.log_of(here.session)
    stands = [row.data["part"]["data"]["decision"] for row in rows if row.part_type == "approval-response"]
    assert stands == [won]
    assert sum(row.kind == "late-decision" for row in rows) == 63
    assert lab.query("SELECT decision FROM envelopes_decision") == [(won,)]
    assert lab.count("demo_booking") == lab.gates.reached("booking-before") == (won == "granted")
    lab.log_is_gap_free()
    for tab in [here, *(tab for many in tabs for tab in many)]:
        await tab.drop()


def _word(said: str) -> str:
    return {"approved": "granted", "denied": "denied"}[said]
