"""The native controls of a form's fields, with the constraints that browsers know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from a2ui.binding.secrets import show
from a2ui.catalog.beach.fields import Field
from a2ui.functions.results import to_truth
from a2ui.rendering.build import always
from a2ui.safety.text import clean_string, clean_text, escape, number_text

if TYPE_CHECKING:
    from a2ui.rendering.build import Build

Control = Callable[[Any, str, str, Any, str], str]
"""(scope, DOM id of the field, its label, its value, attributes) -> label and control."""

READ_AS: Final[Mapping[str, str]] = {
    "text": "text", "longText": "text", "email": "text", "number": "number", "date": "date", "select": "text",
    "checkbox": "check",
}  # fmt: skip
"""The `data-in` of each type of field."""

_INPUTS: Final[Mapping[str, str]] = {
    "text": 'type="text" dir="auto"',
    "email": 'type="email" autocomplete="email" dir="auto"',
    "number": 'type="number" inputmode="decimal"',
    "date": 'type="date"',
}
_REQUIRED = '<small aria-hidden="true"> (required)</small>'


def _label(dom_id: str, words: str, field: Field) -> str:
    return f'<label class="a2-label" for="{dom_id}-xi">{words}{_REQUIRED if field.required else ""}</label>'


def _line(build: Build, field: Field) -> Control:
    hint, own = always(build.escaped(field.placeholder, build)), _INPUTS[field.type]
    bounds = "".join(
        [
            f' {name}="{escape(value if isinstance(value, str) else number_text(value))}"'
            for name, value in (("min", field.min), ("max", field.max), ("step", _step(field)))
            if value is not None
        ]
    )

    def control(scope: Any, dom_id: str, words: str, value: Any, attributes: str) -> str:
        help_ = hint(scope)
        # Never none: by what is shown of it the style tells what is empty.
        placeholder = f' placeholder="{help_ or " "}"'
        shown = escape(clean_string(show(value, build.compiler.work)))
        return (
            f'{_label(dom_id, words, field)}<input id="{dom_id}-xi" class="a2-input" {own}{bounds}{placeholder}'
            f' value="{shown}"{attributes}>'
        )

    return control


def _step(field: Field) -> Any:
    """Without one, browsers would take whole numbers only."""
    return "any" if field.type == "number" and field.step is None else field.step


def _long(build: Build, field: Field) -> Control:
    hint = always(build.escaped(field.placeholder, build))

    def control(scope: Any, dom_id: str, words: str, value: Any, attributes: str) -> str:
        help_ = hint(scope)
        # Never none: by what is shown of it the style tells what is empty.
        placeholder = f' placeholder="{help_ or " "}"'
        shown = escape(clean_string(show(value, build.compiler.work)))
        # HTML drops one line break directly behind the tag: it gets one of its own to drop.
        return (
            f'{_label(dom_id, words, field)}<textarea id="{dom_id}-xi" class="a2-input" rows="4" dir="auto"'
            f"{placeholder}{attributes}>\n{shown}</textarea>"
        )

    return control


def _select(build: Build, field: Field) -> Control:
    options = [(one.value, always(build.escaped(one.label, build))) for one in field.options]

    def control(scope: Any, dom_id: str, words: str, value: Any, attributes: str) -> str:
        # Without a choice so far, or with one that there is not, nothing is chosen.
        known = any(value == option for option, _ in options)
        none = (
            ""
            if known and field.required
            else f'<option value=""{"" if known else " selected"}>Choose</option>'
        )
        rows = "".join(
            [
                f'<option value="{escape(clean_text(option))}"{" selected" if option == value else ""}>'
                f"{said(scope)}</option>"
                for option, said in options
            ]
        )
        label = _label(dom_id, words, field)
        return f'{label}<select id="{dom_id}-xi" class="a2-input"{attributes}>{none}{rows}</select>'

    return control


def _checkbox(build: Build, field: Field) -> Control:
    def control(scope: Any, dom_id: str, words: str, value: Any, attributes: str) -> str:
        checked = " checked" if to_truth(value) else ""
        required = _REQUIRED if field.required else ""
        return (
            f'<label class="a2-check"><input id="{dom_id}-xi" type="checkbox"{checked}{attributes}>'
            f"<span>{words}{required}</span></label>"
        )

    return control


CONTROLS: Final[Mapping[str, Callable[[Build, Field], Control]]] = {
    "text": _line, "email": _line, "number": _line, "date": _line, "longText": _long, "select": _select,
    "checkbox": _checkbox,
}  # fmt: skip
