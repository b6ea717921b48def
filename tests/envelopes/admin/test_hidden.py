"""Characters that cannot be seen, or that turn others around, in whatever is stored: on no page of the desk do they
stand as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import CharField, JSONField, Model, TextField
from django.urls import reverse
from django.utils import timezone

from envelopes.admin.conversation.pages import NAME
from envelopes.models import (
    Approval,
    AuditEntry,
    Consent,
    Peer,
    Session,
    Turn,
    WebhookDelivery,
    WebhookSubscription,
)
from envelopes.types import Json
from tests.envelopes.admin.pages import client_of, one_of_each, parsed

pytestmark = pytest.mark.django_db

TURNS = "\u202e"
"""RIGHT-TO-LEFT OVERRIDE: what follows is read backwards."""


def _hidden_in(value: Json) -> Json:
    if isinstance(value, str):
        return TURNS + value
    if isinstance(value, list):
        return [_hidden_in(item) for item in value]
    return {key: _hidden_in(item) for key, item in value.items()} if isinstance(value, dict) else value


CLOSED = {(AuditEntry, "kind"), (Approval, "rule"), (Approval, "digest")}
"""Words and digests of ours, of which a database holds no others."""


def _hide_in_all(model: type[Model]) -> int:
    """Write ``TURNS`` before every text that rows of ``model`` hold, whether it could get there or not: what stands in
    a database may be anybody's. Of what is never changed there is one row more. Returns how many fields that are."""
    fields = [field for field in model._meta.concrete_fields if not field.is_relation and not field.unique]
    texts = [
        field.name
        for field in fields
        if isinstance(field, CharField | TextField | JSONField) and (model, field.name) not in CLOSED
    ]
    for row in model._base_manager.all():
        hidden = {name: _hidden_in(getattr(row, name)) for name in texts}
        if model is AuditEntry:
            values = {field.attname: getattr(row, field.attname) for field in fields} | hidden
            model._base_manager.bulk_create([model(number=row.number + 1_000, **values)])
        else:
            model._base_manager.filter(pk=row.pk).update(**hidden)
    return len(texts)


def _rows() -> None:
    """One of each kind that the desk has."""
    made: Any = one_of_each()
    session, turn = made[Session], made[Turn]
    subscription = WebhookSubscription.objects.create(name="desk", url="https://example.com", secret="x")
    WebhookDelivery.objects.create(
        subscription=subscription, event_id="1", event_type="turn.settled", resource_id="r", data={"a": "b"}
    )
    Peer.objects.create(name="sky", token_digest="d" * 64, token_end="abcd", scopes=["documents"])
    Consent.objects.create(
        session=session, turn=turn, track_id="a", flag="f", summary="s", listens=True, asked_at=timezone.now()
    )


MODELS = [model for model in admin.site._registry if model._meta.app_label == "envelopes"]


def _pages() -> Iterator[str]:
    for model in MODELS:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert model._base_manager.exists(), model
        yield reverse(f"{name}_changelist")
        for row in model._base_manager.all():
            yield reverse(f"{name}_change", args=[row.pk])
            yield reverse(f"{name}_history", args=[row.pk])
    yield reverse("admin:index")
    for session in Session.objects.all():
        yield reverse(f"admin:{NAME}", args=[session.pk])


def test_no_page_of_the_desk_shows_what_is_stored_as_it_stands() -> None:
    _rows()
    client = client_of(User.objects.create_superuser("root"))
    for address in _pages():
        assert client.get(address).status_code == 200, address
    hidden = sum(map(_hide_in_all, MODELS))

    found = [(address, *where) for address in _pages() for where in _shown_raw(client.get(address))]

    assert found == [], "\n".join(map(ascii, found))
    assert hidden > 60


def _shown_raw(response: Any) -> Iterator[tuple[str, str]]:
    """Where ``TURNS`` stands in what a reader sees. An input has what it is about to send, exactly."""
    assert response.status_code == 200
    body = parsed(response.content).find("body")
    assert body is not None
    for element in body.iter():
        for words in (element.text, element.tail):
            if words and TURNS in words and element.tag not in ("script", "textarea", "option"):
                yield str(element.tag), words.strip()
