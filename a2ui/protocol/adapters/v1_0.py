"""v1.0 (rulebook 20): renamed dynamic values, mixed catalogs, surfaces that come with components and data.

Not carried over: remote functions (refused), `@index` (an unknown function), and what `_LEFT_OUT` names, which is
reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from a2ui.catalog.registry import BUILT_IN, Catalog
from a2ui.catalog.schema.shapes import below
from a2ui.errors import must_be
from a2ui.protocol import catalog_ids
from a2ui.protocol.adapters.port import Host, Step, body_of, native, refusal

INVALID_FUNCTION_CALL = "INVALID_FUNCTION_CALL"

_VERBS: Final = ("createSurface", "updateComponents", "updateDataModel", "deleteSurface")
_REMOTE: Final = ("callRendererFunction", "agentFunctionResponse")
_CREATE_KEYS: Final = frozenset(
    {"surfaceId", "catalogId", "sendDataModel", "components", "dataModel", "metadata"}
)
_USER_MESSAGE: Final = "@userMessage"
"""Where an event's userMessage travels: a context key that no v1.0 agent can use, `@` being reserved."""

_LEFT_OUT: Final[Mapping[str, tuple[str, ...]]] = {
    "Video": ("posterUrl",),
    "TextField": ("placeholder",),
    "Slider": ("steps",),
}
_CHECK_MESSAGE: Final = "This value is not valid."
_BASIC_IDS: Final = frozenset(
    {
        "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json",
        "https://a2ui.org/specification/v0_10/catalogs/basic/catalog.json",
    }
)


class V10:
    """Translates v1.0."""

    version: ClassVar[str] = "v1.0"

    def translate(self, message: dict[str, Any], host: Host) -> list[Step]:
        """See `Adapter.translate`."""
        for verb in _REMOTE:
            if verb in message:
                body = message[verb]
                call_id = body.get("functionCallId") if isinstance(body, dict) else None
                raise refusal(
                    f"{verb}: this renderer runs no remote functions.",
                    code=INVALID_FUNCTION_CALL,
                    functionCallId=call_id,
                )
        verb, body = body_of(message, _VERBS)
        if verb == "createSurface":
            return self._create(body, host)
        if verb == "updateComponents":
            return [native(verb, self._components(body, host, _default_of(body, host)))]
        if verb == "updateDataModel":
            if "value" not in body:
                raise refusal("`value` is required; null deletes.", "/value")
            # null deletes in v1.0; in v0.9 a missing value does.
            return [native(verb, {key: v for key, v in body.items() if key != "value" or v is not None})]
        return [native(verb, body)]

    def outgoing(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """See `Adapter.outgoing`."""
        action = message.get("action")
        if not isinstance(action, dict) or _USER_MESSAGE not in action["context"]:
            return dict(message)
        context = dict(action["context"])
        return {
            **message,
            "action": {**action, "userMessage": context.pop(_USER_MESSAGE), "context": context},
        }

    def _create(self, body: dict[str, Any], host: Host) -> list[Step]:
        for key in body.keys() - _CREATE_KEYS:
            raise refusal(f"Unknown property {str(key)[:40]!r} in createSurface.", below("", key))
        catalog_id = body.get("catalogId", "")
        if not isinstance(catalog_id, str):
            raise refusal(must_be("catalogId", "text", catalog_id), "/catalogId")
        default = _catalog(catalog_id, host) if catalog_id else None
        known: dict[str, Any] = {key: body[key] for key in ("surfaceId", "sendDataModel") if key in body}
        # An id that nobody knows is passed on as it is, so that the refusal names it.
        named = default.id if default is not None else catalog_id
        steps = [native("createSurface", {**known, "catalogId": catalog_ids.mixed(named)})]
        surface_id = body.get("surfaceId")
        if "dataModel" in body:
            if not isinstance(body["dataModel"], dict):
                raise refusal(must_be("dataModel", "an object", body["dataModel"]), "/dataModel")
            steps.append(native("updateDataModel", {"surfaceId": surface_id, "value": body["dataModel"]}))
        if "components" in body:
            rows = {"surfaceId": surface_id, "components": body["components"]}
            steps.append(native("updateComponents", self._components(rows, host, default)))
        return steps

    def _components(self, body: dict[str, Any], host: Host, default: Catalog | None) -> dict[str, Any]:
        rows = body.get("components")
        if not isinstance(rows, list):
            return body
        translation = _Translation(host, default, str(body.get("surfaceId")))
        return {
            **body,
            "components": [translation.component(row, f"/components/{i}") for i, row in enumerate(rows)],
        }


def _catalog(catalog_id: str, host: Host) -> Catalog | None:
    return host.catalogs.find(catalog_ids.BASIC if catalog_id in _BASIC_IDS else catalog_id)


def _default_of(body: Mapping[str, Any], host: Host) -> Catalog | None:
    surface = host.surface(body.get("surfaceId"))
    return None if surface is None else host.catalogs.find(catalog_ids.unmixed(surface.catalog_id))


class _Translation:
    """The components of one message."""

    def __init__(self, host: Host, default: Catalog | None, surface_id: str) -> None:
        self._host = host
        self._default = default
        self._surface_id = surface_id

    def component(self, row: Any, path: str) -> Any:
        if not isinstance(row, dict):
            return row
        name = row.get("component")
        if name == "Surface":
            raise refusal("Surface is a reserved type: it is the surface itself.", below(path, "component"))
        left_out = _LEFT_OUT.get(name, ()) if isinstance(name, str) else ()
        found: dict[str, Any] = {}
        for key, value in row.items():
            where = below(path, key)
            if key in left_out:
                self._host.left_out(self._surface_id, f"{key} of {name}", where)
            elif key == "component" and isinstance(value, str):
                found[key] = self._named(value, row.get("catalogId"), where)
            elif key == "action" and isinstance(value, dict):
                found[key] = self._action(value, where)
            elif key == "checks" and isinstance(value, list):
                found[key] = [self._rule(rule, below(where, i)) for i, rule in enumerate(value)]
            elif key == "accessibility" and isinstance(value, dict):
                found[key] = self._accessibility(value, where)
            elif key not in ("catalogId", "metadata"):
                found[key] = self._value(value, where)
        return found

    def _named(self, name: str, catalog_id: Any, path: str) -> str:
        """The name under which the surface knows a component or function: qualified if it is of another catalog."""
        if catalog_id is None:
            return name
        catalog = _catalog(catalog_id, self._host) if isinstance(catalog_id, str) else None
        if catalog is None:
            raise refusal(
                f"Catalog not found: {str(catalog_id)[:200]}",
                path.rpartition("/")[0] + "/catalogId",
                "CATALOG_NOT_FOUND",
            )
        if catalog is self._default or name in BUILT_IN:
            return name
        return catalog_ids.qualified(catalog.id, name)

    def _action(self, action: dict[str, Any], path: str) -> dict[str, Any]:
        event = action.get("event")
        found = {key: value for key, value in action.items() if key != "metadata"}
        if not isinstance(event, dict):
            return {key: self._value(value, below(path, key)) for key, value in found.items()}
        context = event.get("context", {})
        if isinstance(context, dict):
            context = {
                self._key(key, path): self._value(value, f"{path}/event/context")
                for key, value in context.items()
            }
            if event.get("userMessage") is not None:
                context[_USER_MESSAGE] = self._value(event["userMessage"], f"{path}/event/userMessage")
        rest = {key: value for key, value in event.items() if key not in ("userMessage", "metadata")}
        return {**found, "event": {**rest, "context": context}}

    def _rule(self, rule: Any, path: str) -> Any:
        """A check; its message is optional in v1.0."""
        found = self._value(rule, path)
        return {"message": _CHECK_MESSAGE, **found} if isinstance(found, dict) else found

    def _accessibility(self, given: dict[str, Any], path: str) -> dict[str, Any]:
        for key in ("live", "hidden"):
            if key in given:
                self._host.left_out(self._surface_id, f"accessibility.{key}", below(path, key))
        return {
            key: self._value(v, below(path, key)) for key, v in given.items() if key not in ("live", "hidden")
        }

    def _value(self, value: Any, path: str) -> Any:
        """`@path` and `@call` to the keys of v0.9, in every place; `@@x` to `@x`."""
        if isinstance(value, list):
            return [self._value(item, below(path, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if "@path" in value:
            return {"path": value["@path"]}
        name = value.get("@call", value.get("call"))
        if isinstance(name, str):
            call: dict[str, Any] = {"call": self._named(name, value.get("catalogId"), f"{path}/call")}
            if "args" in value:
                call["args"] = self._value(value["args"], f"{path}/args")
            return call | ({"message": value["message"]} if "message" in value else {})
        return {self._key(key, path): self._value(item, below(path, key)) for key, item in value.items()}

    def _key(self, key: str, path: str) -> str:
        if key.startswith("@@"):
            return key[1:]
        if key.startswith("@"):
            raise refusal(f"Keys that start with @ are reserved; write @{key[:40]}.", below(path, key))
        return key
