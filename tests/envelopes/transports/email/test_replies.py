"""Which reply decides: its token, its sender and a host that vouches are all right, and its first line is one of the
words. Everything else decides nothing."""

from __future__ import annotations

import io
import json
import re
import time
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client

from beachsite.suite import ROOT
from envelopes.approvals.service import decide
from envelopes.audit.history import history_of
from envelopes.audit.recording import TURNED_AWAY
from envelopes.audit.verifying import verify
from envelopes.errors import Unavailable
from envelopes.models import Approval, ApprovalMail, AuditEntry
from envelopes.records import erasing
from envelopes.transports.email import anymail, commands, receiving
from envelopes.transports.email.answering import ANSWERS
from envelopes.transports.email.approvers import MOST
from envelopes.transports.email.checks import mail_settings
from envelopes.transports.email.reading import MAIL_BYTES, PARTS
from envelopes.transports.email.receiving import receive
from envelopes.transports.email.sending import ATTEMPTS
from envelopes.transports.email.words import READ_CHARACTERS
from tests import factories
from tests.envelopes.transports.email.post import HOST, VOUCHED, asked, decider, reply, requested, stored
from tests.envelopes.transports.links.test_links import reopen

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mailing")]


def told() -> str:
    """The one answer that was sent."""
    (sent,) = mail.outbox
    mail.outbox.clear()
    assert sent.to == ["grace@example.com"]
    assert sent.extra_headers["Auto-Submitted"] == "auto-replied"
    assert sent.extra_headers["In-Reply-To"] == "<a1@example.com>"
    return str(sent.body)


@pytest.mark.parametrize(
    ("body", "state", "reason"),
    [
        ("Approve", "granted", ""),
        ("*yes!*\n\nThanks\nGrace", "granted", "Thanks Grace"),
        ("Genehmigt.\n\n-- \nGrace Hopper\nEinkauf", "granted", ""),
        ("oui", "granted", ""),
        ("Sí", "granted", ""),
        ("no\n\nIt is the wrong order.", "denied", "It is the wrong order."),
        ("ich lehne ab", "denied", ""),
        ("Non", "denied", ""),
        ("deny\nbut ask again on Monday", "denied", "but ask again on Monday"),
    ],
)
def test_the_first_line_decides(grace: User, approval: Approval, body: str, state: str, reason: str) -> None:
    done = receive(reply(requested(), body))
    now = stored(approval)
    assert (done.state, now.state, now.source, now.reason) == ("decided", state, "mail", reason)
    assert now.decided_by_user == grace
    assert ("It will run once." if state == "granted" else "Nothing ran.") in told()


@pytest.mark.parametrize(
    "body",
    [
        "ok but change the amount to 30",
        "ok",
        "Yes, but only 30",
        "Yes\n\nbut only 30 please",
        "Approve\nDeny",
        "Approve?",
        "I do not approve",
        "Not yes",
        "Hello\n\nApprove",
        "",
        "> Approve",
        "\N{ZERO WIDTH SPACE}yesno",
    ],
)
def test_anything_else_decides_nothing_and_is_answered(grace: User, approval: Approval, body: str) -> None:
    request = requested()
    assert receive(reply(request, body)).state == "answered"
    assert stored(approval).state == "pending"
    assert "Nothing was decided" in told()
    # The token is still there to be used.
    assert receive(reply(request, "yes")).state == "decided"


def test_what_is_quoted_decides_nothing(grace: User, approval: Approval) -> None:
    request = requested()
    for body in (
        "On 29 Nov 2026, at 10:00, Ann <ann@example.com> wrote:\n> hello\n\nApprove",
        "Am 29.11.2026 schrieb Ann:\nja",
    ):
        assert receive(reply(request, body)).state == "answered"
    assert stored(approval).state == "pending"


def refused(raw: bytes, approval: Approval, state: str = "refused") -> str:
    done = receive(raw)
    assert done.state == state, done
    assert stored(approval).state == "pending"
    assert mail.outbox == []
    return done.told


def test_all_three_have_to_hold(grace: User, approval: Approval) -> None:
    request = requested()
    ann = decider("ann")
    another = asked()
    assert "no token" in refused(
        reply(request, subject="Re: your mail", body="yes").replace(b"[approval:", b"[a:"), approval
    )
    mark = request.subject[request.subject.index("[") :]
    forged = mark[:-5] + ("0000]" if mark[-5:] != "0000]" else "1111]")
    assert "none of ours" in refused(reply(request, subject=forged), approval)
    moved = mark.replace(approval.approval_id, another.approval_id)
    assert "none of ours" in refused(reply(request, subject=moved), approval)
    assert "two tokens" in refused(reply(request, subject=f"{request.subject} {forged}"), approval)
    assert "not from the user" in refused(reply(request, sender=f"Ann <{ann.email}>"), approval)
    assert "vouches" in refused(reply(request, results=None), approval)
    User.objects.filter(pk=grace.pk).update(is_active=False)
    assert "not from the user" in refused(reply(request), approval)


def test_who_cannot_be_told_for_sure_stands_in_the_history(grace: User, approval: Approval) -> None:
    request = requested()
    mark = request.subject[request.subject.index("[") :]
    forged = mark[:-5] + ("0000]" if mark[-5:] != "0000]" else "1111]")
    refused(reply(request, sender="Mallory <mallory@evil.example>", subject=forged), approval)
    refused(reply(request, body="No", sender="mallory@evil.example"), approval)
    refused(reply(request, body="Hm", results=None), approval)
    # One that means no question of ours is about nothing.
    nothing = mark.replace(approval.approval_id, "x" * 26)
    refused(reply(request, subject=nothing), approval)
    tried = list(AuditEntry.objects.filter(kind="refused").order_by("number"))
    assert [(one.who, one.name, one.role, one.door, one.facts["decision"]) for one in tried] == [
        ("", "mallory@evil.example", "unknown", "mail", "granted"),
        ("", "mallory@evil.example", "unknown", "mail", "denied"),
        ("", "grace@example.com", "unknown", "mail", ""),
    ]
    told = [one.words for one in history_of(approval) if one.kind == "refused"]
    assert told[0] == (
        "mallory@evil.example tried to decide by email; who that was could not be verified, and nothing changed"
    )
    # Anybody can send mails: the history does not grow without end.
    for _ in range(TURNED_AWAY + 3):
        refused(reply(request, results=None), approval)
    assert AuditEntry.objects.filter(kind="refused").count() == TURNED_AWAY
    assert verify().problem == ""
    # Who is erased is erased from these too.
    erasing.erase(erasing.find("grace"))
    assert not AuditEntry.objects.filter(name="grace@example.com").exists()


@pytest.mark.parametrize(
    "results",
    [
        "mx.evil.example; dmarc=pass header.from=example.com",
        f"{HOST}; none",
        f"{HOST}; dmarc=fail header.from=example.com; dkim=pass header.d=example.com",
        f"{HOST}; dmarc=pass header.from=evil.example",
        f"{HOST}; dmarc=pass header.from=example.com; dmarc=fail header.from=example.com",
        f"{HOST}; dkim=pass header.d=evil.example",
        f"{HOST}; dkim=pass header.d=sub.example.com",
        f"{HOST}; dkim=fail header.d=example.com",
        f"{HOST}; dkim=pass header.d=example.com header.d=evil.example",
        f"{HOST}; spf=pass smtp.mailfrom=example.com",
        f"{HOST} (comment; dmarc=pass header.from=example.com",
        f"{HOST}.evil.example; dmarc=pass header.from=example.com",
        f"x{'y' * 5_000}; dmarc=pass header.from=example.com",
        "",
    ],
)
def test_nobody_else_vouches(grace: User, approval: Approval, results: str) -> None:
    assert "vouches" in refused(reply(requested(), results=results), approval)


@pytest.mark.parametrize(
    "results",
    [
        VOUCHED,
        f"{HOST} 1; dkim=pass (good) header.i=@example.com header.s=s1; spf=fail smtp.mailfrom=x.example",
        f"{HOST.upper()}; dkim=fail header.d=evil.example; dkim=pass header.d=Example.com",
    ],
)
def test_a_host_of_ours_vouches(grace: User, approval: Approval, results: str) -> None:
    assert receive(reply(requested(), results=results)).state == "decided"


def test_only_the_topmost_results_count(grace: User, approval: Approval) -> None:
    request = requested()
    for top in (
        "mx.evil.example; dmarc=pass header.from=example.com",
        f"{HOST}; dmarc=fail header.from=example.com",
    ):
        raw = f"Authentication-Results: {top}\r\n".encode() + reply(request)
        assert "vouches" in refused(raw, approval)


@pytest.mark.parametrize(
    "sender",
    [
        "grace@example.com, ann@example.com",
        "Grace: grace@example.com;",
        '"grace@example.com" <ann@example.com>',
        "=?utf-8?q?grace=40example=2Ecom?= <ann@example.com>",
        "Grace <grace@example.com> <ann@example.com>",
        "Grace (grace@example.com) <ann@example.com>",
        "grace@example.com\\@evil.example",
        "=?utf-8?q?grace=40example=2Ecom?=",
        "<grace@example.com@evil.example>",
        '"grace"@example.com',
        "grace@example.com.evil.example",
        "gr\u0430ce@example.com",
    ],
)
def test_from_is_one_address_and_that_of_the_user(grace: User, approval: Approval, sender: str) -> None:
    raw = reply(requested(), sender="PLACE <x@example.com>").replace(
        b"PLACE <x@example.com>", sender.encode()
    )
    refused(raw, approval)


@pytest.mark.parametrize(
    "name", ["From", "Subject", "Sender", "Message-ID", "Content-Type", "Date", "Auto-Submitted"]
)
def test_of_headers_that_come_once_there_are_not_two(grace: User, approval: Approval, name: str) -> None:
    extra = {"From": "grace@example.com", "Content-Type": "text/plain", "Auto-Submitted": "no"}.get(name, "x")
    raw = f"{name}: {extra}\r\n{name}: {extra}\r\n".encode() + reply(requested())
    assert "more than one header" in refused(raw, approval)


@pytest.mark.parametrize(
    "header",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "auto-generated; x=1"},
        {"Precedence": "bulk"},
        {"List_Id": "<all.example.com>"},
        {"X_Autoreply": "yes"},
        {"Return_Path": "<>"},
    ],
)
def test_what_no_person_wrote_is_left_alone(grace: User, approval: Approval, header: dict[str, str]) -> None:
    refused(reply(requested(), **header), approval, "ignored")


def test_somebody_else_sent_it_in_their_name(grace: User, approval: Approval) -> None:
    assert "somebody else" in refused(reply(requested(), Sender="ann@example.com"), approval)
    assert receive(reply(requested_again(), Sender="Grace <grace@example.com>")).state == "decided"


def requested_again() -> Any:
    """Another mail about the same approval."""
    ApprovalMail.objects.update(state="queued")
    return requested()


def test_huge_and_broken_mails_are_refused(grace: User, approval: Approval) -> None:
    request = requested()
    good = reply(request)
    many = b"".join(b"--b\r\nContent-Type: text/html\r\n\r\nx\r\n" for _ in range(PARTS + 1))
    head = good.split(b"Content-Type", 1)[0]
    for raw in (
        b"",
        b"\xff\xfe" * 500,
        good + b"x" * MAIL_BYTES,
        head + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + many + b"--b--",
        head + b"X: " + b"y" * 100 + b"\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(600)) + b"\r\nyes",
        good.replace(b'charset="utf-8"', b'charset="no-such"'),
        good.replace(b"Subject: ", b"Subject: " + b"a" * 5_000 + b" "),
        good.replace(b"From: Grace", b"From: Gr\xc3\xa4ce"),
    ):
        refused(raw, approval)
    assert receive(good).state == "decided"


def test_a_mail_without_text_is_answered(grace: User, approval: Approval) -> None:
    raw = reply(requested()).replace(b"Content-Type: text/plain", b"Content-Type: text/html")
    assert receive(raw).state == "answered"
    assert "no plain text" in told()
    assert stored(approval).state == "pending"


def test_it_counts_once(grace: User, approval: Approval) -> None:
    request = requested()
    assert receive(reply(request, "no")).state == "decided"
    told()
    # The same reply again, as mail hosts deliver them; then another one.
    assert receive(reply(request, "no")).state == "decided"
    assert factories.log_of(approval.session, "late-decision") == []
    told()
    assert receive(reply(request, "yes")).state == "answered"
    assert "decided nothing" in told()
    reopen(approval)
    assert receive(reply(request, "yes")).state == "answered"
    assert "has been used already" in told()
    assert stored(approval).state == "pending"


def test_whoever_is_late_is_told_and_recorded(grace: User, approval: Approval) -> None:
    request = requested()
    owner = approval.session.participants.get(role="owner").user
    decide(approval.approval_id, "denied", factories.make_principal(owner))
    assert receive(reply(request)).state == "answered"
    assert "already denied" in told()
    (row,) = factories.log_of(approval.session, "late-decision")
    assert row.data["source"] == "mail"


def test_rights_and_question_are_those_of_now(grace: User, approval: Approval) -> None:
    request = requested()
    Approval.objects.filter(pk=approval.pk).update(digest="0" * 64)
    assert receive(reply(request)).state == "answered"
    assert "changed" in told()
    Approval.objects.filter(pk=approval.pk).update(digest=approval.digest)
    grace.user_permissions.clear()
    assert receive(reply(request)).state == "answered"
    assert stored(approval).state == "pending"


def test_where_a_sign_in_is_wanted_or_not_all_was_shown_a_reply_does_not_approve(
    grace: User, settings: Any
) -> None:
    long = asked("x" * 900)
    request = requested()
    assert "500 more characters" in request.body
    assert receive(reply(request)).state == "answered"
    assert "too long" in told()
    settings.BEACH_LINK_LOGIN = "high"
    assert receive(reply(request, "no")).state == "answered"
    assert stored(long).state == "pending"
    told()
    (tried,) = AuditEntry.objects.filter(kind="refused")
    assert (tried.name, tried.door, tried.facts["code"]) == ("Grace Hopper", "mail", "forbidden")
    settings.BEACH_LINK_LOGIN = "never"
    assert receive(reply(request, "no")).state == "decided"


def test_answers_come_to_an_end(grace: User, approval: Approval) -> None:
    request = requested()
    for _ in range(ANSWERS + 2):
        receive(reply(request, "hm"))
    assert len(mail.outbox) == ANSWERS


# -- where mails come in -----------------------------------------------------------------------------------------


def test_the_command_reads_standard_input(
    grace: User, approval: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(raw: bytes) -> str:
        out = io.StringIO()
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
        call_command("beach", "receive-mail", stdout=out)
        return out.getvalue()

    request = requested()
    assert run(b"x" * (MAIL_BYTES + 9)).startswith("refused: ")
    with monkeypatch.context() as patched:
        patched.setattr(commands, "receive", _away)
        with pytest.raises(SystemExit) as ended:
            run(reply(request))
    assert ended.value.code == commands.TRY_AGAIN == 75
    assert run(reply(request)) == "decided: Approved. It will run once.\n"


def _away(raw: bytes) -> Any:
    raise OperationalError("away")


DOCUMENT = (ROOT / "docs" / "approvals.md").read_text(encoding="utf-8")


def script() -> dict[str, Any]:
    """What the document tells scripts to do."""
    names: dict[str, Any] = {}
    code = next(
        block for block in re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL) if "def headers" in block
    )
    exec(compile(code, "approvals.md", "exec", dont_inherit=True), names)  # noqa: S102
    return names


def post(raw: bytes, headers: dict[str, str]) -> Any:
    return Client().post("/mail/inbound", raw, content_type="message/rfc822", headers=headers)


def test_a_signed_post_is_read_once(
    grace: User, approval: Approval, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, names = reply(requested()), script()
    signed = names["headers"](names["secret"], raw)
    assert post(raw, signed).status_code == 404
    settings.BEACH_MAIL_SECRET = names["secret"]
    other = names["headers"](script()["secret"], raw)
    old = signed | {"webhook-timestamp": str(int(time.time()) - 400)}
    for wrong in ({}, other, old, signed | {"webhook-id": "another"}, signed | {"webhook-signature": "v1,x"}):
        assert post(raw, wrong).status_code == 403
    assert post(raw + b"x", signed).status_code == 403
    assert post(b"x" * (MAIL_BYTES + 1), signed).status_code == 413
    assert Client().get("/mail/inbound").status_code == 405
    assert stored(approval).state == "pending"
    with monkeypatch.context() as patched:
        patched.setattr(receiving, "_decided", _busy)
        assert post(raw, signed).status_code == 503
    answer = post(raw, signed)
    assert (answer.status_code, json.loads(answer.content)["state"]) == (200, "decided")
    assert json.loads(post(raw, signed).content)["state"] == "ignored"
    assert len(mail.outbox) == 1


def _busy(*args: object) -> Any:
    raise Unavailable


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"BEACH_SITE_URL": ""}, ["envelopes.E020"]),
        ({"BEACH_SITE_URL": "chat.example"}, ["envelopes.E021"]),
        ({"BEACH_MAIL_SECRET": "whsec_short"}, ["envelopes.E022"]),
        ({"BEACH_MAIL_AUTHSERV": []}, ["envelopes.W020"]),
    ],
)
def test_what_could_not_work_is_said_at_start(
    mailing: Any, changed: dict[str, Any], found: list[str]
) -> None:
    for name, value in changed.items():
        setattr(mailing, name, value)
    assert [one.id for one in mail_settings(None)] == found


def test_a_mail_service_hands_it_over(grace: User, approval: Approval) -> None:
    from anymail.inbound import AnymailInboundMessage
    from anymail.signals import AnymailInboundEvent

    message = AnymailInboundMessage.parse_raw_mime_bytes(reply(requested()))
    anymail._received(None, AnymailInboundEvent(event_type="inbound", message=message), "Mailgun")
    assert stored(approval).state == "granted"


def test_its_limits_are_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    for what, most in (
        ("bytes of a mail that is received", MAIL_BYTES),
        ("parts of one", PARTS),
        ("characters of a reply that are read", READ_CHARACTERS),
        ("answers to replies to one mail", ANSWERS),
        ("people who are told of one approval by mail", MOST),
        ("attempts to send a mail", ATTEMPTS),
    ):
        (row,) = (line for line in text.splitlines() if line.startswith(f"| {what} |"))
        assert f"| {most:,} |" in row, what
