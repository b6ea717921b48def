"""What a button does: the kind of its property, and the action itself once somebody clicks (rulebook section 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from a2ui.binding.values import Binding, FunctionCall, Value, parse
from a2ui.catalog.kinds import Where
from a2ui.state.pointer import parse_scoped

_SHORT: Final = 256


class EventAction(NamedTuple):
    """Sent to the agent. Context values are resolved on the click, one level deep."""

    name: str
    context: Mapping[str, Value]


class CallAction(NamedTuple):
    """Runs a function in the engine; nothing goes to the agent."""

    call: FunctionCall


def action(raw: Any, where: Where) -> Any:
    """EventAction or CallAction; the short form `{name, context}` is an event. The usual event stays as it is until
    somebody asks `action_of`: most buttons are never clicked."""
    if not isinstance(raw, dict):
        return where.wrong("an object with event or functionCall", raw)
    if _is_usual(raw):
        return raw
    if "event" in raw and "functionCall" in raw:
        where.add("`action` must have one of event and functionCall; got both.")
    if "event" in raw or "functionCall" not in raw:
        return _event(raw.get("event", raw), where)
    call = parse(raw["functionCall"], where.add, where.limits)
    if isinstance(call, FunctionCall):
        return CallAction(call)
    return where.wrong("a function call", raw["functionCall"], "/functionCall")


def action_of(props: Mapping[str, Any]) -> EventAction | CallAction | None:
    """The action among accepted properties, None where there is none."""
    found = props.get("action")
    if isinstance(found, dict):
        event = found["event"]
        context = {key: _value(value) for key, value in event.get("context", {}).items()}
        return EventAction(event["name"], context)
    return found if isinstance(found, EventAction | CallAction) else None


def _is_usual(raw: dict[str, Any]) -> bool:
    """Whether this is an event of which every value is plain, or a path that everybody can read."""
    event = raw.get("event")
    if type(event) is not dict or len(raw) > 1 or type(event.get("name")) is not str:
        return False
    context = event.get("context", _NOTHING)
    if type(context) is not dict:
        return False
    for value in context.values():
        kind = type(value)
        if kind is dict:
            path = value.get("path")
            if (
                type(path) is not str
                or len(path) > _SHORT
                or "~" in path
                or "proto" in path
                or "constr" in path
            ):
                return False
        elif kind is list:
            return False
    return True


_NOTHING: Final[dict[str, Any]] = {}


def _value(value: Any) -> Value:
    return Binding(*parse_scoped(value["path"])) if isinstance(value, dict) else value


def _event(event: Any, where: Where) -> Any:
    if not isinstance(event, dict) or not isinstance(event.get("name"), str):
        return where.wrong("an object with a name", event, "/event")
    context = event.get("context")
    if context is not None and not isinstance(context, dict):
        where.wrong("an object", context, "/event/context")
    report, limits = where.add, where.limits
    entries = context.items() if isinstance(context, dict) else ()
    values = {key: parse(value, report, limits) for key, value in entries}
    return EventAction(event["name"], values)
