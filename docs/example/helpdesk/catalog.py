"""A catalog of its own: the Basic Catalog of A2UI, and one component."""

from __future__ import annotations

from typing import Any, ClassVar

from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.kinds import string_list, text
from a2ui.components import BaseComponent
from a2ui.rendering.build import Build, always
from a2ui.safety.text import clean_text, escape, to_text


class Track(BaseComponent):
    """Steps in a row, of which some are done. What is written here is for whoever reads the code; models read
    ``description`` and ``told``."""

    name = "Track"
    description = "How far something is: steps in a row."
    properties: ClassVar = {"steps": string_list, "at": text}
    told: ClassVar = {"steps": "names of all steps, in order", "at": "the name of the one that is reached"}
    required = frozenset({"steps", "at"})

    def build(self, build: Build) -> None:
        steps, at = build.getter("steps"), build.getter("at")
        start, css = f'<ol id="{build.id}', build.classes("helpdesk-track")
        role, labels = build.role(), always(build.accessible(' aria-label="Progress"'))

        def render(scope: Any, context: str) -> str:
            names = [clean_text(to_text(name)) for name in steps(scope) or []]
            reached = names.index(now) if (now := to_text(at(scope))) in names else -1
            items = "".join(_item(name, number, reached) for number, name in enumerate(names))
            return f'{start}{context}" class="{css}"{role}{labels(scope)}>{items}</ol>'

        build.done(render)


def _item(name: str, number: int, reached: int) -> str:
    state = "done" if number < reached else "now" if number == reached else "todo"
    current = ' aria-current="step"' if state == "now" else ""
    return f'<li class="is-{state}"{current}>{escape(name)}</li>'


CATALOG = BASIC_CATALOG_1_0.extended("https://lumen.example/catalogs/helpdesk.json", components=[Track()])
