"""TextField (rulebook 12, 16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import Const, Getter
from a2ui.binding.secrets import DOTS, is_secret, show
from a2ui.catalog.basic.checks import Annotated, Failure
from a2ui.catalog.kinds import checks, enum, literal_text, text
from a2ui.components import BaseInput
from a2ui.errors import InputError
from a2ui.functions.convert import to_number
from a2ui.rendering.build import LONG, Build, always
from a2ui.safety.text import clean_string, escape

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance

_ROWS = 3
_ESCAPED = 4
"""Most characters of markup that one character becomes, nearly."""
_CUT = "This text is too long for the field: only its first {:,} characters are here."


class TextField(BaseInput):
    """One line, several lines, a number, or a value that is never shown again."""

    name = "TextField"
    properties = {
        "label": text,
        "value": text,
        "variant": enum("shortText", "longText", "number", "obscured"),
        "validationRegexp": literal_text,
        "checks": checks,
    }
    required = frozenset({"label"})
    input_kind = "text"

    def build(self, build: Build) -> None:
        variant = build.props.get("variant", "shortText")
        kind = "number" if variant == "number" else "text"
        value = build.value("value")
        field = f'" class="{build.classes("a2-field")}"{bound_as(value, kind)}{build.role()}>'
        start, label, notes = f'<div id="{build.id}', always(build.html("label")), Annotated(build, "Text")
        control = _CONTROLS[variant]
        get = always(value)
        hint = always(build.html("placeholder")) if "placeholder" in build.props else None
        limit, spend, work = build.options.limits.text_chars, build.spend, build.compiler.work

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            failures, value = notes.failures(scope), get(scope)
            text, most = "" if variant == "obscured" else clean_string(show(value, work)), limit
            if len(text) > min(LONG, limit):
                if len(text) > LONG and not spend(_ESCAPED * min(len(text), limit)):
                    most = min(limit, LONG)
                if len(text) > most:
                    failures = [*failures, Failure(_CUT.format(most))]
                    text = text[:most]
            words = label(scope)
            about = notes.control(dom_id, words, failures, scope)
            attributes = f'id="{dom_id}-xi" class="a2-input"{about}'
            # Dots in the place of a hidden value come first.
            if hint is not None and (variant != "obscured" or value in (None, "")):
                attributes += f' placeholder="{hint(scope)}"'
            return (
                f'{start}{context}{field}<label class="a2-label" for="{dom_id}-xi">{words}</label>'
                f"{control(attributes, value, text)}{notes.below(dom_id, failures, scope)}</div>"
            )

        build.remember(render)

    def entered(self, value: Any, instance: Instance) -> Any:
        """Text as it is; a number field takes what is a decimal number, and the empty text for none."""
        if not isinstance(value, str):
            raise InputError("A text field takes text.")
        limit = instance.surface.view.options.limits.text_chars
        if len(value) > limit:
            raise InputError(
                f"A text has at most {limit} characters.", code="budget_exceeded", limit="text_chars"
            )
        if instance.component.props.get("variant") == "number":
            stripped = value.strip()
            if stripped and to_number(stripped) is None:
                raise InputError("This is not a number.")
            return stripped
        return value

    def is_obscured(self, props: Mapping[str, Any]) -> bool:
        return props.get("variant") == "obscured"


def bound_as(value: Getter | Const, kind: str) -> str:
    """The `data-in` of an input whose compiled value is bound; one that is not sends nothing."""
    return "" if isinstance(value, Const) else f' data-in="{kind}"'


def _short(attributes: str, value: Any, text: str) -> str:
    return f'<input {attributes} type="text" dir="auto" value="{escape(text)}">'


def _number(attributes: str, value: Any, text: str) -> str:
    return f'<input {attributes} type="number" step="any" inputmode="decimal" value="{escape(text)}">'


def _long(attributes: str, value: Any, text: str) -> str:
    # HTML drops one line break directly behind the tag: it gets one of its own to drop.
    return f'<textarea {attributes} rows="{_ROWS}" dir="auto">\n{escape(text)}</textarea>'


def _obscured(attributes: str, value: Any, text: str) -> str:
    known = f' placeholder="{DOTS}"' if is_secret(value) or value not in (None, "") else ""
    return f'<input {attributes} type="password" autocomplete="off" value=""{known}>'


_CONTROLS: Mapping[str, Callable[[str, Any, str], str]] = {
    "shortText": _short,
    "longText": _long,
    "number": _number,
    "obscured": _obscured,
}
