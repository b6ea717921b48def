"""Poisoned data on every page of the admin: shown as text, run by nobody (case pa-admin-shows-json-as-text)."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from django.contrib.admin.models import LogEntry
from django.db.models import Model
from django.test import Client

from envelopes.models import AgentCall, Approval, Artifact, Participant, Session, ToolCall, Turn
from tests import factories, shared
from tests.envelopes.admin.pages import MODELS, client_of, parsed, said, text_of, url

pytestmark = pytest.mark.django_db

SCRIPT = "</script><script>alert(1)</script>"
BAD_KEY = "k<img src=x onerror=alert(1)>"
MODEL = {"x": SCRIPT, BAD_KEY: "<!--"}
PART = "<svg onload=alert(1)>"
NOTE = '"><img src=x onerror=alert(1)>'
NAME = "<b>a</b>{{ x }}"
FAILED = "<i>bad id</i>"


def poison() -> dict[type[Model], Model]:
    """One conversation in which everything that anybody can write is hostile."""
    session = factories.make_session(actor=NAME, title=f"{SCRIPT}{NAME}")
    Participant.objects.filter(session=session).update(name=f"{NAME}{PART}")
    turn = factories.make_turn(session, text=PART)
    factories.add_part(turn, "response", text=PART)
    factories.add_part(turn, "domain-data", data=MODEL, dataKind=NOTE)
    surface = {"version": "v0.9", "createSurface": {"surfaceId": FAILED}}
    factories.add_part(
        turn,
        "a2ui-surface",
        data={"messages": [surface, {"updateDataModel": {"surfaceId": PART, "value": MODEL}}]},
    )
    factories.add_part(turn, "progress", data={"id": PART, "label": NAME, "status": NOTE})
    factories.add_part(
        turn, "artifact", data={"artifactId": "a", "name": NOTE, "mimeType": PART, "sizeBytes": 1}
    )
    factories.add_part(turn, "citation", data={"path": "/", "title": PART, "url": "javascript:alert(1)"})
    factories.add_part(turn, PART[:60], text=NAME)
    for kind in (
        "message",
        "action",
        "edit",
        "tool",
        "note",
        "refused",
        "free-text",
        "diagnostic",
        "experiment",
        "consent",
        "provider",
        "late-decision",
        "tool-result",
    ):
        factories.add_row(turn, kind, hostile_row())
    approval = factories.make_approvals(turn, {"order": SCRIPT, "amount": 1, "note": NOTE, BAD_KEY: MODEL})[0]
    Approval.objects.filter(pk=approval.pk).update(
        tool_name=NAME, why=PART, reason=NOTE, handler=NAME, question=f"Pay {NOTE}?"
    )
    ToolCall.objects.filter(pk=approval.tool_call_id).update(
        name=NAME, call_id=NOTE, result=MODEL, error={"code": PART, "message": FAILED}
    )
    Turn.objects.filter(pk=turn.pk).update(
        live=MODEL, results=MODEL, trigger=MODEL, correction=PART, lease_owner=NOTE
    )
    about = {"owner": NAME, "name": NOTE, "mime_type": PART}
    artifact = Artifact.objects.create(session=session, size_bytes=1, **about)
    call = factories.make_agent_call(session, NAME, call_id=NOTE, owner=PART, args=MODEL, lease_owner=NOTE)
    rows = {
        Session: session,
        Turn: turn,
        ToolCall: approval.tool_call,
        Approval: approval,
        Artifact: artifact,
        AgentCall: call,
    }
    return {model: model._default_manager.get(pk=row.pk) for model, row in rows.items()}


def hostile_row() -> dict[str, Any]:
    error = {"code": PART, "message": FAILED}
    texts = dict.fromkeys(("text", "note", "surfaceId", "decision", "dataKind"), PART)
    names = dict.fromkeys(("name", "owner", "call", "by"), NAME)
    notes = dict.fromkeys(("label", "state", "stopReason", "source"), NOTE)
    failures = dict.fromkeys(("message", "reason"), FAILED)
    return (
        texts
        | names
        | notes
        | failures
        | {
            "action": {"name": NOTE, "surfaceId": PART},
            "ops": [{"path": NOTE, "value": MODEL}],
            "error": error,
            "usage": {PART: 1},
        }
    )


def assert_harmless(html: bytes | str) -> None:
    """What the case asks of the DOM, and no attribute or address that runs anything."""
    tree = parsed(html)
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            assert not str(name).lower().startswith("on"), f"{element.tag} {name}"
            assert not value.lower().lstrip().startswith("javascript:"), f"{element.tag} {name}={value}"
        assert element.tag != "style" and element.get("style") is None
    assert not [e for e in tree.iter("script") if not e.get("src") and not e.get("id")]
    for script in tree.iter("script"):
        if script.get("type") == "application/json":
            json.loads("".join(script.itertext()))
    assert not [e for e in tree.iter("img") if (e.get("src") or "") == "x"]
    assert not list(tree.iter("svg")) + list(tree.iter("i"))
    assert not [e for e in tree.iter("b") if (e.text or "") == "a"]


@pytest.fixture
def root() -> Client:
    return client_of(factories.make_user("root", superuser=True))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_lists_pages_histories_and_searches(model: type[Model], root: Client) -> None:
    row = poison()[model]
    pages = [url(model, "changelist"), url(row, "change"), url(row, "history")]
    pages += [
        f"{url(model, 'changelist')}?q={payload}"
        for payload in ("%3Csvg%20onload%3Dalert(1)%3E", "%22%3E%3Cimg%3E", "%00")
    ]

    for page in pages:
        response = root.get(page)
        assert response.status_code == 200, page
        assert_harmless(response.content)
    assert root.get(f"{url(model, 'changelist')}?pk=%00").status_code == 400


def test_the_payloads_can_be_read_as_text(root: Client) -> None:
    rows = poison()

    assert SCRIPT in text_of(root.get(url(rows[Session], "change")).content)
    assert NOTE in text_of(root.get(url(rows[Approval], "change")).content)
    assert BAD_KEY in text_of(root.get(url(rows[Approval], "change")).content)
    assert SCRIPT in text_of(root.get(url(rows[Turn], "change")).content)
    assert FAILED in text_of(root.get(url(rows[ToolCall], "change")).content)


def test_the_pages_around_a_decision(root: Client) -> None:
    approval = poison()[Approval]
    asked = root.post(
        url(Approval, "changelist"), {"action": "deny_selected", "_selected_action": [approval.pk]}
    )
    seen = {"asked_as": approval.approval_id}
    denial, grant = {"decision": "denied", "reason": NOTE + FAILED}, {"decision": "granted", "reason": SCRIPT}
    decided = root.post(url(approval, "decide"), {**seen, **denial}, follow=True)
    again = root.post(url(approval, "decide"), {**seen, **grant}, follow=True)

    for response in (asked, decided, again, root.get(url(approval, "history")), root.get("/admin/")):
        assert response.status_code == 200
        assert_harmless(response.content)
    assert NOTE in LogEntry.objects.earliest("pk").get_change_message()
    assert LogEntry.objects.count() == 2
    assert NOTE in text_of(root.get(url(approval, "history")).content)


def test_the_message_of_a_failed_action(root: Client) -> None:
    rows = poison()
    ToolCall.objects.filter(pk=rows[ToolCall].pk).update(state="unknown")

    wrong = root.post(url(rows[ToolCall], "resolve"), {"outcome": FAILED, "note": PART}, follow=True)
    bad = root.get(f"/admin/envelopes/approval/{'%3Ci%3Ebad id%3C%2Fi%3E'}/change/", follow=True)

    assert FAILED in said(wrong) or "valid choice" in said(wrong)
    for response in (wrong, bad):
        assert response.status_code == 200
        assert_harmless(response.content)


def test_deleting_an_account_shows_what_goes_with_it(root: Client) -> None:
    session = poison()[Session]
    owner = session.participants.get(role="owner").user  # type: ignore[attr-defined]

    response = root.get(f"/admin/auth/user/{owner.pk}/delete/")

    assert response.status_code == 200
    assert_harmless(response.content)


def test_downloads_are_files_and_no_pages(root: Client) -> None:
    rows = poison()
    for address in (url(rows[Turn], "raw", "live"), url(rows[Session], "event", 1)):
        response = root.get(address)
        assert response["Content-Type"].startswith("application/json")
        assert response["Content-Disposition"].startswith("attachment")
        json.loads(response.content)


def test_hidden_characters_are_shown_by_name(root: Client) -> None:
    session = factories.make_session()
    approval = factories.make_approval(
        session, {"order": "invoice\u202efdp.exe\u200b", "amount": 1, "note": ""}
    )

    for page in (url(approval, "change"), url(Approval, "changelist"), url(session, "change")):
        text = text_of(root.get(page).content)
        assert "right-to-left override" in text and "\u202e" not in text


@shared.needs_shared
def test_the_payloads_are_those_of_the_case() -> None:
    case = shared.case("privacy-admin/pa-admin-shows-json-as-text.yaml")

    assert case["input"]["stored"] == {
        "surface.model": MODEL,
        "part.text": PART,
        "approval.args": {"note": NOTE},
        "agent.name": NAME,
        "message_of_failed_action": FAILED,
    }
    assert case["expected"]["text_contains"] == [SCRIPT]


def test_the_check_itself_finds_what_it_looks_for() -> None:
    for html in (
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<b>a</b>",
        "<i>x</i>",
        "<script>alert(1)</script>",
    ):
        page: Element = parsed(html)
        assert page is not None
        with pytest.raises(AssertionError):
            assert_harmless(html)
