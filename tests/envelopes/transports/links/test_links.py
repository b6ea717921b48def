"""Signed links to approvals: what one is bound to, what looking at it does not do, and what it says when it no longer
counts."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import InterfaceError, OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from envelopes import audit
from envelopes.approvals import exactly, links
from envelopes.approvals.editing import edit
from envelopes.approvals.exactly import Question, decide_exactly
from envelopes.approvals.links import wants_login
from envelopes.approvals.service import decide
from envelopes.models import Approval, Nonce
from envelopes.registries.policies import Ask
from envelopes.transports.email.message import reads_replies
from envelopes.transports.links import pages
from tests import factories
from tests.envelopes.admin.pages import parsed, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def grace() -> User:
    user = factories.make_user("grace", staff=True, permissions=["decide_approval"])
    user.first_name, user.last_name, user.email = "Grace", "Hopper", "grace@example.com"
    user.save()
    return user


@pytest.fixture
def approval() -> Approval:
    owner = factories.make_user("ada")
    return factories.make_approval(
        factories.make_session(owner), {"order": "A17", "amount": 40, "note": "<b>x</b>" * 90}
    )


def to(approval: Approval, user: User, **more: Any) -> str:
    return reverse("envelopes:approval-link", args=[links.token_for(approval, user, **more)])


def post(url: str, decision: str = "granted", client: Client | None = None, **more: str) -> Any:
    return (client or Client()).post(url, {"decision": decision, **more})


def stored(approval: Approval) -> Approval:
    return Approval.objects.get(pk=approval.pk)


def reopen(approval: Approval) -> None:
    """As if nobody had decided."""
    approval.decisions.all().delete()
    Approval.objects.filter(pk=approval.pk).update(state="pending", decided_at=None, decided_by="", source="")


def test_looking_shows_everything_and_decides_nothing(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    for method in ("get", "head", "get"):
        answer = getattr(Client(), method)(url)
        assert answer.status_code == 200
    html = answer.content.decode()
    text = text_of(html)
    for word in ("Pay 40 back for order A17?", "The customer asked for it.", "refund", "A17", "High risk",
                 "billing", "ada", "Grace Hopper"):  # fmt: skip
        assert word in text, word
    # Nothing is folded away that would run, and nothing in it is markup.
    assert "<b>x</b>" not in html
    assert text.count("<b>x</b>") >= 90
    (form,) = parsed(html).iter("form")
    assert (form.get("method"), form.get("action")) == ("post", url)
    assert [e.get("value") for e in parsed(html).iter() if e.get("autofocus") is not None] == ["denied"]
    assert stored(approval).state == "pending"
    assert not Nonce.objects.exists()


def test_nothing_of_it_is_kept_or_told_elsewhere(approval: Approval, grace: User) -> None:
    answer = Client().get(to(approval, grace))
    assert "no-store" in answer["Cache-Control"]
    # With "no-referrer" browsers would send "Origin: null" along with the form.
    assert answer["Referrer-Policy"] == "strict-origin"
    assert "noindex" in answer["X-Robots-Tag"]
    assert "<script>" not in answer.content.decode()
    assert Client().put(to(approval, grace)).status_code == 405


def test_no_address_of_one_stands_in_the_log(
    approval: Approval, grace: User, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = to(approval, grace)
    assert post(url, "perhaps").status_code == 400
    assert Client(enforce_csrf_checks=True).post(url, {"decision": "granted"}).status_code == 403
    with monkeypatch.context() as patched:
        patched.setattr(exactly, "decide", Mock(side_effect=OperationalError("lock timeout")))
        assert post(url).status_code == 503
    with monkeypatch.context() as patched:
        patched.setattr(pages, "may_answer", Mock(side_effect=RuntimeError("broken")))
        assert Client(raise_request_exception=False).get(url).status_code == 500
    lines = [record.getMessage() for record in caplog.records]
    assert len([line for line in lines if "/approve/..." in line]) == 4
    assert not [line for line in lines if url.rpartition("/")[2][:40] in line]
    # With it the link still decides.
    assert post(url).status_code == 302


def test_it_is_shown_where_that_cannot_be_recorded_now(
    approval: Approval, grace: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = to(approval, grace)
    with monkeypatch.context() as patched:
        patched.setattr(audit.recording.chain, "locked_head", Mock(side_effect=OperationalError("locked")))
        assert "Your approval is needed" in text_of(Client().get(url).content)
    assert "shown" not in [entry.kind for entry in audit.history_of(approval)]
    Client().get(url)
    assert "shown" in [entry.kind for entry in audit.history_of(approval)]


@pytest.mark.parametrize(("decision", "told"), [("granted", "Approved"), ("denied", "Denied")])
def test_its_form_decides_as_the_addressee(approval: Approval, grace: User, decision: str, told: str) -> None:
    client, url = Client(), to(approval, grace)
    answer = client.post(url, {"decision": decision, "reason": "Seen the parcel."}, follow=True)
    assert answer.redirect_chain == [(url, 302)]
    text = text_of(answer.content)
    assert told in text
    assert f"You {'approved' if decision == 'granted' else 'denied'} this on" in text
    assert not list(parsed(answer.content).iter("form"))
    now = stored(approval)
    assert (now.state, now.decided_by_user, now.source, now.reason) == (
        decision,
        grace,
        "link",
        "Seen the parcel.",
    )


def test_it_counts_once_and_a_repeat_is_nobodys_lateness(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    assert post(url).status_code == post(url).status_code == 302
    assert factories.log_of(approval.session, "late-decision") == []
    late = post(url, "denied")
    assert late.status_code == 409
    assert "You approved this on" in text_of(late.content)
    assert stored(approval).state == "granted"


def test_a_used_one_does_not_decide_a_question_that_is_open_again(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    assert post(url, "denied").status_code == 302
    reopen(approval)
    answer = post(url, "granted")
    assert answer.status_code == 409
    assert "This link decides nothing any more" in text_of(answer.content)
    assert not list(parsed(Client().get(url).content).iter("form"))
    assert stored(approval).state == "pending"


def test_it_comes_back_where_nothing_was_decided(
    approval: Approval, grace: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **more: Any) -> Approval:
        raise RuntimeError("no database")

    token = links.token_for(approval, grace)
    link = links.read(token)
    with monkeypatch.context() as patched:
        patched.setattr(exactly, "decide", broken)
        with pytest.raises(RuntimeError):
            decide_exactly(link.question, "granted", link.who, source="link", once=link.use)
        for away in (OperationalError("lock timeout"), InterfaceError("closed")):
            patched.setattr(exactly, "decide", Mock(side_effect=away))
            answer = post(reverse("envelopes:approval-link", args=[token]))
            assert answer.status_code == 503
            assert "Try again in a while" in text_of(answer.content)
            assert "the link is as good as before" in text_of(answer.content)
    assert not link.is_used()
    assert post(reverse("envelopes:approval-link", args=[token])).status_code == 302


def test_one_for_another_call_decides_nothing(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    Approval.objects.filter(pk=approval.pk).update(digest="0" * 64)
    for answer in (Client().get(url), post(url)):
        assert answer.status_code == 409
        text = text_of(answer.content)
        assert "The question has changed" in text
        assert "A17" not in text
    assert stored(approval).state == "pending"
    with pytest.raises(exactly.QuestionChanged):
        decide_exactly(
            Question(approval.approval_id, approval.digest),
            "granted",
            factories.make_principal(grace),
            source="link",
        )


def test_decided_elsewhere_is_told_and_recorded(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    owner = approval.session.participants.get(role="owner").user
    decide(approval.approval_id, "denied", factories.make_principal(owner))
    assert "already denied by ada" in text_of(Client().get(url).content)
    late = post(url)
    assert (late.status_code, stored(approval).state) == (409, "denied")
    assert "Your decision was not applied" in text_of(late.content)
    (row,) = factories.log_of(approval.session, "late-decision")
    assert (row.data["source"], row.data["decision"]) == ("link", "granted")


def test_a_question_whose_time_is_over_says_so(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "Its time has passed" in text_of(Client().get(url).content)
    late = post(url)
    assert late.status_code == 409
    assert "It expired on" in text_of(late.content)
    assert stored(approval).state == "expired"


def test_whoever_may_decide_no_more_and_tries_is_in_the_record(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    grace.user_permissions.clear()
    Client().get(url)
    assert "refused" not in [entry.kind for entry in audit.history_of(approval)]
    assert post(url).status_code in (403, 404)

    (entry,) = [entry for entry in audit.history_of(approval) if entry.kind == "refused"]
    assert (entry.door, "Grace" in entry.words) == ("link", True)


def test_to_ask_for_the_head_of_the_page_is_not_to_be_shown_it(approval: Approval, grace: User) -> None:
    url = to(approval, grace)
    for method, shown in (("head", 0), ("get", 1)):
        assert getattr(Client(), method)(url).status_code == 200
        kinds = [entry.kind for entry in audit.history_of(approval)]
        assert kinds.count("shown") == shown


def test_what_is_no_link_any_more(approval: Approval, grace: User, settings: Any) -> None:
    def answered(url: str) -> tuple[int, str]:
        answers = [Client().get(url), post(url)]
        assert answers[0].status_code == answers[1].status_code
        assert "A17" not in answers[0].content.decode() + answers[1].content.decode()
        return answers[0].status_code, text_of(answers[1].content)

    url = to(approval, grace)
    assert answered(to(approval, grace, seconds=-1))[0] == 410
    for forged in (url[:-1] + ("A" if url[-1] != "A" else "B"), url[:9] + "x", url + "A" * 2_000):
        assert answered(forged)[0] == 404
    # Somebody whose link it is, but no longer theirs to decide; then an account that has changed.
    grace.user_permissions.clear()
    assert answered(url)[0] in (403, 404)
    fresh = to(approval, User.objects.get(pk=grace.pk))
    grace.set_password("another")
    grace.save()
    assert answered(fresh) == (403, text_of(Client().get(fresh).content))
    other = to(approval, grace)
    User.objects.filter(pk=grace.pk).update(is_active=False)
    assert answered(other)[0] == 403
    # Signed with a key that is gone; and with one that is being replaced.
    User.objects.filter(pk=grace.pk).update(is_active=True)
    approver = factories.make_user("eve", staff=True, permissions=["decide_approval"])
    kept = to(approval, approver)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "the next one"
    assert Client().get(kept).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert answered(kept)[0] == 404
    assert stored(approval).state == "pending"


@pytest.mark.parametrize(
    ("wanted", "risk", "asks"),
    [("never", "high", False), ("high", "low", False), ("high", "high", True), ("always", "low", True)],
)
def test_the_settings_say_whether_its_addressee_signs_in(
    approval: Approval, grace: User, settings: Any, wanted: str, risk: str, asks: bool
) -> None:
    settings.BEACH_LINK_LOGIN = wanted
    Approval.objects.filter(pk=approval.pk).update(risk=risk)
    url = to(approval, grace)
    stranger, other, hers = Client(), Client(), Client()
    other.force_login(factories.make_user("eve", staff=True, permissions=["decide_approval"]))
    hers.force_login(grace)
    for client in (stranger, other):
        for answer in (client.get(url), post(url, client=client) if asks else client.get(url)):
            assert answer.status_code == (302 if asks else 200)
            assert ("A17" in answer.content.decode()) is not asks
    assert hers.get(url).status_code == 200
    assert stored(approval).state == "pending"
    assert post(url, client=hers).status_code == 302
    assert stored(approval).decided_by_user == grace


def test_the_rule_that_asks_may_want_a_sign_in(grace: User, settings: Any) -> None:
    settings.BEACH_MAIL_REPLY_TO, settings.BEACH_MAIL_AUTHSERV = "approvals@chat.example", ["mx.chat.example"]
    tool = factories.asking(lambda asking: Ask(login=asking.args.amount > 100))
    with factories.acting(tool):
        session = factories.make_session(factories.make_user("ada"))
        small, large = (
            factories.make_approval(session, {"order": "A17", "amount": amount}, tool=tool)
            for amount in (40, 400)
        )
        assert Client().get(to(small, grace)).status_code == 200
        assert (wants_login(small), reads_replies(small)) == (False, True)
        assert (wants_login(large), reads_replies(large)) == (True, False)
        url = to(large, grace)
        for answer in (Client().get(url), post(url)):
            assert answer.status_code == 302
            assert answer["Location"].startswith("/accounts/login/")
        assert stored(large).state == "pending"
        # What it is edited to is asked about by the same rule.
        edited = edit(
            large.approval_id, {"order": "A17", "amount": 30, "note": ""}, factories.make_principal(grace)
        )
        assert not wants_login(edited)
        hers = Client()
        hers.force_login(grace)
        again = edit(
            edited.approval_id, {"order": "A17", "amount": 300, "note": ""}, factories.make_principal(grace)
        )
        assert post(to(again, grace)).status_code == 302
        assert stored(large).state == "pending"
        assert post(to(again, grace), client=hers).status_code == 302
        assert stored(large).state == "granted"


def test_one_for_a_request_that_was_edited_says_so_and_decides_nothing(
    approval: Approval, grace: User
) -> None:
    url = to(approval, grace)
    with factories.acting(factories.make_tool()):
        edit(approval.approval_id, approval.args | {"amount": 30}, factories.make_principal(grace))
        for answer in (Client().get(url), post(url)):
            assert answer.status_code == 409
            assert "The question has changed" in text_of(answer.content)
            assert "A17" not in answer.content.decode()
        now = stored(approval)
        assert (now.state, now.version) == ("pending", 2)
        assert post(to(now, grace)).status_code == 302
        assert stored(approval).state == "granted"


def test_its_form_needs_the_token_against_forgery_and_one_of_two_words(
    approval: Approval, grace: User
) -> None:
    url = to(approval, grace)
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(url, {"decision": "granted"}).status_code == 403
    token = next(
        e.get("value")
        for e in parsed(strict.get(url).content).iter("input")
        if e.get("name") == "csrfmiddlewaretoken"
    )
    bad = post(url, "maybe")
    assert bad.status_code == 400
    assert "Choose Deny or Approve" in text_of(bad.content)
    assert stored(approval).state == "pending"
    done = strict.post(url, {"decision": "denied", "csrfmiddlewaretoken": token or ""})
    assert done.status_code == 302


def test_the_command_prints_one_for_whoever_may_decide(
    approval: Approval, grace: User, settings: Any
) -> None:
    def printed(user: str) -> str:
        out = StringIO()
        call_command("beach", "approval-link", approval.approval_id, "--for", user, stdout=out)
        return out.getvalue().strip()

    with pytest.raises(CommandError, match="BEACH_SITE_URL"):
        printed("grace")
    settings.BEACH_SITE_URL = "https://chat.example/"
    url = printed("grace")
    assert url.startswith("https://chat.example/approve/")
    assert Client().get(url.removeprefix("https://chat.example")).status_code == 200
    factories.make_user("nobody")
    for name in ("nobody", "not-there"):
        with pytest.raises(CommandError):
            printed(name)
