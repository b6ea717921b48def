"""Results of checks: what a condition came to, and how that is said (section 6 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from a2ui.data.values import JSON
from a2ui.functions.convert import to_boolean, truthy
from a2ui.functions.pending import PENDING

Severity = Literal["error", "warning", "info"]

_SEVERITIES: Final[Mapping[Any, Severity]] = {"error": "error", "warning": "warning", "info": "info"}

GENERAL: Final = "This value is not valid."
"""Said where neither the result nor its rule has a text."""


class Judgement(NamedTuple):
    """Whether a check passes and, where it does not, what is said. What fails holds a button back whatever its
    severity, which is a matter of looks."""

    valid: bool
    message: str = ""
    severity: Severity = "error"


VALID: Final[JSON] = {"valid": True}
"""What the validators of 1.0 give where nothing is wrong: one for all of them, since values are never changed."""
PASSED: Final = Judgement(valid=True)


def judged(value: Any, message: str, *, results: bool) -> Judgement:
    """What the value of a condition means; `message` is that of its rule.

    `results`: an object is a ValidationResult `{valid, code?, message?, severity?}`, and without a boolean `valid` a
    failed one. Elsewhere, in 0.9, an object is as good as true. A condition that could not be evaluated is None. One
    that an agent is still at work on is not known to fail; a click on its button is held back (`interaction.act`).
    """
    if value is True or value is VALID or value is PENDING:
        return PASSED
    if not results:
        return PASSED if truthy(value) else Judgement(False, message)
    if type(value) is not dict:
        return PASSED if truthy(value) else Judgement(False, message or GENERAL)
    if value.get("valid") is True:
        return PASSED
    said, severity = value.get("message"), value.get("severity")
    if type(value.get("valid")) is not bool or not isinstance(said, str) or not said:
        said = message or GENERAL
    return Judgement(False, said, _SEVERITIES.get(severity, "error") if type(severity) is str else "error")


def holds(value: Any) -> bool:
    """The truth of a value where a condition is wanted: of a ValidationResult its `valid`, else as in 9.3 (4.4)."""
    if value is VALID:
        return True
    if type(value) is dict and type(value.get("valid")) is bool:
        return value["valid"] is True
    return truthy(value)


def to_truth(value: Any) -> bool:
    """The boolean property of a value: of a ValidationResult its `valid`, else as in 7.2 (4.4)."""
    if type(value) is dict and type(value.get("valid")) is bool:
        return value["valid"] is True
    return to_boolean(value)
