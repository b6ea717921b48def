"""Server-to-client messages: the envelope and the bodies (rulebook section 2).

`read` collects every problem of a message instead of stopping at the first, each with a JSON Pointer path into
the message body, so that an agent can repair all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from a2ui.errors import BUDGET_EXCEEDED, VALIDATION_FAILED, Diagnostic, must_be
from a2ui.protocol.versions import KNOWN, V08_VERBS
from a2ui.protocol.versions import NATIVE as VERSIONS
from a2ui.safety.limits import Limits
from a2ui.state.pointer import ABSENT, Absent
from a2ui.state.values import JSON


class CreateSurface(NamedTuple):
    """`theme` is passed on as sent (None: not given); section 15 decides what of it is used."""

    version: str
    surface_id: str
    catalog_id: str
    theme: JSON
    send_data_model: bool


class UpdateComponents(NamedTuple):
    """`components` are as sent; `state.rows` decides what of them is used."""

    version: str
    surface_id: str
    components: list[Any]


class UpdateDataModel(NamedTuple):
    """`value` ABSENT deletes what is at `path`; None stores null (rulebook 6.3, 6.4)."""

    version: str
    surface_id: str
    path: str
    value: JSON | Absent


class DeleteSurface(NamedTuple):
    """A surface that is not there is nothing to speak of (rulebook 2)."""

    version: str
    surface_id: str


ServerMessage: TypeAlias = CreateSurface | UpdateComponents | UpdateDataModel | DeleteSurface


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
    if type(message) is dict and len(message) == 2 and message.get("version") in VERSIONS:
        # The way nearly all messages take; everything odd goes through the full check below.
        for verb, body in message.items():
            if verb in _BODY_KEYS and type(body) is dict and body.keys() <= _BODY_KEYS[verb]:
                typed = _usual(message["version"], verb, body, limits)
                if typed is not None:
                    return typed
    return _read(message, limits)


def _usual(version: str, verb: str, body: dict[str, Any], limits: Limits) -> ServerMessage | None:
    """The message where every property has the right type; None where one has not."""
    surface_id = body.get("surfaceId")
    if type(surface_id) is not str or not 0 < len(surface_id) <= limits.surface_id_chars:
        return None
    if verb == "updateDataModel":
        path = body.get("path", "")
        return (
            UpdateDataModel(version, surface_id, path, body.get("value", ABSENT))
            if type(path) is str
            else None
        )
    if verb == "updateComponents":
        rows = body.get("components")
        return UpdateComponents(version, surface_id, rows) if type(rows) is list else None
    if verb == "createSurface":
        catalog_id, flag = body.get("catalogId"), body.get("sendDataModel")
        if type(catalog_id) is str and catalog_id and (flag is None or type(flag) is bool):
            return CreateSurface(version, surface_id, catalog_id, body.get("theme"), flag is True)
    return None


def _read(message: object, limits: Limits) -> ServerMessage | list[Diagnostic]:
    problems = _Problems()
    if not isinstance(message, dict):
        problems.add(must_be("message", "a JSON object", message))
        return problems.found
    verbs = [verb for verb in _READERS if verb in message]
    body = message[verbs[0]] if len(verbs) == 1 else None
    if isinstance(body, dict) and isinstance(body.get("surfaceId"), str):
        problems.surface_id = body["surfaceId"]
    _check_envelope(message, verbs, problems)
    if len(verbs) != 1:
        return problems.found
    verb = verbs[0]
    if not isinstance(body, dict):
        problems.add(must_be(verb, "a JSON object", body), f"/{verb}")
        return problems.found
    _check_surface_id(body, problems, limits)
    unknown = [key for key in body if key not in _BODY_KEYS[verb]]
    for key in unknown[:_LISTED]:
        problems.add(f"Unknown property {_short(key)!r} in {verb}.", f"/{_token(key)}")
    if len(unknown) > _LISTED:
        problems.add(f"{len(unknown) - _LISTED} more properties of {verb} are unknown.")
    version = message.get("version")
    result = _READERS[verb](body, version if isinstance(version, str) else "", problems)
    return problems.found or result


def _check_envelope(message: dict[Any, Any], verbs: list[str], problems: _Problems) -> None:
    version = message.get("version")
    if version not in VERSIONS:
        known = ", ".join(KNOWN)
        said = "is missing" if version is None else f"{_short(version)!r} is not known"
        problems.add(f"The version {said}; this renderer takes {known}.", "/version", known=list(KNOWN))
    unknown = [key for key in message if key != "version" and key not in _READERS]
    for key in unknown[:_LISTED]:
        if key in V08_VERBS:
            problems.add(f"{key} belongs to v0.8; send {' or '.join(VERSIONS)} messages.", f"/{key}")
        else:
            problems.add(f"Unknown key {_short(key)!r}.", f"/{_token(key)}")
    if len(unknown) > _LISTED:
        problems.add(f"{len(unknown) - _LISTED} more keys are unknown.")
    if len(verbs) > 1:
        problems.add(f"`message` must have exactly one update; got {', '.join(verbs)}.")
    elif not verbs:
        problems.add(f"`message` must have one of {', '.join(_READERS)}; got none.")


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


def _create(body: dict[str, Any], version: str, problems: _Problems) -> CreateSurface:
    catalog_id = body.get("catalogId")
    if not isinstance(catalog_id, str) or not catalog_id:
        problems.add(must_be("catalogId", "the id of a catalog", body.get("catalogId", ...)), "/catalogId")
    flag = body.get("sendDataModel")
    if flag is not None and not isinstance(flag, bool):
        problems.add(must_be("sendDataModel", "true or false", flag), "/sendDataModel")
    return CreateSurface(
        version, str(body.get("surfaceId")), str(catalog_id), body.get("theme"), flag is True
    )


def _components(body: dict[str, Any], version: str, problems: _Problems) -> UpdateComponents:
    components = body.get("components")
    if not isinstance(components, list):
        problems.add(must_be("components", "a list", body.get("components", ...)), "/components")
        components = []
    return UpdateComponents(version, str(body.get("surfaceId")), components)


def _data(body: dict[str, Any], version: str, problems: _Problems) -> UpdateDataModel:
    path = body.get("path", "")
    if not isinstance(path, str):
        problems.add(must_be("path", "text", path), "/path")
        path = ""
    return UpdateDataModel(version, str(body.get("surfaceId")), path, body.get("value", ABSENT))


def _delete(body: dict[str, Any], version: str, problems: _Problems) -> DeleteSurface:
    return DeleteSurface(version, str(body.get("surfaceId")))


_READERS: Final[Mapping[str, Callable[[dict[str, Any], str, _Problems], ServerMessage]]] = {
    "createSurface": _create,
    "updateComponents": _components,
    "updateDataModel": _data,
    "deleteSurface": _delete,
}

_BODY_KEYS: Final = {
    "createSurface": frozenset({"surfaceId", "catalogId", "theme", "sendDataModel"}),
    "updateComponents": frozenset({"surfaceId", "components"}),
    "updateDataModel": frozenset({"surfaceId", "path", "value"}),
    "deleteSurface": frozenset({"surfaceId"}),
}


def _short(value: object) -> str:
    # What holds others may be nested too deeply for str().
    return (
        "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else str(value)[:40]
    )


def _token(key: object) -> str:
    return _short(key).replace("~", "~0").replace("/", "~1")
