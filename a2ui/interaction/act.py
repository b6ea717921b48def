"""A click, resolved from the server's own state (rulebook section 13)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from html import unescape
from typing import TYPE_CHECKING, Any

from a2ui.binding.secrets import show
from a2ui.binding.values import FunctionCall
from a2ui.catalog.actions import CallAction, EventAction, action_of
from a2ui.catalog.kinds import Accessibility, Check
from a2ui.errors import ActionError, ExpressionError
from a2ui.functions.effects import checked_url
from a2ui.functions.results import judged
from a2ui.interaction.locate import Instance
from a2ui.safety.text import clean_text

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


def act(instance: Instance | None, options: EngineOptions) -> ClientAction | OpenUrl | None:
    """What a click does. Raises ActionError; see `SurfaceSet.act`."""
    action = action_of(instance.component.props) if instance is not None else None
    if instance is None or action is None:
        raise ActionError("This button is gone: the card has changed since it was shown.")
    checks: tuple[Check, ...] = instance.component.props.get("checks", ())
    results = [judged(instance.evaluate(c.condition), c.message, results=c.results) for c in checks]
    failing = [result.message for result in results if not result.valid]
    if failing:
        raise ActionError("; ".join(filter(None, failing)) or "This button is disabled.", code="disabled")
    if isinstance(action, CallAction):
        return _run(action.call, instance, options)
    return _event(action, instance, options)


def _event(action: EventAction, instance: Instance, options: EngineOptions) -> ClientAction:
    now = options.clock().astimezone(UTC)
    surface = instance.surface
    said = {
        "name": action.name,
        "surfaceId": surface.id,
        "sourceComponentId": instance.component.id,
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z",
        "context": {key: instance.evaluate(value) for key, value in action.context.items()},
    }
    if action.user_message is not None:
        said["userMessage"] = show(instance.evaluate(action.user_message))
    message = {"version": surface.version, "action": said}
    return ClientAction(surface.owner, surface.id, message, _label(instance), instance.dom_id)


def _run(call: FunctionCall, instance: Instance, options: EngineOptions) -> OpenUrl | None:
    view = instance.surface.view
    function = view.compiler.function(call.name, call.catalog_id)
    if function is None:
        raise ActionError(
            f"There is no function {call.name[:40]!r}.", code="EXPRESSION_ERROR", expression=call.name[:100]
        )
    arguments = {name: instance.evaluate(value) for name, value in call.arguments.items()}
    try:
        if call.name == "openUrl":
            return OpenUrl(checked_url(_expanded(arguments, instance)))
        function.evaluate(arguments, options.env)
    except ExpressionError as error:
        raise ActionError(error.message, code=error.code, expression=error.expression) from error
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
