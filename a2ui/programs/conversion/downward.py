"""The final form of 1.0 to v0.9.1 (reading of 1.0, section 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from a2ui.functions.signatures import SIGNATURES
from a2ui.programs.conversion.notes import Notes
from a2ui.programs.conversion.reading import at
from a2ui.programs.conversion.upward import BASIC_10
from a2ui.protocol.catalog_ids import BASIC, BEACH, BEACH_1_0

CHECK_MESSAGE: Final = "This value is not valid."

_LEFT_OUT: Final[Mapping[str, tuple[str, ...]]] = {
    "Video": ("posterUrl",),
    "TextField": ("placeholder",),
    "Slider": ("steps",),
}
_REMOTE: Final = ("callRendererFunction", "agentFunctionResponse")


class _Lost(Exception):
    """The value cannot be said, so nothing that holds it may be sent to an agent in its place."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Downward:
    """Converts the messages of one program: a surface has the one catalog that its creation names."""

    def __init__(self, notes: Notes, program: Sequence[Any]) -> None:
        self._notes = notes
        self._program = program
        self._defaults: dict[str, str] = {}

    def message(self, message: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages of v0.9.1 that do the same."""
        for verb in _REMOTE:
            if verb in message:
                self._notes.lost(f"/{verb}", "v0.9.1 has no functions across the wire.")
                return []
        done: list[dict[str, Any]] = []
        verbs = [verb for verb in message if verb != "version"]
        if len(verbs) != 1 or not isinstance(message[verbs[0]], dict):
            # Refused, whichever version it is said in.
            return [{**message, "version": "v0.9.1"}]
        verb, body = verbs[0], message[verbs[0]]
        if verb == "createSurface":
            done = self._create(body)
        elif verb == "updateComponents":
            done = [{verb: self._components(body, verb)}]
        elif verb == "updateDataModel" and "value" in body and body["value"] is None:
            done = [{verb: {key: value for key, value in body.items() if key != "value"}}]
        else:
            done = [{verb: dict(body)}]
        return [{"version": "v0.9.1", **one} for one in done]

    def _create(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        surface_id = body.get("surfaceId")
        catalog_id = body.get("catalogId")
        if catalog_id is None:
            catalog_id = self._first_catalog(surface_id) or BASIC_10
            self._notes.rewritten(
                "/createSurface", f"A surface of v0.9.1 needs a catalogId: {str(catalog_id)[:200]}."
            )
        self._defaults[str(surface_id)] = str(catalog_id)
        if "metadata" in body:
            self._notes.lost("/createSurface/metadata", "v0.9.1 has no metadata.")
        older = {BASIC_10: BASIC, BEACH_1_0: BEACH}
        kept = {"surfaceId": surface_id, "catalogId": older.get(str(catalog_id), catalog_id)}
        known = {"catalogId", "components", "dataModel", "metadata"}
        rest = {key: value for key, value in body.items() if key not in known}
        steps: list[dict[str, Any]] = [{"createSurface": {**rest, **kept}}]
        if "dataModel" in body:
            data = {"surfaceId": surface_id, "path": "/", "value": body["dataModel"]}
            steps.append({"updateDataModel": data})
        if "components" in body:
            rows = {"surfaceId": surface_id, "components": body["components"]}
            steps.append({"updateComponents": self._components(rows, "createSurface")})
        if len(steps) > 1:
            self._notes.rewritten("/createSurface", f"One message is {len(steps)} in v0.9.1, in this order.")
        return steps

    def _first_catalog(self, surface_id: Any) -> Any:
        for message in self._program[self._notes.message :]:
            bodies = message.values() if isinstance(message, dict) else ()
            for body in bodies:
                if not isinstance(body, dict) or body.get("surfaceId") != surface_id:
                    continue
                rows = body.get("components")
                for row in rows if isinstance(rows, list) else ():
                    if isinstance(row, dict) and isinstance(row.get("@catalogId"), str):
                        return row["@catalogId"]
        return None

    # ------------------------------------------------------------------ components

    def _components(self, body: dict[str, Any], verb: str) -> dict[str, Any]:
        rows = body.get("components")
        if not isinstance(rows, list):
            return dict(body)
        default = self._defaults.get(str(body.get("surfaceId")))
        return {
            **body,
            "components": [
                self._component(row, f"/{verb}/components/{index}", default) if isinstance(row, dict) else row
                for index, row in enumerate(rows)
            ],
        }

    def _component(self, row: dict[str, Any], path: str, default: str | None) -> dict[str, Any]:
        values = _Values(self._notes, default)
        left_out = _LEFT_OUT.get(str(row.get("component")), ())
        found: dict[str, Any] = {}
        for key, value in row.items():
            where = at(path, key)
            if key in left_out:
                self._notes.lost(where, f"{row['component']} of v0.9.1 has no {key}.")
            elif key == "@catalogId":
                if value != default:
                    self._notes.lost(where, "A surface of v0.9.1 has one catalog.")
            elif key == "@metadata":
                self._notes.lost(where, "v0.9.1 has no metadata.")
            elif key == "@accessibility" and isinstance(value, dict):
                found |= self._accessibility(value, where, values)
            elif key == "@checks" and isinstance(value, list):
                found["checks"] = [
                    self._check(rule, at(where, index), values) for index, rule in enumerate(value)
                ]
            elif key == "action" and isinstance(value, dict):
                found[key] = self._action(value, where, values)
            elif key in ("id", "component"):
                found[key] = value
            else:
                found[key.removeprefix("@")] = values.property(value, where)
        name = found.get("name")
        if (
            row.get("component") == "Icon"
            and isinstance(name, dict)
            and isinstance(name.get("svgPath"), dict)
        ):
            self._notes.lost(at(path, "name", "svgPath"), "The path of an icon cannot be bound in v0.9.1.")
            del found["name"]
        return found

    def _accessibility(self, given: dict[str, Any], path: str, values: _Values) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in given.items():
            if key in ("live", "hidden"):
                self._notes.lost(at(path, key), f"v0.9.1 has no accessibility.{key}.")
            else:
                found[key] = values.property(value, at(path, key))
        return {"accessibility": found} if found or not given else {}

    def _check(self, rule: Any, path: str, values: _Values) -> Any:
        if not isinstance(rule, dict):
            return rule
        found = {key: value for key, value in rule.items() if key != "condition"}
        if "condition" in rule:
            found = {"condition": values.dynamic(rule["condition"], at(path, "condition")), **found}
        if "message" not in found:
            self._notes.rewritten(path, "A check of v0.9.1 needs a message.")
            found["message"] = CHECK_MESSAGE
        return found

    def _action(self, action: dict[str, Any], path: str, values: _Values) -> dict[str, Any]:
        if "functionCall" in action:
            call = values.dynamic(action["functionCall"], at(path, "functionCall"))
            return {**action, "functionCall": call}
        event = action.get("event")
        if not isinstance(event, dict):
            return dict(action)
        done = {key: value for key, value in event.items() if key not in ("userMessage", "metadata")}
        for key in ("userMessage", "metadata"):
            if key in event:
                self._notes.lost(at(path, "event", key), f"An event of v0.9.1 has no {key}.")
        context = event.get("context")
        if isinstance(context, dict):
            where = at(path, "event", "context")
            done["context"] = {
                key[1:] if key[:2] == "@@" else key: values.dynamic(value, at(where, key))
                for key, value in context.items()
            }
        return {**action, "event": done}


class _Values:
    """The dynamic values of one component. What cannot be said is null, and noted: a wrong value is worse than none."""

    def __init__(self, notes: Notes, default: str | None) -> None:
        self._notes = notes
        self._default = default

    def property(self, value: Any, path: str) -> Any:
        """Of a component, where objects hold further properties."""
        if isinstance(value, list):
            return [self.property(item, at(path, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict) or "componentId" in value:
            return value
        if "@path" in value or "@call" in value:
            return self.dynamic(value, path)
        return {
            key[1:] if key[:2] == "@@" else key: self.property(item, at(path, key))
            for key, item in value.items()
        }

    def dynamic(self, value: Any, path: str) -> Any:
        """An argument, a condition or what an event carries."""
        try:
            return self._said(value, path)
        except _Lost as lost:
            self._notes.lost(path, f"{lost.text} It is null there.")
            return None

    def _said(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self.dynamic(item, at(path, index)) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if "@path" in value:
            return {"path": value["@path"]}
        if "@call" in value:
            return self._call(value, path)
        if isinstance(value.get("path"), str) or isinstance(value.get("call"), str):
            raise _Lost("Plain data with the key path or call is a binding or a call in v0.9.1.")
        return _plain(value)

    def _call(self, call: dict[str, Any], path: str) -> dict[str, Any]:
        name, args, catalog_id = call["@call"], call.get("args"), call.get("catalogId")
        if isinstance(name, str) and name[:1] == "@":
            raise _Lost(f"v0.9.1 has no {name[:40]}.")
        if catalog_id is not None and catalog_id != self._default:
            raise _Lost("A surface of v0.9.1 calls functions of its own catalog only.")
        found: dict[str, Any] = {"call": name}
        if isinstance(args, dict):
            where = at(path, "args")
            found["args"] = {key: self.dynamic(value, at(where, key)) for key, value in args.items()}
            text = args.get("value")
            if name == "formatString" and isinstance(text, str) and "@index" in text:
                self._notes.lost(
                    at(where, "value"), "v0.9.1 has no @index; the text cannot be read there and is empty."
                )
        elif args is not None:
            found["args"] = args
        return {**found, "returnType": _returned(name)}


def _returned(name: Any) -> str:
    """The type that v0.9.1 declares for what a function returns: a ValidationResult of 1.0 is true or false there."""
    signature = SIGNATURES.get(name) if isinstance(name, str) else None
    if signature is None:
        return "any"
    return "boolean" if signature.returns == "validationResult" else signature.returns


def _plain(value: Any) -> Any:
    """Plain data without the escapes of 1.0. Raises _Lost for what is dynamic further down: v0.9.1 looks at the first
    level only."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "@path" in value or "@call" in value:
        raise _Lost("v0.9.1 resolves nothing inside of a plain object.")
    return {key[1:] if key[:2] == "@@" else key: _plain(item) for key, item in value.items()}
