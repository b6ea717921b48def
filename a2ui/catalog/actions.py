"""What a button does: the kind of its property, and the action itself once somebody clicks (rulebook section 13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from a2ui.binding.parsing import parse
from a2ui.binding.values import Binding, FunctionCall, Value
from a2ui.catalog.accepting import AcceptContext
from a2ui.data.pointer import parse_scoped
from a2ui.errors import must_be

_SHORT: Final = 256


class EventAction(NamedTuple):
    """Sent to the agent. Context values are resolved on the click: in 0.9 one level deep, in 1.0 to their depth."""

    name: str
    context: Mapping[str, Value]
    user_message: Value = None
    """What the person is said to have said, told to the agent beside the context (1.0)."""


class CallAction(NamedTuple):
    """Runs a function in the engine; nothing goes to the agent."""

    call: FunctionCall


def action(raw: Any, where: AcceptContext) -> Any:
    """EventAction or CallAction; the short form `{name, context}` is an event. The usual event stays as it is until
    somebody asks `action_of`: most buttons are never clicked."""
    if not isinstance(raw, dict):
        return where.wrong("an object with event or functionCall", raw)
    if _is_usual(raw, where.notation.path):
        return raw
    if "event" in raw and "functionCall" in raw:
        where.add("`action` must have one of event and functionCall; got both.")
    if where.notation.marked:
        _tell_unknown(raw, _ACTION, "", where)
    if "event" in raw or "functionCall" not in raw:
        return _event(raw.get("event", raw), where, "event" if "event" in raw else "")
    call = parse(raw["functionCall"], where, trail=(None, "functionCall"))
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


def needs_of(action: EventAction | CallAction | None) -> Iterable[Value]:
    """The values that a click looks up: of the context and what the person is said to have said, or the arguments."""
    if isinstance(action, EventAction):
        return (*action.context.values(), action.user_message)
    return action.call.arguments.values() if action is not None else ()


def _is_usual(raw: dict[str, Any], path_key: str) -> bool:
    """Whether this is an event of which every value is plain, or a path and nothing else that everybody can read."""
    event = raw.get("event")
    if type(event) is not dict or len(raw) > 1 or type(event.get("name")) is not str:
        return False
    context = event.get("context", _NOTHING)
    if type(context) is not dict or len(event) > 1 + ("context" in event):
        return False
    for key, value in context.items():
        kind = type(value)
        if kind is dict:
            path = value.get(path_key)
            if (
                type(path) is not str
                or len(value) > 1
                or len(path) > _SHORT
                or "~" in path
                or "proto" in path
                or "constr" in path
            ):
                return False
        elif kind is list or key[:1] == "@":
            return False
    return True


_NOTHING: Final[dict[str, Any]] = {}
_ACTION: Final = frozenset({"event", "functionCall"})
_EVENT: Final = frozenset({"name", "context", "userMessage"})


def _value(value: Any) -> Value:
    """A value of a usual event: an object has one member, the path of a binding."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    (path,) = value.values()
    return Binding(*parse_scoped(path))


def _event(event: Any, where: AcceptContext, key: str) -> Any:
    trail = (None, key) if key else None
    if not isinstance(event, dict) or not isinstance(event.get("name"), str):
        return where.wrong("an object with a name", event, "/event")
    context = event.get("context")
    if context is not None and not isinstance(context, dict):
        where.wrong("an object", context, "/event/context")
        context = None
    if not where.notation.marked:
        entries = context.items() if context is not None else ()
        return EventAction(event["name"], {name: parse(value, where) for name, value in entries})
    _tell_unknown(event, _EVENT, f"/{key}" if key else "", where)
    said = event.get("userMessage")
    message = None if said is None else parse(said, where, trail=(trail, "userMessage"))
    if isinstance(message, dict):
        where.add(must_be("userMessage", "text", said), sub=f"/{key}/userMessage" if key else "/userMessage")
        message = None
    values: dict[str, Value] = {}
    for name, value in (context or {}).items():
        inside = ((trail, "context"), name)
        if name[:1] == "@" and name[1:2] != "@":
            where.refuse(f"Keys that start with @ are reserved; write @{name[:40]}.", inside)
        else:
            bare = name[1:] if name[:1] == "@" else name
            values[bare] = parse(value, where, data=True, trail=inside)
    return EventAction(event["name"], values, message)


def _tell_unknown(given: dict[str, Any], known: frozenset[str], sub: str, where: AcceptContext) -> None:
    """Members that an action of 1.0 does not have, such as those of its first drafts."""
    for name in sorted(given.keys() - known):
        if name != "metadata" and (known is not _ACTION or "event" in given or "functionCall" in given):
            where.add(f"An action has no member {name[:40]!r} here; it is ignored.", sub=f"{sub}/{name[:40]}")
