"""The a2ui envelope: a patch of the document of one surface (reading 1.2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, model_validator

from envelopes.transports.documents.shapes.common import CanonicalId, Closed, Version, envelope_schema

A2UI_BYTES = 262_144
A2UI_OPERATIONS = 512

Path = Annotated[str, Field(max_length=512, description="A JSON Pointer (RFC 6901).")]
_Review = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=160)]], Field(min_length=1, max_length=6)
]


class Add(Closed):
    """A value that is put in; at ``-`` of a list, behind its end."""

    op: Literal["add"]
    path: Path
    value: Any


class Replace(Closed):
    """A value in place of one that is there; with an empty path, of the whole document."""

    op: Literal["replace"]
    path: Path
    value: Any


class Remove(Closed):
    """A value that goes."""

    op: Literal["remove"]
    path: Path


Operation = Annotated[Add | Replace | Remove, Discriminator("op")]


class Patch(Closed):
    """A patch document."""

    v: Version
    ops: Annotated[list[Operation], Field(min_length=1, max_length=A2UI_OPERATIONS)]


class ExperimentalBlock(Closed):
    """What a document in rollout has to say of itself. Consent is asked for where a person's voice is wanted, and only
    there: the source's schema asks for it where no mode is named as well."""

    track_id: Annotated[str, Field(min_length=1, max_length=64)]
    feature_flag: Annotated[str, Field(min_length=1, max_length=96)]
    support_summary: Annotated[str, Field(min_length=1, max_length=240)]
    security_review: _Review
    exit_criteria: _Review
    rollout_stage: Literal["disabled", "dark_launch", "operator_preview", "limited_preview"] = "disabled"
    ambient_mode: Literal["disabled", "push_to_talk"] = "disabled"
    consent_required: bool = False

    model_config = {
        "json_schema_extra": {
            "if": {"properties": {"ambient_mode": {"const": "push_to_talk"}}, "required": ["ambient_mode"]},
            "then": {
                "properties": {"consent_required": {"const": True}},
                "required": ["consent_required"],
            },
        }
    }

    @model_validator(mode="after")
    def _consent(self) -> Self:
        if self.ambient_mode == "push_to_talk" and not self.consent_required:
            raise ValueError("ambient_mode push_to_talk takes consent_required=true")
        return self


class A2uiLimits(Closed):
    """How large the envelope may be, by its own word."""

    max_payload_bytes: Annotated[int, Field(ge=1, le=A2UI_BYTES)]


class A2uiEnvelope(Closed):
    """``experimental`` goes with a patch that brings a whole document, which says the same."""

    v: Version
    id: CanonicalId
    surface: Annotated[str, Field(min_length=1, max_length=128)]
    patch: Patch
    experimental: ExperimentalBlock | None = None
    limits: A2uiLimits | None = None

    model_config = {"json_schema_extra": envelope_schema("a2ui-envelope.v1.json", "A2UI envelope")}
