"""The webhook envelope: what is told to services outside (seed 003, which makes it egress; reading 1.4).

Names are the seed's. Of the repository ``event``, ``source`` and ``payload`` are read as well, as ``event_type``,
``resource_id`` and ``data``.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, Field

from envelopes.transports.documents.shapes.common import (
    CanonicalId,
    Closed,
    ReplayProtection,
    Version,
    envelope_schema,
)

WEBHOOK_BYTES = 1_048_576
NAME_CHARS = 128
PROPERTIES = 2_048

_Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS)]


class WebhookLimits(Closed):
    """How large the envelope may be, by its own word."""

    max_payload_bytes: Annotated[int, Field(ge=1, le=WEBHOOK_BYTES)]


class WebhookEnvelope(Closed):
    """One event. ``resource_id`` is the public id of the conversation that it is about."""

    v: Version
    id: CanonicalId
    event_type: Annotated[_Name, Field(validation_alias=AliasChoices("event_type", "event"))]
    resource_id: Annotated[_Name, Field(validation_alias=AliasChoices("resource_id", "source"))]
    data: Annotated[
        dict[str, Any],
        Field(max_length=PROPERTIES, validation_alias=AliasChoices("data", "payload")),
    ]
    replay_protection: ReplayProtection
    limits: WebhookLimits | None = None

    model_config = {"json_schema_extra": envelope_schema("webhook-envelope.v1.json", "Webhook envelope")}


ALIASES = {"event": "event_type", "source": "resource_id", "payload": "data"}
"""The repository's names, and ours for the same."""
