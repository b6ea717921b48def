"""Who may look, who may decide, and that every door of the admin asks."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.db.models import Model
from django.test import Client

from envelopes import audit
from envelopes.approvals import exactly
from envelopes.models import Approval, Session, ToolCall
from tests import factories
from tests.envelopes.admin.pages import MODELS, client_of, one_of_each, parsed, text_of, url, viewer

pytestmark = pytest.mark.django_db

models = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)


def doors(row: Model) -> list[str]:
    """Every address under one object that gives something away."""
    found = [url(type(row), "changelist"), url(row, "change"), url(row, "history")]
    if isinstance(row, Session):
        found.append(url(row, "event", 1))
    if isinstance(row, Approval | ToolCall):
        found.append(url(row, "raw", "args"))
    return found


@models
def test_staff_without_permission_see_nothing(model: type[Model]) -> None:
    row = one_of_each()[model]
    client = client_of(factories.make_user(staff=True))

    assert {client.get(door).status_code for door in doors(row)} == {403}
    assert "/admin/envelopes/" not in client.get("/admin/").content.decode()
    assert "/admin/envelopes/" in viewer().get("/admin/").content.decode()


@models
def test_people_without_staff_are_asked_to_sign_in(model: type[Model]) -> None:
    row = one_of_each()[model]
    permitted = factories.make_user(permissions=[f"view_{one._meta.model_name}" for one in MODELS])

    for client in (Client(), client_of(permitted), client_of(factories.make_user())):
        assert {client.get(door).status_code for door in doors(row)} == {302}


@models
def test_staff_with_the_view_permission_see_it(model: type[Model]) -> None:
    row = one_of_each()[model]

    assert {viewer().get(door).status_code for door in doors(row)} == {200}


@models
def test_rows_of_a_conversation_are_for_those_who_may_see_the_conversation(model: type[Model]) -> None:
    row = one_of_each()[model]
    others = [f"view_{one._meta.model_name}" for one in MODELS if one is not Session]
    client = client_of(factories.make_user(staff=True, permissions=others))

    assert {client.get(door).status_code for door in doors(row)} == {403}


@models
def test_a_right_to_change_or_delete_opens_nothing(model: type[Model]) -> None:
    row = one_of_each()[model]
    name = model._meta.model_name
    client = client_of(
        factories.make_user(staff=True, permissions=[f"change_{name}", f"delete_{name}", f"add_{name}"])
    )

    assert {client.get(door).status_code for door in doors(row)} == {403}


def test_staff_who_only_look_are_offered_no_decision_and_have_none() -> None:
    approval = one_of_each()[Approval]
    client = viewer()

    page = client.get(url(approval, "change"))
    answers = [
        client.post(url(approval, "decide"), {"decision": word}).status_code for word in ("granted", "denied")
    ]
    listed = client.get(url(Approval, "changelist"))
    many = {"action": "deny_selected", "_selected_action": [approval.pk], "reason": "x"}
    asked_first = client.post(url(Approval, "changelist"), many)
    denied = client.post(url(Approval, "changelist"), {**many, "apply": "1"})

    assert not [b for b in parsed(page.content).iter("button") if b.get("name") == "decision"]
    assert "not decide them" in text_of(page.content)
    assert [*answers, asked_first.status_code, denied.status_code] == [403] * 4
    # Each decision that was tried, not that somebody looked at a page on which one could try.
    assert [entry.kind for entry in audit.history_of(approval)].count("refused") == 3
    assert "deny_selected" not in listed.content.decode()
    assert Approval.objects.get().state == "pending"


def test_an_attempt_that_cannot_be_recorded_now_is_to_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    approval = one_of_each()[Approval]
    client = viewer()

    with monkeypatch.context() as patched:
        patched.setattr(exactly, "writing", Mock(side_effect=OperationalError("lock timeout")))
        told = client.post(url(approval, "decide"), {"decision": "granted"}, follow=True).content

        many = {"action": "deny_selected", "_selected_action": [approval.pk], "apply": "1", "reason": "x"}
        of_many = client.post(url(Approval, "changelist"), many, follow=True).content

    assert "Try again in a while. Your decision was not applied." in text_of(told)
    assert "Try again in a while. Nothing was changed." in text_of(of_many)
    assert client.post(url(approval, "decide"), {"decision": "granted"}).status_code == 403
    assert Approval.objects.get().state == "pending"


def test_the_owner_decides_in_the_chat_not_here() -> None:
    owner = factories.make_user(staff=True, permissions=["view_approval"])
    approval = factories.make_approval(factories.make_session(owner))

    assert client_of(owner).post(url(approval, "decide"), {"decision": "granted"}).status_code == 403
    assert Approval.objects.get().state == "pending"


def test_a_right_to_decide_lets_read_what_there_is_to_decide_and_no_more() -> None:
    rows = one_of_each()
    client = client_of(factories.make_user(staff=True, permissions=["decide_approval"]))

    page = client.get(url(rows[Approval], "change"))

    assert page.status_code == client.get(url(Approval, "changelist")).status_code == 200
    assert client.get(url(rows[Session], "change")).status_code == 403
    assert client.get(url(rows[ToolCall], "change")).status_code == 403
    assert url(rows[Session], "change") not in page.content.decode()
    assert url(rows[ToolCall], "change") not in page.content.decode()


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_a_decision_is_posted(method: str) -> None:
    approval = one_of_each()[Approval]
    client = client_of(factories.make_user(superuser=True))

    assert getattr(client, method)(url(approval, "decide")).status_code == 405


@pytest.mark.parametrize("page", ["decide", "resolve"])
def test_a_decision_needs_the_token_of_the_form(page: str) -> None:
    row = one_of_each()[Approval if page == "decide" else ToolCall]
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.make_user(superuser=True))

    assert (
        client.post(url(row, page), {"decision": "granted", "outcome": "failed", "note": "x"}).status_code
        == 403
    )
    assert Approval.objects.get().state == "pending"


@pytest.mark.parametrize("number", ["0", "999", "x", "1%2F", "..%2F1"])
def test_what_is_not_there_is_not_there(number: str) -> None:
    one_of_each()
    client = client_of(factories.make_user(superuser=True))

    for address in (
        "session/{}/events/1/",
        "session/{}/raw/x/",
        "approval/{}/decide/",
        "toolcall/{}/resolve/",
    ):
        assert client.post(f"/admin/envelopes/{address.format(number)}", {}).status_code in (302, 404), (
            address
        )


def test_a_session_can_be_opened_in_the_chat() -> None:
    session = one_of_each()[Session]

    assert f"/chat/{session.public_id}/" in viewer().get(url(session, "change")).content.decode()  # type: ignore[attr-defined]
