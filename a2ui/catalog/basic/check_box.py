"""CheckBox (rulebook 12, 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from a2ui.catalog.basic.checks import Annotated
from a2ui.catalog.basic.text_field import bound_as
from a2ui.catalog.kinds import boolean, checks, text
from a2ui.components import BaseInput
from a2ui.errors import InputError
from a2ui.functions.convert import to_boolean
from a2ui.functions.results import to_truth
from a2ui.rendering.build import Build, always

if TYPE_CHECKING:
    from a2ui.interaction.locate import Instance


class CheckBox(BaseInput):
    """One box to tick."""

    name = "CheckBox"
    properties = {"label": text, "value": boolean, "checks": checks}
    required = frozenset({"label", "value"})
    input_kind = "check"

    def build(self, build: Build) -> None:
        start, label, notes = f'<div id="{build.id}', always(build.html("label")), Annotated(build, "Tick")
        value = build.value("value")
        field = f'" class="{build.classes("a2-field")}"{bound_as(value, "check")}{build.role()}>'
        get = always(value)
        ticked = to_truth if build.marked else to_boolean

        def render(scope: Any, context: str) -> str:
            dom_id = f"{build.id}{context}"
            failures = notes.failures(scope)
            checked, words = " checked" if ticked(get(scope)) else "", label(scope)
            return (
                f'{start}{context}{field}<label class="a2-check"><input id="{dom_id}-xi" type="checkbox"'
                f"{checked}{notes.control(dom_id, words, failures, scope)}><span>{words}</span></label>"
                f"{notes.below(dom_id, failures, scope)}</div>"
            )

        build.remember(render)

    def entered(self, value: Any, instance: Instance) -> Any:
        if not isinstance(value, bool):
            raise InputError("A box is ticked or not.")
        return value
