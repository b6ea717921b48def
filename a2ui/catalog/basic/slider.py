"""Slider (rulebook 12, 16)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2ui.catalog.basic.checks import Annotated
from a2ui.catalog.basic.text_field import bound_as
from a2ui.catalog.kinds import checks, literal_number, number, text
from a2ui.components import BaseInput
from a2ui.errors import InputError
from a2ui.functions.convert import to_number
from a2ui.rendering.build import Build, always
from a2ui.safety.text import number_text

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance

_DEFAULT_SPAN = 100
_LARGEST = sys.float_info.max
_WHOLE_STEPS_FROM = 10


class Slider(BaseInput):
    """A number between two ends; a value outside is shown at the nearer end and not rewritten."""

    name = "Slider"
    properties = {
        "label": text,
        "min": literal_number,
        "max": literal_number,
        "value": number,
        "checks": checks,
    }
    required = frozenset({"max", "value"})
    input_kind = "slider"

    def build(self, build: Build) -> None:
        low, high = _ends(build.props)
        steps = build.props.get("steps")
        low_text, high_text = number_text(low), number_text(high)
        start, label, notes = f'<div id="{build.id}', always(build.html("label")), Annotated(build, "Value")
        value = build.value("value")
        field = f'" class="{build.classes("a2-field a2-slider")}"{bound_as(value, "slider")}{build.role()}>'
        ends = f'<div class="a2-slider__ends" aria-hidden="true"><span>{low_text}</span><span>{high_text}</span></div>'
        get = always(value)

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            failures = notes.failures(scope)
            value = min(high, max(low, _number(get(scope), low)))
            shown, step, words = number_text(value), _step(low, high, value, steps), label(scope)
            about = notes.control(dom_id, words, failures, scope)
            return (
                f'{start}{context}{field}<div class="a2-slider__top"><label class="a2-label" for="{dom_id}-xi">'
                f'{words}</label><output id="{dom_id}-xo" for="{dom_id}-xi" aria-hidden="true">{shown}</output></div>'
                f'<input id="{dom_id}-xi" type="range" min="{low_text}" max="{high_text}" step="{step}"'
                f' value="{shown}"{about}>{ends}{notes.below(dom_id, failures, scope)}</div>'
            )

        build.remember(render)

    def entered(self, value: Any, instance: Instance) -> Any:
        number = to_number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        low, high = _ends(instance.component.props)
        if number is None or not low <= number <= high:
            raise InputError(f"A slider takes a number from {number_text(low)} to {number_text(high)}.")
        number = _snapped(number, low, high, instance.component.props.get("steps"))
        return int(number) if number == int(number) else number


def _snapped(value: float, low: float, high: float, steps: int | None) -> float:
    """The nearest division, where there are any (8)."""
    if steps is None or high == low:
        return value
    size = (high - low) / steps
    return min(high, low + round((value - low) / size) * size)


def _ends(props: Mapping[str, Any]) -> tuple[float, float]:
    low = _finite(props.get("min"), 0)
    return low, max(low, _finite(props.get("max"), low + _DEFAULT_SPAN))


def _finite(value: Any, default: float) -> float:
    """An end as a number that a double can hold: JSON may write larger ones."""
    found = to_number(value)
    return default if found is None or not -_LARGEST <= found <= _LARGEST else found


def _number(value: Any, absent: float) -> float:
    """7.2: what is no number counts as 0, nothing as the lower end."""
    if value is None:
        return absent
    found = to_number(value)
    return 0 if found is None else found


def _step(low: float, high: float, value: float, steps: int | None) -> str:
    """The size of a division. Without them whole steps where everything is whole and there are enough of them, any
    value elsewhere."""
    if steps is not None and high > low:
        return number_text((high - low) / steps)
    whole = all(number == int(number) for number in (low, high, value))
    return "1" if whole and high - low >= _WHOLE_STEPS_FROM else "any"
