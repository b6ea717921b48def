"""A click, resolved from the server's own state (rulebook section 13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from html import unescape
from typing import TYPE_CHECKING, Any

from a2ui.binding.agent_calls import request
from a2ui.binding.calling import checked, failed
from a2ui.binding.secrets import show
from a2ui.binding.values import FunctionCall, Value
from a2ui.catalog.actions import CallAction, EventAction, action_of
from a2ui.catalog.failing import COMPONENT_FAILED
from a2ui.catalog.kinds import Accessibility, Check
from a2ui.errors import ActionError, ExpressionError
from a2ui.functions.effects import checked_url
from a2ui.functions.pending import PENDING
from a2ui.functions.registry import Function
from a2ui.functions.results import judged
from a2ui.interaction.locate import Instance, failing
from a2ui.safety.text import clean_text
from a2ui.surface.due import CallsDue, messages

if TYPE_CHECKING:
    from a2ui.options import EngineOptions

_LABEL_CHARS = 200
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class ClientAction:
    """What the agent is told about a click.

    `message` is the whole client-to-server message, `label` what the button is called, for the log, `target` its
    DOM id.
    """

    owner: str
    surface_id: str
    message: dict[str, Any]
    label: str
    target: str

    @property
    def name(self) -> str:
        """The name of the event."""
        return str(self.message["action"]["name"])


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """The browser is to open this http(s) address in a new tab, with `noopener,noreferrer`."""

    url: str


def act(instance: Instance | None, options: EngineOptions) -> ClientAction | OpenUrl | CallsDue | None:
    """What a click does. Raises ActionError; see `SurfaceSet.act`."""
    action = action_of(instance.component.props) if instance is not None else None
    if instance is None or action is None:
        raise ActionError("This button is gone: the card has changed since it was shown.")
    checks: tuple[Check, ...] = instance.component.props.get("checks", ())
    results = [judged(_known(instance, c.condition), c.message, results=c.results) for c in checks]
    failing = [result.message for result in results if not result.valid]
    if failing:
        raise ActionError("; ".join(filter(None, failing)) or "This button is disabled.", code="disabled")
    carried = _enclosed(instance)
    if isinstance(action, CallAction):
        return _run(action.call, instance, options)
    return _event(action, carried, instance, options)


def _enclosed(instance: Instance) -> Mapping[str, Any]:
    """See `BaseComponent.enclosed`. Raises ActionError."""
    kind = instance.component.type
    if kind is None:
        return {}
    try:
        found = kind.enclosed(instance)
        return found if kind.ours else {key: checked(value, instance.limits) for key, value in found.items()}
    except ActionError:
        raise
    except Exception as error:
        if kind.ours:
            raise
        failing(instance, error, "its event was put together")
        raise ActionError("This cannot be sent just now.", code=COMPONENT_FAILED) from None


def _event(
    action: EventAction, carried: Mapping[str, Any], instance: Instance, options: EngineOptions
) -> ClientAction:
    now = options.clock().astimezone(UTC)
    surface = instance.surface
    said = {
        "name": action.name,
        "surfaceId": surface.id,
        "sourceComponentId": instance.component.id,
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z",
        "context": {**{key: _needed(instance, value) for key, value in action.context.items()}, **carried},
    }
    if action.user_message is not None:
        said["userMessage"] = show(_needed(instance, action.user_message))
    message = {"version": surface.version, "action": said}
    return ClientAction(surface.owner, surface.id, message, _label(instance), instance.dom_id)


def _known(instance: Instance, value: Value) -> Any:
    """A value now. Raises ActionError where an agent is still at work on it."""
    found = instance.evaluate(value)
    if found is PENDING:
        raise ActionError(
            "An answer that this needs is not there yet. Try again in a moment.", code="pending"
        )
    return found


def _needed(instance: Instance, value: Value) -> Any:
    """The same. Raises ActionError also where an agent has failed to give it."""
    calls = instance.surface.calls
    if calls is None:
        return instance.evaluate(value)
    calls.take_failure()
    found = _known(instance, value)
    failure = calls.take_failure()
    if failure is not None:
        raise ActionError(failure[1], code=failure[0])
    return found


def _asks(
    function: Function, catalog_id: str, arguments: dict[str, Any], instance: Instance, options: EngineOptions
) -> CallsDue:
    """The call of a function that the agent runs. Raises ActionError."""
    surface = instance.surface
    calls = surface.calls
    if calls is None:
        raise ActionError(f"{function.name} cannot be asked from here.", code="EXPRESSION_ERROR")
    asked = request(function, catalog_id or calls.catalog_id, arguments, options.limits)
    if isinstance(asked, ExpressionError):
        raise ActionError(asked.message, code=asked.code)
    if asked.key in calls.clicked.values():
        raise ActionError("The agent is at work on this already.", code="pending")
    if calls.room < 1:
        problem = calls.too_many(function.name)
        raise ActionError(problem.message, code=problem.code)
    return CallsDue(surface.owner, surface.id, messages(surface, calls, [asked]), [], clicked=True)


def _run(call: FunctionCall, instance: Instance, options: EngineOptions) -> OpenUrl | CallsDue | None:
    view = instance.surface.view
    function = view.compiler.function(call.name, call.catalog_id)
    if function is None:
        raise ActionError(
            f"There is no function {call.name[:40]!r}.", code="EXPRESSION_ERROR", expression=call.name[:100]
        )
    if function.callers == "agentOnly":
        raise ActionError(f"Only the agent may call {call.name[:40]}.", code="EXPRESSION_ERROR")
    arguments = {name: _needed(instance, value) for name, value in call.arguments.items()}
    if function.remote:
        return _asks(function, call.catalog_id, arguments, instance, options)
    try:
        if call.name == "openUrl":
            return OpenUrl(checked_url(_expanded(arguments, instance)))
        function.evaluate(arguments, options.env)
    except ExpressionError as error:
        raise ActionError(error.message, code=error.code, expression=error.expression) from error
    except Exception as error:
        if function.ours:
            raise
        problem = failed(function, error)
        raise ActionError(problem.message, code=problem.code) from None
    return None


def _expanded(arguments: dict[str, Any], instance: Instance) -> dict[str, Any]:
    """`${...}` in a URL is read as formatString (rulebook section 21, point 24): no URL starts that way."""
    url = arguments.get("url")
    if isinstance(url, str) and "${" in url:
        call = FunctionCall("formatString", {"value": url})
        return {**arguments, "url": instance.evaluate(call)}
    return arguments


def _label(instance: Instance) -> str:
    """What the button is called: the label that is read out, or else its text as shown. A list has many buttons with
    one text, and only the label says which of them this was."""
    given: Accessibility | None = instance.component.props.get("accessibility")
    label = " ".join(clean_text(show(instance.evaluate(given.label))).split()) if given is not None else ""
    if label:
        return label[:_LABEL_CHARS]
    html = instance.place.raw(instance.scope, instance.context)
    return " ".join(unescape(_TAG.sub(" ", html)).split())[:_LABEL_CHARS]
