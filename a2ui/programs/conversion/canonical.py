"""Every form of 1.0 to its final one: bare keys of the candidate to keys with ``@`` (reading of 1.0, 1 and 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a2ui.programs.conversion.notes import Notes
from a2ui.programs.conversion.reading import (
    ENVELOPE,
    Call,
    at,
    bare_binding,
    bare_call,
    is_free,
    speaks_with_at,
)
from a2ui.programs.conversion.upward import BASIC_10
from a2ui.protocol.catalog_ids import loose

_ALIASES: Final = frozenset(
    map(
        loose,
        (
            BASIC_10,
            "https://a2ui.org/specification/v0_10/catalogs/basic/catalog.json",
            "https://a2ui.org/catalogs/basic/v1/catalog.json",
        ),
    )
)


def canonical_id(catalog_id: Any) -> Any:
    """The Basic Catalog of 1.0 under its own id; any other id as it is."""
    return BASIC_10 if isinstance(catalog_id, str) and loose(catalog_id) in _ALIASES else catalog_id


class Canonical:
    """Rewrites messages; each stands alone."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._bare = False
        """Whether bare keys are dynamic where plain objects may stand."""

    def message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The message as the final 1.0 writes it."""
        self._bare = not speaks_with_at(message)
        return {
            key: "1.0" if key == "version" else self._body(key, value) if isinstance(value, dict) else value
            for key, value in message.items()
        }

    def _body(self, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        found = dict(body)
        if verb == "createSurface" and "catalogId" in body:
            found["catalogId"] = canonical_id(body["catalogId"])
        if verb in ("createSurface", "updateComponents") and isinstance(body.get("components"), list):
            found["components"] = [
                self._component(row, f"/{verb}/components/{index}") if isinstance(row, dict) else row
                for index, row in enumerate(body["components"])
            ]
        if verb == "callRendererFunction" and isinstance(body.get("callFunction"), dict):
            found["callFunction"] = self._dynamic(body["callFunction"], free=False)
        return found

    def _component(self, row: dict[str, Any], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in row.items():
            if key in ENVELOPE and f"@{key}" in row:
                self._notes.lost(at(path, key), f"@{key} counts; the bare key beside it is dropped.")
                continue
            name = key.removeprefix("@")
            if name in ENVELOPE:
                found[f"@{name}"] = self._envelope(name, value)
            elif key == "action" and isinstance(value, dict):
                found[key] = self._action(value)
            else:
                found[key] = value if key in ("id", "component") else self._property(value)
        return found

    def _envelope(self, name: str, value: Any) -> Any:
        if name == "catalogId":
            return canonical_id(value)
        if name == "checks" and isinstance(value, list):
            return [self._check(rule) for rule in value]
        return value if name == "metadata" else self._property(value)

    def _property(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._property(item) for item in value]
        if not isinstance(value, dict) or "componentId" in value:
            return value
        if _is_directive(value) or bare_binding(value) is not None or bare_call(value) is not None:
            return self._dynamic(value, free=False)
        return {key: self._property(item) for key, item in value.items()}

    def _dynamic(self, value: Any, *, free: bool) -> Any:
        """A dynamic value; `free` where a plain object may stand as well."""
        if isinstance(value, list):
            return [self._dynamic(item, free=free) for item in value]
        if not isinstance(value, dict):
            return value
        if "@path" in value:
            return dict(value)
        call: Call | None = None
        if isinstance(value.get("@call"), str):
            call = Call(value["@call"], value.get("args"), value.get("catalogId"))
        elif self._bare or not free:
            if (bound := bare_binding(value)) is not None:
                return {"@path": bound}
            call = bare_call(value)
        if call is not None:
            return self._call(call)
        # In a message of bare keys, nothing is escaped that is written as plain data; both read the same.
        return {key: self._dynamic(item, free=True) for key, item in value.items()}

    def _call(self, call: Call) -> dict[str, Any]:
        found: dict[str, Any] = {"@call": call.name}
        if isinstance(call.args, dict):
            found["args"] = {
                name: self._dynamic(value, free=is_free(call.name, name)) for name, value in call.args.items()
            }
        elif call.args is not None:
            found["args"] = call.args
        if call.catalog_id is not None:
            found["catalogId"] = canonical_id(call.catalog_id)
        return found

    def _action(self, action: dict[str, Any]) -> dict[str, Any]:
        if "functionCall" in action:
            return {k: self._dynamic(v, free=False) if k == "functionCall" else v for k, v in action.items()}
        event = action.get("event")
        if not isinstance(event, dict):
            return dict(action)
        done = dict(event)
        if isinstance(event.get("context"), dict):
            done["context"] = {k: self._dynamic(v, free=True) for k, v in event["context"].items()}
        if "userMessage" in event:
            done["userMessage"] = self._dynamic(event["userMessage"], free=False)
        return {**action, "event": done}

    def _check(self, rule: Any) -> Any:
        if not isinstance(rule, dict):
            return rule
        if "condition" in rule:
            return {k: self._dynamic(v, free=False) if k == "condition" else v for k, v in rule.items()}
        name = rule.get("@call", rule.get("call"))
        if not isinstance(name, str):
            return dict(rule)
        message = {"message": rule["message"]} if "message" in rule else {}
        condition = self._call(Call(name, rule.get("args"), rule.get("catalogId")))
        return {"condition": condition, **message}


def _is_directive(value: Mapping[str, Any]) -> bool:
    return "@path" in value or "@call" in value
