"""What stands in for a component that cannot be shown (rulebook 8)."""

from __future__ import annotations

from typing import Any

from a2ui.rendering.place import ANYWHERE, Place, Placement
from a2ui.safety.text import clean_text, clip, escape

_NAME_CHARS = 60
_NOT_SHOWN = "This part could not be shown."


def missing(place: Place) -> None:
    """A component that has not come yet: an unobtrusive skeleton, replaced in place when it comes."""
    head = f'<div id="{place.prefix}'

    def render(_: Any, context: str) -> str:
        return f'{head}{context}" class="a2-skel" aria-hidden="true"><i></i></div>'

    place.set_render(render)


def unknown(place: Place, type_name: str) -> None:
    """A component of a type that nobody knows; `type_name` is shown to developers only, "" hides it."""
    head = f'<div id="{place.prefix}'
    name = escape(clean_text(clip(type_name, _NAME_CHARS)[0]))
    note = f'<p class="b-error__code">{name}</p>' if name else ""

    def render(_: Any, context: str) -> str:
        return f'{head}{context}" class="a2-note">{_NOT_SHOWN}{note}</div>'

    place.set_render(render)


def not_shown(dom_id: str, placement: Placement) -> str:
    """A component whose own code has failed."""
    tag, role = ("span", "") if placement.inline else ("div", ' role="listitem"' if placement.listed else "")
    return f'<{tag} id="{dom_id}" class="a2-note"{role}>{_NOT_SHOWN}</{tag}>'


def too_much(place: Place, what: str) -> None:
    """Where the surface is cut because it has too many elements or levels; "" where a neighbour says so."""
    head = f'<div id="{place.prefix}'
    if not what:
        place.set_render(lambda _, context: f'{head}{context}" hidden></div>')
        return

    def render(_: Any, context: str) -> str:
        return f'{head}{context}" class="a2-note" role="note">The rest is not shown: too many {what}.</div>'

    place.set_render(render)


_OVERSIZED = "The rest is not shown: this is too much for one page."


def oversized(dom_id: str, placement: Placement = ANYWHERE) -> str:
    """Where the surface is cut because its HTML is too long."""
    if not placement.cells:
        return f'<div id="{dom_id}" class="a2-note" role="note">{_OVERSIZED}</div>'
    cell = f'<td colspan="{placement.cells}" class="a2-note" role="note">{_OVERSIZED}</td>'
    row = f"<tr>{cell}</tr>" if placement.tag == "tbody" else cell
    return f'<{placement.tag} id="{dom_id}">{row}</{placement.tag}>'


def inside_button(place: Place) -> None:
    """Something interactive inside of a button: browsers would tear the two apart."""
    head = f'<span id="{place.prefix}'

    def render(_: Any, context: str) -> str:
        return f'{head}{context}" class="a2-note">Not shown: a button cannot hold another control.</span>'

    place.set_render(render)


def cut_list(dom_id: str, shown: int, count: int, more: int, *, listed: bool, cells: int = 0) -> str:
    """The notice at the end of a list that is not shown to its end, or was not; its id is the list's with `-xm`.

    `more`: the number of items that a button offers. `listed`: inside a list for screen readers, whose children are
    items. `cells`: among the rows of a table with so many columns.
    """
    role = ' role="listitem"' if listed else ""
    words = f"{shown:,} of {count:,} shown" if shown < count else f"All {count:,} shown"
    button = (
        f'<button type="button" id="{dom_id}-xb" class="a2-btn a2-btn--s a2-btn--plain" data-more="{dom_id}">'
        f"Show {more:,} more</button>"
        if more
        else ""
    )
    said = f'<span role="status">{words}</span>{button}'
    if cells:
        cell = f'<td colspan="{cells}"><div class="a2-more">{said}</div></td>'
        return f'<tr id="{dom_id}-xm" class="a2-table__more">{cell}</tr>'
    return f'<div id="{dom_id}-xm" class="a2-more"{role}>{said}</div>'
