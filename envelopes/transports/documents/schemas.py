"""The JSON Schemas of the envelopes, at ``/schemas/``: made of the models, so that they say what is read."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import condition, require_safe
from pydantic import BaseModel

from envelopes.protocol.config_envelope import ConfigEnvelope
from envelopes.transports.documents.shapes.a2ui import A2uiEnvelope
from envelopes.transports.documents.shapes.common import envelope_schema
from envelopes.transports.documents.shapes.message import MessageEnvelope
from envelopes.transports.documents.shapes.reading import schema_of
from envelopes.transports.documents.shapes.webhook import WebhookEnvelope

SCHEMAS: dict[str, type[BaseModel]] = {
    "a2ui-envelope.v1.json": A2uiEnvelope,
    "message-envelope.v1.json": MessageEnvelope,
    "webhook-envelope.v1.json": WebhookEnvelope,
    "config-export.v1.json": ConfigEnvelope,
    "config-import.v1.json": ConfigEnvelope,
}
"""By the names of the source. What is imported is what was exported."""

SECONDS = 3_600
"""How long whoever has fetched one need not ask again: a release may change it."""


def schema(name: str) -> dict[str, Any]:
    """The schema of this name. Raises ``KeyError``."""
    made = schema_of(SCHEMAS[name])
    return {**envelope_schema(name, made["title"]), **made, "$id": f"/schemas/{name}"}


@cache
def _text(name: str) -> bytes:
    value: Any = {"schemas": [f"/schemas/{one}" for one in SCHEMAS]} if name == "" else schema(name)
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def _etag(request: HttpRequest, name: str = "") -> str | None:
    if name and name not in SCHEMAS:
        return None
    return f'"{hashlib.sha256(_text(name)).hexdigest()[:32]}"'


@require_safe
@cache_control(public=True, max_age=SECONDS)
@condition(etag_func=_etag)
def published(request: HttpRequest, name: str = "") -> HttpResponse:
    """One schema; without a name, where they are. For anybody: it tells nothing of anybody."""
    if name and name not in SCHEMAS:
        raise Http404
    kind = "application/schema+json" if name else "application/json"
    return HttpResponse(_text(name), content_type=kind, headers={"Access-Control-Allow-Origin": "*"})
