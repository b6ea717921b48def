"""What a tool declares of its result: a model of pydantic, to which each result is held before anybody reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from envelopes.conf import conf
from envelopes.errors import RegistrationError, TooLarge, ToolFailed, ValidationFailed
from envelopes.protocol.parts import from_pydantic
from envelopes.protocol.text import MAX_DEPTH, clean_json
from envelopes.types import Json, JsonObject

TOLD_CHARACTERS = 400
"""How long the form of a result may be that models read beside the description of its tool."""

_DEEPEST = 8
"""Models inside of models whose form is told."""
_FAULTS = 5


class Misfit(ToolFailed):
    """The result of a tool is not what the tool declares. ``found`` says where and why, without a value: for staff."""

    code = "result_invalid"

    def __init__(self, tool: str, found: str) -> None:
        super().__init__(
            f"What {tool} returned is not what it declares to return, so it cannot be used. "
            "This is a fault of the tool: the same call will fail again. It has been logged."
        )
        self.found = found


def check_output(owner: str, given: Any) -> None:
    """Raises ``RegistrationError`` for what is no pydantic model, or for one that says nothing that JSON could hold."""
    if not isinstance(given, type) or not issubclass(given, BaseModel):
        raise RegistrationError(
            f"`output` of {owner} is a pydantic model, a class, not {given!r:.60}.", name=owner
        )
    try:
        given.model_json_schema(mode="serialization")
    except PydanticUserError as error:
        reason = str(error).splitlines()[0]
        raise RegistrationError(
            f"`output` of {owner}, {given.__name__}, cannot be written as JSON: {reason}", name=owner
        ) from error
    if _is_lazy(given.__pydantic_core_schema__):
        raise RegistrationError(
            f"{given.__name__} of {owner} has a field that is read only once, and may have no end: "
            "declare a list.",
            name=owner,
        )


def _is_lazy(schema: Any) -> bool:
    if isinstance(schema, dict):
        return schema.get("type") == "generator" or any(_is_lazy(part) for part in schema.values())
    return isinstance(schema, list | tuple) and any(_is_lazy(part) for part in schema)


def fitted(tool: str, output: type[BaseModel], result: object) -> Json:
    """``result`` as ``output`` has it in JSON. Raises ``Misfit``.

    An instance of the model was checked when it was made (``revalidate_instances`` of pydantic has it checked again);
    what its fields hold now is. Keys that the model does not have are left out.
    """
    adapter = _adapter(output)
    try:
        check_size(result)
        given = adapter.validate_python(result)
        return clean_json(adapter.dump_python(given, mode="json", by_alias=True, warnings="error"))
    except ValidationError as error:
        raise Misfit(tool, _listed(error)) from error
    except (ValidationFailed, TooLarge) as error:
        raise Misfit(tool, error.message) from error
    except Exception as error:
        # Validators and serializers are code of the tool's author, and so is whatever a result is made of.
        raise Misfit(tool, f"{type(error).__name__} while it was checked.") from error


@cache
def _adapter(output: type[BaseModel]) -> TypeAdapter[Any]:
    return TypeAdapter(output)


def _listed(error: ValidationError) -> str:
    found = from_pydantic(error).facts["problems"]
    told = [f"{fault['path'] or '/'}: {fault['message']}" for fault in found[:_FAULTS]]
    more = error.error_count() - len(told)
    return "; ".join([*told, f"and {more} more"] if more else told)


def check_size(value: object) -> None:
    """Raises ``TooLarge`` for what would have more characters as JSON than are kept of a result, about, and
    ``ValidationFailed`` for what holds itself, and for numbers that pydantic would write as null.

    It looks at no more than that many: what stands in several places counts in each, and a few lines of code make more
    of that than any machine has room for.
    """
    most = conf.BEACH_RESULT_KEPT_CHARACTERS
    size, waiting = 0, [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        inner: Iterable[object] = ()
        if isinstance(one, str | bytes | bytearray):
            size += len(one) + 2
        elif isinstance(one, int):
            size += 1 + one.bit_length() // 4
        elif isinstance(one, dict):
            inner = (*one.keys(), *one.values())
            size += 2 + len(inner)
        elif isinstance(one, list | tuple | set | frozenset):
            inner = one
            size += 2 + len(one)
        elif isinstance(one, BaseModel):
            inner = (one.__dict__,)
        elif isinstance(one, float) and not math.isfinite(one):
            raise ValidationFailed("NaN and Infinity are not JSON.")
        else:
            size += 4
        if inner:
            if depth > 2 * MAX_DEPTH:
                raise ValidationFailed(f"This is nested deeper than {MAX_DEPTH} levels.")
            waiting += [(part, depth + 1) for part in inner]
        if size > most:
            raise TooLarge(
                f"It is longer than the {most:,} characters that are kept of a result.",
                limit="BEACH_RESULT_KEPT_CHARACTERS",
                allowed=most,
            )


def form_of(output: type[BaseModel]) -> str:
    """The form of the result in a few words, ``{"flights": [{"id": string, "price": number}]}``; "" where that takes
    more than ``TOLD_CHARACTERS``: the model reads each result anyway, and every request pays for what is written."""
    schema = output.model_json_schema(mode="serialization")
    told = _form(schema, schema.get("$defs", {}), ())
    return told if len(told) <= TOLD_CHARACTERS else ""


def _form(schema: JsonObject, known: JsonObject, within: tuple[str, ...]) -> str:
    """``within`` are the models around it: one that holds itself is told once."""
    if (ref := schema.get("$ref")) is not None:
        if ref in within or len(within) > _DEEPEST:
            return "…"
        schema, within = known[ref.removeprefix("#/$defs/")], (*within, ref)
    if "properties" in schema:
        inner = (f'"{name}": {_form(part, known, within)}' for name, part in schema["properties"].items())
        return f"{{{', '.join(inner)}}}"
    if "items" in schema:
        return f"[{_form(schema['items'], known, within)}]"
    # Pydantic writes the one for a union, the other for one that a field tells apart.
    if one_of := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(_form(part, known, within) for part in one_of)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    return str(schema.get("type", "any"))
