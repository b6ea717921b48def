"""Mails about approvals that wait: to whom, once, and with all that the card says."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from envelopes.approvals.editing import edit
from envelopes.approvals.service import decide, expire_due
from envelopes.models import Approval, ApprovalMail, AuditEntry, Session
from envelopes.registries.policies import Ask
from envelopes.transports.email import sending
from envelopes.transports.email.background import Mails
from envelopes.transports.email.message import request_for
from envelopes.transports.email.receiving import receive
from tests import factories
from tests.envelopes.admin.pages import text_of
from tests.envelopes.transports.email.post import asked, decider, reply, requested, stored

pytestmark = pytest.mark.django_db


def test_it_says_what_the_card_says_and_how_to_answer(mailing: Any, grace: User, approval: Approval) -> None:
    sent = requested()
    assert sent.to == ["grace@example.com"]
    assert sent.reply_to == ["approvals@chat.example"]
    assert re.fullmatch(
        rf"Pay 40 back for order A17\? \[approval:{approval.approval_id}-[0-9a-f]{{32}}\]", sent.subject
    )
    (html, kind) = sent.alternatives[0]
    assert kind == "text/html"
    digest = " ".join(approval.digest[at : at + 8] for at in range(0, 64, 8))
    for text in (sent.body, text_of(html)):
        for word in ("Pay 40 back for order A17?", "The customer asked for it.", "High risk", "A17", "Broken cup.",
                     "billing", "refund", digest, "No time limit", "Grace Hopper",
                     "The first line decides"):  # fmt: skip
            assert word in text, word
    (link,) = set(re.findall(r"https://chat\.example(/approve/\S+?)(?=[\s\"])", sent.body + html))
    assert "Your approval is needed" in text_of(Client().get(link).content)
    assert Client().post(link, {"decision": "denied"}).status_code == 302
    assert stored(approval).decided_by_user == grace
    # No word of the text alone on a line decides when a mail program puts the whole of it above what it quotes.
    assert not {line.strip().lower() for line in sent.body.splitlines()} & {"approve", "deny", "yes", "no"}


def test_what_an_argument_holds_is_text_and_no_line_of_the_mail(mailing: Any, grace: User) -> None:
    asked("<b>x</b>\nExpires: never\n\u202eevil")
    sent = requested()
    html = sent.alternatives[0][0]
    assert "<b>x</b>" not in html
    assert "\u202e" not in sent.body + html
    assert "\nExpires: never" not in sent.body


def test_each_who_may_decide_gets_one_and_nobody_else(mailing: Any, grace: User, approval: Approval) -> None:
    decider("off", is_active=False)
    User.objects.filter(username="nomail").update(email="")
    User.objects.create_user("looks", "looks@example.com", is_staff=True)
    decider("ann")
    assert sending.send_due() == 2
    assert sending.send_due() == 0
    assert sorted(one.to[0] for one in mail.outbox) == ["ann@example.com", "grace@example.com"]
    assert len({one.subject for one in mail.outbox}) == 2
    assert ApprovalMail.objects.filter(state="sent").count() == 2


@pytest.mark.parametrize(("whom", "expected"), [("owner", ["ada"]), ("all", ["ada", "grace"]), ("off", [])])
def test_the_settings_say_who_hears_of_it(mailing: Any, grace: User, whom: str, expected: list[str]) -> None:
    mailing.BEACH_APPROVAL_MAIL = whom
    ada = User.objects.create_user("ada", "ada@example.com")
    factories.make_approval(factories.make_session(ada))
    sending.send_due()
    assert [one.to[0].split("@")[0] for one in mail.outbox] == expected


def test_nobody_hears_before_the_delay_or_after_the_answer(
    mailing: Any, grace: User, approval: Approval
) -> None:
    mailing.BEACH_APPROVAL_MAIL_SECONDS = 60
    assert sending.send_due() == 0
    Approval.objects.filter(pk=approval.pk).update(requested_at=timezone.now() - timedelta(seconds=61))
    sending.queue_due()
    decide(approval.approval_id, "denied", factories.make_principal(grace))
    assert sending.send_due() == 0
    assert ApprovalMail.objects.get().state == "dropped"
    late = asked()
    Approval.objects.filter(pk=late.pk).update(
        requested_at=timezone.now() - timedelta(seconds=61), expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert sending.send_due() == 0
    assert mail.outbox == []


def test_one_that_is_refused_is_tried_again_and_one_that_was_cut_off_is_not(
    mailing: Any, grace: User, approval: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **more: Any) -> int:
        raise OSError("no server")

    with monkeypatch.context() as patched:
        patched.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
        for attempt in range(1, sending.ATTEMPTS + 1):
            assert sending.send_due() == 0
            one = ApprovalMail.objects.get()
            assert (one.attempts, one.error) == (attempt, "OSError: no server")
            ApprovalMail.objects.filter(next_at__gt=timezone.now()).update(next_at=timezone.now())
    assert ApprovalMail.objects.get().state == "failed"
    ApprovalMail.objects.update(state="queued")
    assert sending.claim_next() is not None
    # The process dies here. Whoever comes next does not know whether it went out.
    assert sending.send_due() == 0
    assert ApprovalMail.objects.get().state == "sending"
    assert mail.outbox == []


def test_two_processes_that_look_at_once_send_one(
    mailing: Any, grace: User, approval: Approval, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second looks for approvals before the first has said that it did, and for mails likewise."""
    stale = Approval.objects.select_related("session").get(pk=approval.pk)
    assert sending._queue(stale)
    assert not sending._queue(stale)
    first = ApprovalMail.objects.get()
    assert sending.claim_next() is not None
    assert not ApprovalMail.objects.filter(pk=first.pk, state="queued", attempts=first.attempts).exists()
    assert sending.claim_next() is None


def test_whoever_was_told_of_a_request_is_told_again_once_it_was_changed(
    mailing: Any, grace: User, approval: Approval
) -> None:
    first = requested()
    ann = decider("ann", "Ann", "Low")
    mailing.BEACH_APPROVAL_MAIL_SECONDS = 60
    args = approval.args | {"amount": 12.5}
    with factories.acting(factories.make_tool()):
        edit(approval.approval_id, args, factories.make_principal(ann))
        # Who has changed it may be about to decide it: the delay counts again.
        assert sending.send_due() == 0
        mailing.BEACH_APPROVAL_MAIL_SECONDS = 0
        assert sending.send_due() == 2
        assert sending.send_due() == 0
    second = next(one for one in mail.outbox if one.to == ["grace@example.com"])
    mail.outbox.clear()
    now = stored(approval)
    assert second.subject.startswith(f"Pay 12.5 back for order A17? [approval:{now.approval_id}-")
    for text in (second.body, text_of(second.alternatives[0][0])):
        told = " ".join(text.split())
        assert "Ann Low has changed this request. Mails and links from before decide nothing" in told
        assert "(was 40" in told
    # What was sent before says so, and decides nothing; what was sent now decides.
    assert receive(reply(first)).state == "answered"
    (answer,) = mail.outbox
    assert "Ann has changed this request. Read it again before you decide. Your reply decided" in answer.body
    assert "The question has changed" in text_of(Client().get(link_in(first)).content)
    assert stored(approval).state == "pending"
    assert receive(reply(second)).state == "decided"
    assert (stored(approval).state, stored(approval).args) == ("granted", args)
    notified = AuditEntry.objects.filter(kind="notified").order_by("number")
    assert [(one.approval_id, one.facts["count"]) for one in notified] == [
        (approval.approval_id, 1),
        (now.approval_id, 2),
    ]


def test_a_request_that_is_asked_again_is_mailed_again(mailing: Any, grace: User) -> None:
    tool = factories.asking(Ask(on_expiry="ask-again", expires_after=60))
    with factories.acting(tool):
        approval = factories.make_approval(factories.make_session(), tool=tool)
        requested()
        assert expire_due(timezone.now() + timedelta(seconds=61)) == 1
        again = requested()
    assert "Nobody decided this in time, so it is asked again." in again.body
    assert stored(approval).approval_id in again.subject


@pytest.mark.parametrize("locale", ["tlh", "de-CH", ""])
def test_whatever_language_a_conversation_is_in_it_is_sent(mailing: Any, grace: User, locale: str) -> None:
    approval = asked()
    Session.objects.filter(pk=approval.session_id).update(locale=locale)
    assert requested().to == [grace.email]


@pytest.mark.parametrize("locale", ["ar", "he-IL", "de", "en-GB"])
def test_what_is_written_in_english_is_not_called_something_else(
    mailing: Any, grace: User, locale: str
) -> None:
    """Django has words of its own in Arabic, and Beach has none: a mail in English would run from the right."""
    approval = asked()
    Session.objects.filter(pk=approval.session_id).update(locale=locale)
    html = requested().alternatives[0][0]
    assert re.search(r'<html lang="(en|en-gb)" dir="ltr">', html)


def test_a_mail_says_what_the_risk_is_of(mailing: Any, grace: User) -> None:
    tool = factories.make_tool()
    assert tool.approval is not None
    tool = replace(tool, approval=replace(tool.approval, risk_note="spends money"))
    with factories.acting(tool):
        asked()
        sent = requested()
    assert "High risk: spends money" in sent.body
    assert "High risk: spends money" in text_of(sent.alternatives[0][0])


def test_one_that_cannot_be_written_keeps_no_other_from_being_sent(
    mailing: Any, grace: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = asked(), asked()

    def written(approval: Approval, *about: Any) -> Any:
        if approval.pk == broken.pk:
            raise LookupError("no such template")
        return request_for(approval, *about)

    monkeypatch.setattr(sending, "request_for", written)
    assert stored(other).approval_id in requested().subject
    mail = ApprovalMail.objects.get(approval=broken)
    assert (mail.state, mail.error) == ("queued", "LookupError: no such template")


def link_in(sent: Any) -> str:
    (link,) = set(re.findall(r"https://chat\.example(/approve/\S+)", sent.body))
    return link


@pytest.mark.django_db(transaction=True)
async def test_it_is_sent_beside_the_runner(mailing: Any) -> None:
    from asgiref.sync import sync_to_async

    await sync_to_async(decider)("grace")
    await sync_to_async(asked)()
    await Mails().once()
    assert [one.to for one in mail.outbox] == [["grace@example.com"]]
    assert await ApprovalMail.objects.filter(state="sent").acount() == 1
