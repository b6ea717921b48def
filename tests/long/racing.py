"""Doors that people outside of a conversation decide at, each at one of several processes: what they are sent, and what
they are told."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import html
import json
import os
import re
import secrets
import struct
import sys
import termios
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import NamedTuple

import httpx
from standardwebhooks.webhooks import Webhook

from tests.faults.conftest import Lab
from tests.nursery import ROOT

HOST = "mx.chat.example"
SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes, no").decode()
LATE = re.compile(r"(You already|This was already|It was already) (approved|denied)")
UNAVAILABLE, TRY_AGAIN = 503, 75
SAYS = {"granted": "Approve", "denied": "Deny"}
STAFF = """
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
may = Permission.objects.filter(codename__in=["decide_approval", "view_approval"])
for number in range({count}):
    name = f"staff{{number}}"
    user = User.objects.create_user(name, f"{{name}}@example.com", password=None, is_staff=True)
    user.user_permissions.set(may)
    store = SessionStore()
    store[SESSION_KEY], store[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store.create()
    print(store.session_key)
"""
MAILS = """
import json
from django.test import override_settings
from envelopes.transports.email.sending import claim_next, queue_due, sent
with override_settings(BEACH_APPROVAL_MAIL="staff", BEACH_APPROVAL_MAIL_SECONDS=0):
    queue_due()
    while (claimed := claim_next()) is not None:
        mail = claimed.message
        sent(claimed.pk)
        print(json.dumps([mail.to[0].partition("@")[0], mail.subject, mail.body]))
"""

Answer = tuple[str, str]
"""``won`` or ``late``, and what was said."""


class Mailed(NamedTuple):
    """What one of the staff got: the link in it is a path."""

    name: str
    subject: str
    link: str


def with_doors(database: Mapping[str, str], count: int) -> dict[str, str]:
    """The environment of servers whose doors are all open to so many of the staff."""
    return {
        **database,
        "BEACH_SITE_URL": "https://chat.example",
        "BEACH_MAIL_REPLY_TO": "approvals@chat.example",
        "BEACH_MAIL_AUTHSERV": HOST,
        "BEACH_MAIL_SECRET": SECRET,
        "BEACH_BUTTON_SECRET": SECRET,
        "BEACH_BUTTON_USERS": ",".join(f"webhook:pager/staff{n}=staff{n}" for n in range(count)),
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    }


async def sign_in(lab: Lab, count: int) -> list[str]:
    """So many of the staff; the keys of their sessions."""
    return (await lab.shell(STAFF.format(count=count))).split()


async def mails(lab: Lab, count: int) -> list[Mailed]:
    """The mail about the one open question to each of them, in the order of their numbers."""
    found: dict[str, Mailed] = {}
    for line in (await lab.shell(MAILS)).splitlines():
        name, subject, body = json.loads(line)
        link = re.search(r"https://chat\.example(/approve/\S+)", body)
        assert link is not None
        found[name] = Mailed(name, subject, link[1])
    return [found[f"staff{number}"] for number in range(count)]


async def insist(post: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """The answer to what is posted, again where the site says so: on a machine with more to do
    one of 64 may wait for the lock longer than it is given."""
    while True:
        answer = await post()
        if answer.status_code != UNAVAILABLE and "cannot be reached at the moment" not in answer.text:
            return answer
        await asyncio.sleep(0.5)


def client(lab: Lab, cookies: dict[str, str]) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=lab.server.url, cookies=cookies, timeout=120, trust_env=False)


def _decided(text: str, word: str) -> Answer:
    if "It will run once." in text or "Denied. Nothing ran." in text:
        return "won", word
    assert LATE.search(text), text
    return "late", text


async def by_admin(lab: Lab, session: str, pk: int, approval: str, word: str) -> Answer:
    """The form on the page of the approval."""
    token = secrets.token_hex(16)
    async with client(lab, {"sessionid": session, "csrftoken": token}) as http:
        answer = await insist(
            lambda: http.post(
                f"/admin/envelopes/approval/{pk}/decide/",
                data={"asked_as": approval, "decision": word, "reason": "", "csrfmiddlewaretoken": token},
                headers={"Referer": f"{lab.server.url}/admin/"},
                follow_redirects=True,
            )
        )
    assert answer.status_code == 200, answer.text[:2000]
    text = html.unescape(answer.text)
    if "It will run once." in text or "Denied. Nothing ran." in text:
        return "won", word
    found = re.search(r"It was already [^<]*", text)
    assert found is not None and "Your decision was not applied" in text, text[:4000]
    return "late", found[0]


async def by_link(lab: Lab, path: str, word: str) -> Answer:
    """The form behind a link, without a session."""
    token = secrets.token_hex(16)
    async with client(lab, {"csrftoken": token}) as http:
        answer = await insist(
            lambda: http.post(
                path,
                data={"decision": word, "reason": "", "csrfmiddlewaretoken": token},
                headers={"Referer": f"{lab.server.url}{path}"},
            )
        )
    if answer.status_code == 302:
        return "won", word
    text = html.unescape(answer.text)
    assert answer.status_code == 409 and "Your decision was not applied" in text, text[:4000]
    found = re.search(r"It was already [^<]*", text)
    assert found is not None, text[:4000]
    return "late", found[0]


def own_mail(mailed: Mailed, word: str = "") -> EmailMessage:
    """A reply as a mail host hands it over; without ``word`` all but its text."""
    answer = EmailMessage()
    answer["Authentication-Results"] = f"{HOST}; dmarc=pass header.from=example.com"
    answer["From"] = f"{mailed.name}@example.com"
    answer["To"] = "approvals@chat.example"
    answer["Subject"] = f"Re: {mailed.subject}"
    answer["Message-ID"] = f"<{secrets.token_hex(8)}@example.com>"
    if word:
        answer.set_content(SAYS[word])
    return answer


async def _posted(lab: Lab, path: str, body: bytes) -> dict[str, str]:
    name, now = secrets.token_hex(16), int(time.time())
    signature = Webhook(SECRET).sign(name, datetime.fromtimestamp(now, UTC), body.decode())
    headers = {"webhook-id": name, "webhook-timestamp": str(now), "webhook-signature": signature}
    async with client(lab, {}) as http:
        answer = await insist(lambda: http.post(path, content=body, headers=headers))
    assert answer.status_code == 200, answer.text
    found: dict[str, str] = answer.json()
    return found


async def by_posted_mail(lab: Lab, mailed: Mailed, word: str) -> Answer:
    """A mail service that posts what came in."""
    answer = await _posted(lab, "/mail/inbound", own_mail(mailed, word).as_bytes())
    return _decided(answer["told"], word)


async def by_button(lab: Lab, name: str, value: str, word: str) -> Answer:
    """A program in which somebody presses a button."""
    body = json.dumps({"button": value, "by": f"pager/{name}"}).encode()
    return _decided((await _posted(lab, "/buttons/webhook", body))["told"], word)


class Typed:
    """``beach receive-mail`` as a mail server runs it: it has read the headers, and waits for the text."""

    def __init__(self, process: asyncio.subprocess.Process, end: int) -> None:
        self._process = process
        self._end = end
        self._again: Callable[[], Awaitable[Typed]] | None = None

    @classmethod
    async def begun(cls, lab: Lab, mail: EmailMessage) -> Typed:
        """Returns when the command is at its standard input."""
        there, here = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "manage.py", "beach", "receive-mail"),
            cwd=ROOT,
            env=lab.server.environ,
            stdin=there,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        os.write(here, mail.as_bytes().rstrip(b"\n") + b"\n")
        while _unread(there):
            assert process.returncode is None
            await asyncio.sleep(0.05)
        os.close(there)
        typed = cls(process, here)
        typed._again = lambda: cls.begun(lab, mail)
        return typed

    async def ended(self, word: str) -> Answer:
        """Give it the text."""
        os.write(self._end, f"\n{SAYS[word]}\n".encode())
        os.close(self._end)
        said, _ = await self._process.communicate()
        if self._process.returncode == TRY_AGAIN and self._again is not None:
            # As a mail server does, which keeps it.
            return await (await self._again()).ended(word)
        assert self._process.returncode == 0, said
        return _decided(said.decode(), word)


def _unread(pipe: int) -> int:
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))
    return int(count)
