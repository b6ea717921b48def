"""ChoicePicker (rulebook 12, 16)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from a2ui.catalog.basic.checks import Annotated, has_error
from a2ui.catalog.basic.text_field import bound_as
from a2ui.catalog.icons import UI_CHECK
from a2ui.catalog.kinds import Option, checks, enum, literal_boolean, options, string_list, text
from a2ui.components import BaseInput
from a2ui.errors import InputError
from a2ui.rendering.build import LONG, Build, always
from a2ui.safety.text import clean_text, escape, to_text

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance

_OPTION_CHARS = 100
_USUAL_CHARS = 600
"""Characters of an option and its markup that are not worth counting."""
_UNMARKED = '<p class="a2-note" role="note">What is chosen is too much to be marked here.</p>'
_TOO_LONG = '<p class="a2-note" role="note">These options are too much text: they are not shown.</p>'
_FILTER = (
    '<input class="a2-input a2-filter" type="search" data-filter autocomplete="off" dir="auto" '
    'placeholder="Filter" aria-label="Filter">'
)


class ChoicePicker(BaseInput):
    """One or several of a list of options; the value is always a list of their values."""

    name = "ChoicePicker"
    properties = {
        "label": text,
        "options": options,
        "value": string_list,
        "variant": enum("multipleSelection", "mutuallyExclusive"),
        "displayStyle": enum("checkbox", "chips"),
        "filterable": literal_boolean,
        "checks": checks,
    }
    required = frozenset({"options", "value"})
    input_kind = "choices"

    def build(self, build: Build) -> None:
        props = build.props
        single, chips = _is_single(props), props.get("displayStyle") == "chips"
        start, notes = f'<fieldset id="{build.id}', Annotated(build, "Options")
        value = build.value("value")
        css, kind = build.classes("a2-field"), bound_as(value, "choice" if single else "choices")
        legend, role = always(build.html("label")), ' role="radiogroup"' if single else ""
        top = _FILTER if props.get("filterable") else ""
        around = '<div class="a2-chips">' if chips else '<div class="a2-choices">'
        row = "a2-chip" if chips else "a2-check"
        mark = UI_CHECK if chips else ""
        choices = [
            (option.value, _shown(option.value), always(build.escaped(option.label, build.recorder)))
            for option in props.get("options", ())
        ]
        build.weight += _OPTION_CHARS * len(choices)
        get = always(value)
        control = "radio" if single else "checkbox"
        component, allowed = build.place.component, build.options.limits.options
        offered = component.raw.get("options") if component is not None else None
        count = len(offered) if isinstance(offered, list) else 0
        more = f'<p class="a2-note" role="note">{allowed:,} of {count:,} shown</p>' if count > allowed else ""
        usual = LONG + _USUAL_CHARS * len(choices)
        known, work, spend = frozenset([value for value, _, _ in choices]), build.compiler.work, build.spend

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            failures = notes.failures(scope)
            chosen, note = get(scope), more
            # A list of any length, looked through for each picker that shows it.
            if type(chosen) is list and not work.argument(chosen):
                build.failed(work.refusal(self.name))
                chosen, note = None, more + _UNMARKED
            selected = known.intersection(_selected(chosen, single=single))
            words = legend(scope)
            title = f'<legend class="a2-label">{words}</legend>' if words else ""
            about = notes.control(dom_id, words, failures, scope)
            # A group of boxes cannot be invalid for a screen reader, each box can.
            bad = ' aria-invalid="true"' if not single and has_error(failures) else ""
            rows = "".join(
                [
                    f'<label class="{row}"><input type="{control}" name="{dom_id}" value="{shown}"'
                    f"{' checked' if value in selected else ''}{bad}><span>{mark}{label(scope)}</span></label>"
                    for value, shown, label in choices
                ]
            )
            if len(rows) > usual and not spend(len(rows) - usual):
                rows, note = "", _TOO_LONG
            return (
                f'{start}{context}" class="{css}"{kind}{role}{about}>{title}{top}'
                f"{around}{rows}</div>{note}{notes.below(dom_id, failures, scope)}</fieldset>"
            )

        build.remember(render)

    def entered(self, value: Any, instance: Instance) -> Any:
        """Values of options only. Values in the data that are no option stay when others are toggled."""
        props = instance.component.props
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InputError("A choice is a list of options.")
        offered: tuple[Option, ...] = props.get("options", ())
        sent = set(value)
        chosen = [option.value for option in offered if option.value in sent or _shown(option.value) in sent]
        known = {option.value for option in offered} | {_shown(option.value) for option in offered}
        if not known.issuperset(value):
            raise InputError("This is not one of the options.")
        if _is_single(props):
            if len(sent) > 1:
                raise InputError("Only one of the options can be chosen.")
            return chosen[:1]
        current = _selected(instance.evaluate(props.get("value")), single=False)
        return [*[item for item in current if item not in known], *chosen]


def _is_single(props: Mapping[str, Any]) -> bool:
    return bool(props.get("variant", "mutuallyExclusive") == "mutuallyExclusive")


def _shown(value: str) -> str:
    """The value as it stands in the page, where invisible characters have no place."""
    return escape(clean_text(value))


def _selected(value: Any, *, single: bool) -> list[str]:
    """The chosen values; one plain text counts as a list of it."""
    if isinstance(value, list):
        found = [to_text(item) for item in value if not isinstance(item, dict | list)]
    else:
        found = [value] if isinstance(value, str) and value else []
    return found[:1] if single else found
