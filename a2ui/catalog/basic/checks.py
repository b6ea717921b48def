"""Checks of inputs and buttons: what fails now, and how it is said (rulebook section 11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from a2ui.binding.reading import Getter
from a2ui.binding.values import FunctionCall
from a2ui.catalog.icons import UI_ALERT, UI_INFO, UI_WARNING
from a2ui.catalog.kinds import Accessibility, Check
from a2ui.functions.pending import PENDING
from a2ui.functions.results import VALID, Severity, judged, to_truth
from a2ui.rendering.build import Build, always, literal, told


class Failure(NamedTuple):
    """What is said of one check that fails. `message` is escaped; `role` is that of its line, "" in 0.9."""

    message: str
    severity: Severity = "error"
    role: str = ""
    waits: bool = False
    """An agent is still at work on the check: it has not failed."""


WAITS: Final = Failure("Waiting for an answer\N{HORIZONTAL ELLIPSIS}", "info", waits=True)
"""Said in a button that waits for its agent."""

Failing = Callable[[Any], list[Failure]]
"""Value of the scope -> the checks that fail, in order."""

_ERROR_CHARS = 250
"""Markup round a message; its icon is most of it."""

_PATTERN = Check(None, "This is not in the expected form.")


class _Rule(NamedTuple):
    """A compiled check; `html` is its escaped message."""

    condition: Getter
    check: Check
    html: str


def failing(build: Build, *, waiting: bool = False) -> Failing | None:
    """The failing checks of a component, None if it has none; `waiting`: and, once, that an agent is at work on one."""
    checks: tuple[Check, ...] = build.props.get("checks", ())
    limit, getter, recorder = build.options.limits.text_chars, build.compiler.getter, build.recorder
    rules = [
        _Rule(getter(check.condition, recorder), check, literal(check.message, limit)) for check in checks
    ]
    pattern = build.props.get("validationRegexp")
    if pattern:
        rules.append(_Rule(_pattern(build, pattern), _PATTERN, _PATTERN.message))
    if not rules:
        return None
    # All of them may be on the page, in every instance.
    build.weight += sum([_ERROR_CHARS + len(rule.html) for rule in rules])

    def fails(scope: Any) -> list[Failure]:
        found = []
        for condition, check, html in rules:
            passed = condition(scope)
            if passed is True or passed is VALID:
                continue
            if passed is PENDING:
                if waiting and WAITS not in found:
                    found.append(WAITS)
                continue
            result = judged(passed, check.message, results=check.results)
            if not result.valid:
                message = html if result.message == check.message else literal(result.message, limit)
                role = _ROLES[result.severity] if check.results else ""
                found.append(Failure(message, result.severity, role))
        return found

    return fails


_ROLES: Final[Mapping[Severity, str]] = {
    "error": ' role="alert"', "warning": ' role="status"', "info": ' role="status"',
}  # fmt: skip
_ICONS: Final[Mapping[Severity, str]] = {"error": UI_ALERT, "warning": UI_WARNING, "info": UI_INFO}
"""So that it is not colour alone that tells them apart."""


def _pattern(build: Build, pattern: str) -> Callable[[Any], bool]:
    """`validationRegexp` as a check; an empty value passes (rulebook section 21, point 28)."""
    value = build.props.get("value")
    get = build.compiler.getter(value, build.recorder)
    matches = build.compiler.getter(
        FunctionCall("regex", {"value": value, "pattern": pattern}), build.recorder
    )
    return lambda scope: get(scope) in (None, "") or to_truth(matches(scope))


class Annotated:
    """What goes with the control of an input: name and description for screen readers, checks and their messages.

    Of an input it is the messages that are announced when they change; what is typed never is.
    """

    __slots__ = ("_description", "_fallback", "_given", "_label", "_live", "checked", "failures")

    def __init__(self, build: Build, fallback: str) -> None:
        fails = failing(build)
        self.checked = fails is not None
        self.failures: Failing = fails or _none
        """The checks that fail now."""
        self._fallback = f' aria-label="{fallback}"'
        given: Accessibility | None = build.props.get("accessibility")
        self._given = given is not None
        self._live = _POLITE
        if given is not None:
            self._label = always(build.escaped(given.label, build))
            self._description = always(build.escaped(given.description, build))
            self._live = told(build) or _POLITE

    def control(self, dom_id: str, words: str, failures: list[Failure], scope: Any) -> str:
        """The attributes of the control with the visible label `words`: one that nobody gave a label is called what it
        is. What is no error describes it only."""
        named = "" if words else self._fallback
        about = []
        if self._given:
            label = self._label(scope)
            if label:
                named = f' aria-label="{label}"'
            if self._description(scope):
                about.append(f"{dom_id}-xd")
        if failures:
            about.append(f"{dom_id}-xe")
            if has_error(failures):
                named += ' aria-invalid="true"'
        return f'{named} aria-describedby="{" ".join(about)}"' if about else named

    def below(self, dom_id: str, failures: list[Failure], scope: Any) -> str:
        """The messages under an input, and its description, which `control` refers to. Where there are checks the place
        for messages is always there: screen readers tell what changes in a live region, and not that one appears."""
        described = self._described(dom_id, scope) if self._given else ""
        if not failures:
            return (
                f'{described}<div class="a2-errors" id="{dom_id}-xe"{self._live}></div>'
                if self.checked
                else described
            )
        lines = "".join([_line(failure) for failure in failures])
        return f'{described}<div class="a2-errors" id="{dom_id}-xe"{self._live}>{lines}</div>'

    def _described(self, dom_id: str, scope: Any) -> str:
        text = self._description(scope)
        return f'<span id="{dom_id}-xd" hidden>{text}</span>' if text else ""


_POLITE: Final = ' aria-live="polite"'


def _none(_: Any) -> list[Failure]:
    return []


def _line(failure: Failure) -> str:
    look = "" if failure.severity == "error" else f" a2-error--{failure.severity}"
    return f'<p class="a2-error{look}"{failure.role}>{_ICONS[failure.severity]}<span>{failure.message}</span></p>'


def held(failures: list[Failure], dom_id: str, aria: str) -> tuple[str, str]:
    """What holds a button back: its attributes, and what is read in it. `aria` are those it has in any case.

    Errors are a title, since the fields that they are about say them. Nothing else on the page may say what is none.
    A button that waits keeps the focus: somebody may have just pressed it, and it is free again in a moment.
    """
    said = "; ".join([failure.message for failure in failures if failure.message])
    if any(failure.severity == "error" for failure in failures):
        return f' disabled title="{said}"{aria}', ""
    waits = all(failure.waits for failure in failures)
    state = ' aria-disabled="true"' if waits else " disabled"
    why = f'<span class="a2-why" id="{dom_id}-xw">{said}</span>'
    if " aria-label=" in aria:
        # It is no part of the name then.
        state += f' aria-describedby="{dom_id}-xw"'
    return state + aria, why


def has_error(failures: list[Failure]) -> bool:
    """Whether one of the checks that fail is an error, and not only a warning or a hint."""
    return any(failure.severity == "error" for failure in failures)
