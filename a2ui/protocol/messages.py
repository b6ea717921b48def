"""Agent-to-renderer messages: the envelope and the bodies (rulebook section 2, section 3 of the reading of 1.0).

A message is read by the table of its dialect. `read` collects every problem of a message instead of stopping at the
first, each with a JSON Pointer path into the message body, so that an agent can repair all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from a2ui.data.pointer import ABSENT, Absent
from a2ui.data.values import JSON
from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, Diagnostic, must_be
from a2ui.protocol.dialects import KNOWN, PLAIN, V0_9, V08_VERBS, Dialect, Notation, dialect_of
from a2ui.safety.limits import Limits


class CreateSurface(NamedTuple):
    """`catalog_id` is "" for a surface without a default catalog. `theme` is passed on as sent (None: not given);
    section 15 decides what of it is used. `components` and `data_model` are what the surface begins with, None and
    ABSENT where it begins empty; all of the message is done or nothing."""

    version: str
    surface_id: str
    catalog_id: str
    theme: JSON
    send_data_model: bool
    components: list[Any] | None = None
    data_model: JSON | Absent = ABSENT
    metadata: JSON = None
    notation: Notation = PLAIN

    @property
    def comes_filled(self) -> bool:
        """Whether it brings components or data."""
        return self.components is not None or self.data_model is not ABSENT


class UpdateComponents(NamedTuple):
    """`components` are as sent; `state.rows` decides what of them is used."""

    version: str
    surface_id: str
    components: list[Any]
    notation: Notation = PLAIN


class UpdateDataModel(NamedTuple):
    """`value` ABSENT deletes what is at `path`; None stores null (rulebook 6.3, 6.4)."""

    version: str
    surface_id: str
    path: str
    value: JSON | Absent


class DeleteSurface(NamedTuple):
    """Deleting an unknown surface is a no-op (rulebook 2)."""

    version: str
    surface_id: str


class CallRendererFunction(NamedTuple):
    """The agent asks for a function of the renderer; `surface_id` is "" where it names none. `call` is as sent."""

    version: str
    surface_id: str
    call_id: str
    call: dict[str, Any]


class AgentFunctionResponse(NamedTuple):
    """The agent's answer to a call: `value`, or ABSENT and the `error` `{code, message}`."""

    version: str
    surface_id: str
    call_id: str
    value: JSON | Absent
    error: dict[str, Any] | None


ServerMessage: TypeAlias = (
    CreateSurface
    | UpdateComponents
    | UpdateDataModel
    | DeleteSurface
    | CallRendererFunction
    | AgentFunctionResponse
)


_LISTED = 100
"""Unknown keys that are reported one by one: a message may have a hundred thousand."""


class _Problems:
    """Collects the reports of one message."""

    __slots__ = ("found", "surface_id")

    def __init__(self) -> None:
        self.surface_id = ""
        self.found: list[Diagnostic] = []

    def add(self, message: str, path: str = "", code: str = VALIDATION_FAILED, **facts: Any) -> None:
        self.found.append(Diagnostic(code, message, path, self.surface_id, refused=True, facts=facts))


def read(message: object, limits: Limits) -> ServerMessage | list[Diagnostic]:
    """One typed message, or the reports that say why it is none. Never raises."""
    return read_fast(message, limits) or read_full(message, limits)


def read_fast(message: object, limits: Limits) -> ServerMessage | None:
    """What `read_full` gives for a message without fault, as nearly all are; None for everything that is odd.
    A small update takes a tenth longer without."""
    if type(message) is dict and len(message) == 2:
        dialect = dialect_of(message.get("version"))
        if dialect is None:
            return None
        members = dialect.messages
        for verb, body in message.items():
            if verb in members and type(body) is dict and body.keys() <= members[verb]:
                return _typed(dialect, verb, body, limits)
    return None


def _typed(dialect: Dialect, verb: str, body: dict[str, Any], limits: Limits) -> ServerMessage | None:
    """The message where every property has the right type; None where one has not."""
    surface_id = body.get("surfaceId")
    if type(surface_id) is not str or not 0 < len(surface_id) <= limits.surface_id_chars:
        return None
    if verb == "updateDataModel":
        path = body.get("path", "")
        if type(path) is not str:
            return None
        value = body.get("value", ABSENT)
        if dialect.null_deletes:
            if value is ABSENT:
                return None
            if value is None:
                value = ABSENT
        return UpdateDataModel(dialect.version, surface_id, path, value)
    if verb == "updateComponents":
        rows = body.get("components")
        if type(rows) is not list:
            return None
        return UpdateComponents(
            dialect.version, surface_id, rows, dialect.notation or dialect.notation_of(rows)
        )
    if verb == "createSurface":
        catalog_id, flag = body.get("catalogId"), body.get("sendDataModel")
        if type(catalog_id) is str and catalog_id and (flag is None or type(flag) is bool):
            created = CreateSurface(dialect.version, surface_id, catalog_id, body.get("theme"), flag is True)
            return created if dialect.needs_catalog else _with_contents(created, body, dialect)
    return None


def read_full(message: object, limits: Limits) -> ServerMessage | list[Diagnostic]:
    """Looks at everything, and reports all that is wrong."""
    problems = _Problems()
    if not isinstance(message, dict):
        problems.add(must_be("message", "a JSON object", message))
        return problems.found
    # What it would mean if its version were one that is known is told as well.
    dialect = dialect_of(message.get("version")) or V0_9
    verbs = [verb for verb in dialect.messages if verb in message]
    body = message[verbs[0]] if len(verbs) == 1 else None
    if isinstance(body, dict) and isinstance(body.get("surfaceId"), str):
        problems.surface_id = body["surfaceId"]
    _check_envelope(message, verbs, dialect, problems)
    if len(verbs) != 1:
        return problems.found
    verb = verbs[0]
    if not isinstance(body, dict):
        problems.add(must_be(verb, "a JSON object", body), f"/{verb}")
        return problems.found
    if verb in _OF_SURFACES or "surfaceId" in body:
        _check_surface_id(body, problems, limits)
    unknown = [key for key in body if key not in dialect.messages[verb]]
    for key in unknown[:_LISTED]:
        problems.add(f"Unknown property {_short(key)!r} in {verb}.", f"/{_token(key)}")
    if len(unknown) > _LISTED:
        problems.add(f"{len(unknown) - _LISTED} more properties of {verb} are unknown.")
    result = _READERS[verb](body, dialect, problems)
    return problems.found or result


def _check_envelope(message: dict[Any, Any], verbs: list[str], dialect: Dialect, problems: _Problems) -> None:
    version = message.get("version")
    if dialect_of(version) is None:
        known = ", ".join(KNOWN)
        said = "is missing" if version is None else f"{_short(version)!r} is not known"
        problems.add(f"The version {said}; this renderer takes {known}.", "/version", known=list(KNOWN))
    unknown = [key for key in message if key != "version" and key not in dialect.messages]
    for key in unknown[:_LISTED]:
        if key in V08_VERBS:
            others = " or ".join(KNOWN[1:])
            problems.add(f"{key} belongs to v0.8; send {others} messages.", f"/{key}")
        else:
            problems.add(f"Unknown key {_short(key)!r}.", f"/{_token(key)}")
    if len(unknown) > _LISTED:
        problems.add(f"{len(unknown) - _LISTED} more keys are unknown.")
    if len(verbs) > 1:
        problems.add(f"`message` must have exactly one update; got {', '.join(verbs)}.")
    elif not verbs:
        problems.add(f"`message` must have one of {', '.join(dialect.messages)}; got none.")


def _check_surface_id(body: dict[str, Any], problems: _Problems, limits: Limits) -> None:
    surface_id = body.get("surfaceId")
    if not isinstance(surface_id, str) or not surface_id:
        problems.add(must_be("surfaceId", "text that is not empty", body.get("surfaceId", ...)), "/surfaceId")
    elif len(surface_id) > limits.surface_id_chars:
        problems.surface_id = ""
        problems.add(
            f"`surfaceId` must have at most {limits.surface_id_chars} characters; got {len(surface_id)}.",
            "/surfaceId",
            BUDGET_EXCEEDED,
            limit="surface_id_chars",
            allowed=limits.surface_id_chars,
        )


def _create(body: dict[str, Any], dialect: Dialect, problems: _Problems) -> CreateSurface:
    catalog_id = body.get("catalogId")
    if "catalogId" not in body and not dialect.needs_catalog:
        catalog_id = ""
    elif not isinstance(catalog_id, str) or (dialect.needs_catalog and not catalog_id):
        problems.add(must_be("catalogId", "the id of a catalog", body.get("catalogId", ...)), "/catalogId")
    flag = body.get("sendDataModel")
    if flag is not None and not isinstance(flag, bool):
        problems.add(must_be("sendDataModel", "true or false", flag), "/sendDataModel")
    created = CreateSurface(
        dialect.version, str(body.get("surfaceId")), str(catalog_id), body.get("theme"), flag is True
    )
    if dialect.needs_catalog:
        return created
    if "components" in body and not isinstance(body["components"], list):
        problems.add(must_be("components", "a list", body["components"]), "/components")
    if "dataModel" in body and not isinstance(body["dataModel"], dict):
        problems.add(must_be("dataModel", "an object", body["dataModel"]), "/dataModel")
    return _with_contents(created, body, dialect) or created


def _with_contents(created: CreateSurface, body: dict[str, Any], dialect: Dialect) -> CreateSurface | None:
    """The message with what surfaces of 1.0 bring along; None where it is not of the right type."""
    rows, model = body.get("components"), body.get("dataModel", ABSENT)
    if not (rows is None and "components" not in body) and type(rows) is not list:
        return None
    if model is not ABSENT and type(model) is not dict:
        return None
    notation = dialect.notation_of(rows or ())
    return created._replace(
        components=rows, data_model=model, metadata=body.get("metadata"), notation=notation
    )


def _components(body: dict[str, Any], dialect: Dialect, problems: _Problems) -> UpdateComponents:
    components = body.get("components")
    if not isinstance(components, list):
        problems.add(must_be("components", "a list", body.get("components", ...)), "/components")
        components = []
    notation = dialect.notation_of(components)
    return UpdateComponents(dialect.version, str(body.get("surfaceId")), components, notation)


def _data(body: dict[str, Any], dialect: Dialect, problems: _Problems) -> UpdateDataModel:
    path, value = body.get("path", ""), body.get("value", ABSENT)
    if not isinstance(path, str):
        problems.add(must_be("path", "text", path), "/path")
        path = ""
    if dialect.null_deletes:
        if value is ABSENT:
            problems.add("`value` is required; null deletes.", "/value")
        elif value is None:
            value = ABSENT
    return UpdateDataModel(dialect.version, str(body.get("surfaceId")), path, value)


def _delete(body: dict[str, Any], dialect: Dialect, problems: _Problems) -> DeleteSurface:
    return DeleteSurface(dialect.version, str(body.get("surfaceId")))


def _call_id(body: dict[str, Any], problems: _Problems) -> str:
    call_id = body.get("functionCallId")
    if not isinstance(call_id, str) or not call_id:
        expected = "text that is not empty"
        problems.add(must_be("functionCallId", expected, body.get("functionCallId", ...)), "/functionCallId")
    return str(call_id)


def _function_call(body: dict[str, Any], dialect: Dialect, problems: _Problems) -> CallRendererFunction:
    call = body.get("callFunction")
    if not isinstance(call, dict):
        problems.add(must_be("callFunction", "an object", body.get("callFunction", ...)), "/callFunction")
        call = {}
    return CallRendererFunction(
        dialect.version, str(body.get("surfaceId", "")), _call_id(body, problems), call
    )


def _function_response(body: dict[str, Any], dialect: Dialect, problems: _Problems) -> AgentFunctionResponse:
    error, value = body.get("error"), body.get("value", ABSENT)
    if ("error" in body) == (value is not ABSENT):
        problems.add("`agentFunctionResponse` must have exactly one of value and error.")
    elif "error" in body and not isinstance(error, dict):
        problems.add(must_be("error", "an object with code and message", error), "/error")
    return AgentFunctionResponse(dialect.version, "", _call_id(body, problems), value, error)


_READERS: Final[Mapping[str, Callable[[dict[str, Any], Dialect, _Problems], ServerMessage]]] = {
    "createSurface": _create,
    "updateComponents": _components,
    "updateDataModel": _data,
    "deleteSurface": _delete,
    "callRendererFunction": _function_call,
    "agentFunctionResponse": _function_response,
}

_OF_SURFACES: Final = frozenset(V0_9.messages)
"""Messages that have to name a surface."""


def _short(value: object) -> str:
    # What holds others may be nested too deeply for str().
    return (
        "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else str(value)[:40]
    )


def _token(key: object) -> str:
    return _short(key).replace("~", "~0").replace("/", "~1")
