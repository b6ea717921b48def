"""A part: ``{text?, data?, metadata: {partType, partId?, ...}}``, the unit of output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from envelopes.errors import ValidationFailed
from envelopes.protocol.merging import Strategy
from envelopes.protocol.strict_json import pointer
from envelopes.protocol.surfaces import RESERVED, is_reserved
from envelopes.protocol.text import clean_json, clean_text
from envelopes.registries.part_types import Origin, PartType, part_types
from envelopes.types import JsonObject


class Metadata(BaseModel):
    model_config = ConfigDict(extra="allow")

    partType: str = Field(max_length=128)
    partId: str | None = Field(default=None, max_length=128)
    dataKind: str | None = Field(default=None, max_length=128)
    slotKey: str | None = Field(default=None, max_length=128)
    mergeStrategy: Strategy | None = None


class Part(BaseModel):
    """One part, checked against the registry.

    A flat ``partType`` beside ``text`` and ``data`` (seed 001) is accepted and normalised into ``metadata`` (D1).
    """

    model_config = ConfigDict(extra="forbid")

    text: str | None = None
    data: JsonObject | None = None
    metadata: Metadata

    @model_validator(mode="before")
    @classmethod
    def _flat_part_type(cls, value: Any) -> Any:
        if isinstance(value, dict) and "metadata" not in value and isinstance(value.get("partType"), str):
            value = dict(value)
            value["metadata"] = {"partType": value.pop("partType")}
        return value

    @property
    def part_type(self) -> str:
        return self.metadata.partType

    def as_json(self) -> JsonObject:
        return self.model_dump(exclude_none=True)


def continued(part: JsonObject, more: JsonObject) -> JsonObject:
    """``part`` and then ``more``, which continues it (D8): text goes on, data and what is said of the part are the
    later ones. A new object, which shares with both what it holds."""
    made = {**part, "metadata": {**part["metadata"], **more["metadata"]}}
    if more.get("text") is not None:
        made["text"] = str(part.get("text") or "") + str(more["text"])
    if more.get("data") is not None:
        made["data"] = more["data"]
    return made


def check_part(value: Any, *, origin: Origin, path: str = "") -> tuple[Part, PartType]:
    """Validate one part for who emits it; returns it with its type.

    Raises ``ValidationFailed`` with ``path`` (JSON Pointer) and, where it helps, ``allowed``. Control characters,
    NUL and lone surrogates are replaced before anything is stored.
    """
    try:
        part = Part.model_validate(clean_json(value))
    except ValidationError as error:
        raise from_pydantic(error, path) from error
    except ValidationFailed as error:
        raise ValidationFailed(error.message, path=path) from error
    kind = part_types.get(part.part_type)
    if kind is None:
        raise ValidationFailed(
            f"The part type {part.part_type!r} is not registered.",
            path=f"{path}/metadata/partType",
            allowed=[t.name for t in part_types if origin in t.origins],
        )
    if origin not in kind.origins:
        raise ValidationFailed(
            f"A part of type {kind.name!r} cannot come from the {origin}; it comes from "
            f"{' or '.join(sorted(kind.origins))}.",
            path=f"{path}/metadata/partType",
            allowed=[t.name for t in part_types if origin in t.origins],
        )
    if origin == "actor":
        for name in ("partId", "dataKind", "slotKey"):
            if is_reserved(getattr(part.metadata, name) or ""):
                raise ValidationFailed(
                    f"Names that start with {' or '.join(RESERVED)} belong to the runtime.",
                    path=f"{path}/metadata/{name}",
                )
    _presence(kind, "text", kind.text, part.text, path)
    _presence(kind, "data", kind.data, part.data, path)
    if kind.data_model is not None and part.data is not None:
        try:
            kind.data_model.model_validate(part.data)
        except ValidationError as error:
            raise from_pydantic(error, f"{path}/data") from error
    return part, kind


def _presence(kind: PartType, field: str, rule: str, value: object, path: str) -> None:
    if rule == "required" and value is None:
        raise ValidationFailed(f"A {kind.name} part needs {field}.", path=f"{path}/{field}")
    if rule == "none" and value is not None:
        raise ValidationFailed(f"A {kind.name} part has no {field}.", path=f"{path}/{field}")


def as_pydantic(problem: ErrorDetails) -> str:
    """What is wrong as programs and models are told."""
    return problem["msg"]


def from_pydantic(
    error: ValidationError, path: str = "", *, said: Callable[[ErrorDetails], str] = as_pydantic
) -> ValidationFailed:
    """The first problem as our typed error; ``problems`` lists them all with their pointers, each as ``said`` says it
    to whoever sent what is wrong."""
    problems = [
        # A key that cannot be stored must not come back in through the error that complains of it.
        {"path": path + clean_text(pointer(problem["loc"])), "message": clean_text(said(problem))}
        for problem in error.errors(include_url=False, include_input=False)[:20]
    ]
    first = problems[0]
    return ValidationFailed(
        f"{first['message'].removesuffix('.')} (at {first['path'] or '/'}).",
        path=first["path"],
        problems=problems,
    )
