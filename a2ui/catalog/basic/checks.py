"""Checks of inputs and buttons: what fails now, and how it is said (rulebook section 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2ui.binding.values import FunctionCall
from a2ui.catalog.basic.icons import UI_ALERT
from a2ui.catalog.kinds import Check
from a2ui.functions.convert import truthy
from a2ui.rendering.build import Build, literal

Failing = Callable[[Any], list[str]]
"""Value of the scope -> the escaped messages of the checks that fail, in order."""

_ERROR_CHARS = 250
"""Markup round a message; its icon is most of it."""

_PATTERN_MESSAGE = "This is not in the expected form."


def failing(build: Build) -> Failing | None:
    """The failing checks of a component, None if it has none."""
    checks: tuple[Check, ...] = build.props.get("checks", ())
    limit = build.options.limits.text_chars
    compiled = [
        (build.compiler.getter(check.condition, build.sink), literal(check.message, limit))
        for check in checks
    ]
    pattern = build.props.get("validationRegexp")
    if pattern:
        compiled.append((_pattern(build, pattern), _PATTERN_MESSAGE))
    if not compiled:
        return None
    # All of them may be on the page, in every instance.
    build.weight += sum([_ERROR_CHARS + len(message) for _, message in compiled])
    return lambda scope: [message for condition, message in compiled if not truthy(condition(scope))]


def _pattern(build: Build, pattern: str) -> Callable[[Any], bool]:
    """`validationRegexp` as a check; an empty value passes (R28)."""
    value = build.props.get("value")
    get = build.compiler.getter(value, build.sink)
    matches = build.compiler.getter(FunctionCall("regex", {"value": value, "pattern": pattern}), build.sink)
    return lambda scope: get(scope) in (None, "") or truthy(matches(scope))


def errors(dom_id: str, messages: list[str], fails: Failing | None) -> str:
    """The messages under an input; `invalid` refers to them. Where there are checks the place for them is always
    there: screen readers tell what changes in a live region, and not that one appears."""
    if not messages and fails is None:
        return ""
    lines = "".join([f'<p class="a2-error">{UI_ALERT}<span>{message}</span></p>' for message in messages])
    return f'<div class="a2-errors" id="{dom_id}-xe" aria-live="polite">{lines}</div>'


def invalid(dom_id: str, messages: list[str]) -> str:
    """The attributes of a control whose checks fail."""
    return f' aria-invalid="true" aria-describedby="{dom_id}-xe"' if messages else ""


def named(label: str, aria: str, fallback: str) -> str:
    """The attributes for `accessibility`. A control that nobody gave a label is called what it is."""
    return aria if label or aria.startswith(' aria-label="') else f' aria-label="{fallback}"{aria}'
