"""v0.9 and v0.9.1 to 1.0 (reading of 1.0, section 11)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from a2ui.data.data_model import DataModel
from a2ui.data.pointer import ABSENT, Tokens, parse, parse_scoped
from a2ui.data.values import pointer_text
from a2ui.errors import A2uiError
from a2ui.programs.conversion.notes import Notes
from a2ui.programs.conversion.reading import ENVELOPE, at, bare_binding, bare_call, call_of_09, escaped
from a2ui.protocol.catalog_ids import BASIC, BASIC_ALIASES, BEACH, BEACH_1_0, loose

BASIC_10: Final = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"

_BASIC_IDS: Final = frozenset(map(loose, (BASIC, *BASIC_ALIASES)))
_HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 6)}
_IN_TEXT: Final = re.compile(r"/?(?!(?:true|false|null)$)[A-Za-z_][A-Za-z0-9_]*(?:/[A-Za-z0-9_]+)*")
"""Paths that can stand in a formatString text."""


class Upward:
    """Converts the messages of one program, in order: what null means depends on what is in the data model."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._models: dict[str, DataModel] = {}

    def message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The message in 1.0."""
        return {
            key: "1.0" if key == "version" else self._body(key, value) if isinstance(value, dict) else value
            for key, value in message.items()
        }

    def edited(self, message: Mapping[str, Any]) -> None:
        """A person's edit that stands in the program (`programs.tree.run`)."""
        edit = message.get("@write")
        model = self._models.get(str(edit.get("surfaceId"))) if isinstance(edit, dict) else None
        if model is None or not isinstance(edit, dict):
            return
        try:
            tokens, absolute = parse_scoped(str(edit.get("path", "")))
            scope = () if absolute else parse(str(edit.get("scope", "")))
            model.write((*scope, *tokens), edit.get("value"))
        except A2uiError:
            # The engine refuses it as well, wherever the program is played.
            return

    def _body(self, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        surface_id = body.get("surfaceId")
        if verb == "createSurface":
            if isinstance(surface_id, str):
                self._models[surface_id] = DataModel()
            return self._create(body)
        if verb == "updateComponents" and isinstance(body.get("components"), list):
            rows = [
                self._component(row, f"/{verb}/components/{index}") if isinstance(row, dict) else row
                for index, row in enumerate(body["components"])
            ]
            return {**body, "components": rows}
        if verb == "updateDataModel":
            return self._data(body)
        if verb == "deleteSurface" and isinstance(surface_id, str):
            self._models.pop(surface_id, None)
        return dict(body)

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        found = {key: value for key, value in body.items() if key != "theme"}
        if body.get("theme"):
            self._notes.lost("/createSurface/theme", "A surface of 1.0 has no theme: branding is the host's.")
        catalog_id = body.get("catalogId")
        if isinstance(catalog_id, str) and loose(catalog_id) in _BASIC_IDS:
            found["catalogId"] = BASIC_10
        elif catalog_id == BEACH:
            found["catalogId"] = BEACH_1_0
        return found

    # ------------------------------------------------------------------ data

    def _data(self, body: dict[str, Any]) -> dict[str, Any]:
        path, value = body.get("path", ""), body.get("value", ABSENT)
        model = self._models.get(str(body.get("surfaceId")))
        try:
            tokens = parse(path)
            if model is not None:
                return self._tracked(body, model, tokens, value)
        except (A2uiError, TypeError):
            # Refused, whichever version it is said in.
            return dict(body)
        if value is None:
            self._notes.lost(
                "/updateDataModel/value", "null removes the key in 1.0; it cannot be stored there."
            )
        return {**body, "value": None if value is ABSENT else value}

    def _tracked(self, body: dict[str, Any], model: DataModel, tokens: Tokens, value: Any) -> dict[str, Any]:
        if value is ABSENT:
            model.delete(tokens)
            return {**body, "value": None}
        was_there = bool(tokens) and model.read(tokens) is not ABSENT
        model.write(tokens, value)
        if value is not None:
            return {**body, "value": value}
        if not tokens:
            self._notes.lost("/updateDataModel/value", "A data model cannot be null in 1.0; it becomes {}.")
            return dict(body)
        parent = model.read(tokens[:-1])
        if isinstance(parent, list) and was_there:
            return dict(body)
        self._notes.rewritten(
            "/updateDataModel",
            "null removes the key in 1.0: what is around it is written again, with the null inside, and replaces "
            "what people have changed there since.",
        )
        return {**body, "path": pointer_text(tokens[:-1]) or "/", "value": parent}

    # ------------------------------------------------------------------ components

    def _component(self, row: dict[str, Any], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in row.items():
            where = at(path, key)
            if key in ("id", "component"):
                found[key] = value
            elif key == "action" and isinstance(value, dict):
                found[key] = self._action(value)
            elif key == "checks" and isinstance(value, list):
                found["@checks"] = [self._check(rule) for rule in value]
            elif key in ENVELOPE:
                found[f"@{key}"] = self._property(value)
            else:
                found[key] = self._property(value, where)
        if row.get("component") == "Text":
            self._heading(found, path)
        elif row.get("component") == "TextField" and isinstance(row.get("validationRegexp"), str):
            self._pattern(found, path)
        return found

    def _property(self, value: Any, path: str = "") -> Any:
        """Of a component: nothing but a binding or a call can have their forms there, but for a template."""
        if isinstance(value, list):
            return [self._property(item, path) for item in value]
        if not isinstance(value, dict) or "componentId" in value:
            return value
        if (bound := bare_binding(value)) is not None:
            return {"@path": bound}
        if bare_call(value) is not None:
            return self._dynamic(value)
        return {
            f"@{key}" if key[:1] == "@" else key: self._property(item, path) for key, item in value.items()
        }

    def _dynamic(self, value: Any) -> Any:
        """What may be a plain object as well: arguments and what an event carries (rulebook 7.1, 13)."""
        if isinstance(value, list):
            return [self._dynamic(item) for item in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("path"), str):
            return {"@path": value["path"]}
        call = call_of_09(value)
        if call is None:
            return escaped(value)
        args = call.args
        if isinstance(args, dict):
            args = {name: self._dynamic(item) for name, item in args.items()}
        return {"@call": call.name} | ({} if args is None else {"args": args})

    def _action(self, action: dict[str, Any]) -> dict[str, Any]:
        if "functionCall" in action:
            return {key: self._dynamic(v) if key == "functionCall" else v for key, v in action.items()}
        event = action.get("event", action)
        if not isinstance(event, dict):
            return dict(action)
        context = event.get("context")
        if isinstance(context, dict):
            event = {**event, "context": {_member(key): self._dynamic(v) for key, v in context.items()}}
        return {**action, "event": event} if "event" in action else {"event": event}

    def _check(self, rule: Any) -> Any:
        if not isinstance(rule, dict):
            return rule
        if "condition" in rule:
            return {k: self._dynamic(v) if k == "condition" else v for k, v in rule.items()}
        if "call" in rule:
            # The short form of old prose (rulebook 21, point 25).
            message = {"message": rule["message"]} if "message" in rule else {}
            return {"condition": self._dynamic(rule), **message}
        return dict(rule)

    def _heading(self, found: dict[str, Any], path: str) -> None:
        """1.0 has no variants for headings: they are Markdown."""
        marks = _HEADINGS.get(str(found.get("variant")))
        if marks is None:
            return
        text = found.get("text")
        template = _template(text)
        if isinstance(text, str) and "\n" not in text:
            found["text"] = f"{marks} {text}" if text else text
        elif template is not None:
            found["text"] = {"@call": "formatString", "args": {"value": f"{marks} {template}"}}
        else:
            self._notes.rewritten(
                at(path, "variant"),
                f"{found['variant']} stays: this text cannot be written as a heading in Markdown. 1.0 names only "
                "caption and body; renderers that do not know the other show the text as body.",
            )
            return
        self._notes.rewritten(at(path, "variant"), f"{found['variant']} is said in Markdown.")
        del found["variant"]

    def _pattern(self, found: dict[str, Any], path: str) -> None:
        """`validationRegexp` is a check; it lets an empty field pass (rulebook 11)."""
        self._notes.rewritten(at(path, "validationRegexp"), "It is a check in 1.0.")
        pattern, value = found.pop("validationRegexp"), found.get("value")
        empty = {"@call": "not", "args": {"value": {"@call": "required", "args": {"value": value}}}}
        matches = {"@call": "regex", "args": {"value": value, "pattern": pattern}}
        checks = found.get("@checks")
        rule = {"condition": {"@call": "or", "args": {"values": [empty, matches]}}}
        found["@checks"] = [*checks, rule] if isinstance(checks, list) else [rule]


def _member(key: str) -> str:
    return f"@{key}" if key[:1] == "@" else key


def _template(text: Any) -> str | None:
    """The formatString text that shows the same, None where there is none on one line."""
    if not isinstance(text, dict):
        return None
    args = text.get("args")
    value = args.get("value") if isinstance(args, dict) else None
    if text.get("@call") == "formatString" and isinstance(value, str):
        return value if "\n" not in value else None
    inner = _expression(text)
    return None if inner is None else f"${{{inner}}}"


def _expression(value: Any) -> str | None:
    """A dynamic value in the grammar of formatString (rulebook 10), None where that cannot say it."""
    if isinstance(value, str):
        escaped_text = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"'{escaped_text}'"
    if isinstance(value, bool | int | float) or value is None:
        return json.dumps(value)
    if not isinstance(value, dict):
        return None
    path = value.get("@path")
    if isinstance(path, str):
        return path if _IN_TEXT.fullmatch(path) else None
    name, args = value.get("@call"), value.get("args", {})
    if not isinstance(name, str) or not name.isidentifier() or not isinstance(args, dict):
        return None
    said = {key: _expression(item) for key, item in args.items() if key.isidentifier()}
    if None in said.values() or len(said) < len(args):
        return None
    return f"{name}({', '.join(f'{key}: {item}' for key, item in said.items())})"
