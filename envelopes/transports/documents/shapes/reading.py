"""How an envelope is read: its size, its JSON, its version, and then each member, with one kind of error for each."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from envelopes.transports.documents.formats.errors import InvalidInput, Reason
from envelopes.transports.documents.formats.strict import check_version, read_json
from envelopes.types import Json

Model = TypeVar("Model", bound=BaseModel)

_KINDS: dict[str, Reason] = {
    "missing": "MissingField",
    "string_too_short": "EmptyField",
    "too_short": "EmptyField",
}


def read_envelope(model: type[Model], raw: bytes, limit: int) -> Model:
    """The envelope that ``raw`` holds. ``limit`` is the most that envelopes of this kind may be, in bytes.

    Raises ``InvalidInput``: ``PayloadTooLarge`` (also where it is larger than it says itself), ``InvalidJson``,
    ``NotAnObject``, ``UnsupportedVersion``, ``MissingField``, ``InvalidType``, ``EmptyField``, ``InvalidValue``;
    ``path`` is the dotted name of the member.
    """
    value = read_json(raw, limit=limit)
    found = checked(model, value)
    declared = getattr(found, "limits", None)
    if declared is not None and declared.max_payload_bytes < len(raw):
        raise InvalidInput(
            f"It has {len(raw):,} bytes, and says that it has at most {declared.max_payload_bytes:,}.",
            reason="InvalidValue",
            path="limits.max_payload_bytes",
            allowed=declared.max_payload_bytes,
            got=len(raw),
        )
    return found


def checked(model: type[Model], value: Json) -> Model:
    """``value`` as ``model``. Raises ``InvalidInput`` as ``read_envelope`` does."""
    if not isinstance(value, dict):
        raise InvalidInput("An envelope is an object.", reason="NotAnObject")
    check_version(value)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _told(error) from error


def _told(error: ValidationError) -> InvalidInput:
    # What is missing or wrong is told before what nobody knows.
    faults = error.errors(include_url=False, include_input=False)
    fault = next((one for one in faults if one["type"] != "extra_forbidden"), faults[0])
    # A union names the member that it has taken too.
    steps = [str(step) for step in fault["loc"] if step not in ("add", "replace", "remove")]
    kind = fault["type"]
    if kind == "extra_forbidden":
        steps[-1:] = ["additional_properties"]
    return InvalidInput(
        f"{'.'.join(steps) or 'It'}: {fault['msg']}.", reason=_reason(kind), path=".".join(steps)
    )


def _reason(kind: str) -> Reason:
    if kind in _KINDS:
        return _KINDS[kind]
    return "InvalidType" if kind.endswith(("_type", "_parsing")) else "InvalidValue"


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what is sent: names by which it is written, not those that are read as well."""
    return model.model_json_schema(by_alias=False, mode="validation")
