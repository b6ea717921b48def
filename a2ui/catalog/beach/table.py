"""Table: rows of a list, columns of their members."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from a2ui.binding.reading import ReadRecorder
from a2ui.binding.values import Binding
from a2ui.catalog.beach.cells import Cell, cell, look
from a2ui.catalog.beach.columns import Column, columns, columns_shape
from a2ui.catalog.beach.lists import items, items_shape
from a2ui.catalog.kinds import Template, text
from a2ui.components import BaseComponent
from a2ui.errors import LimitError
from a2ui.ops import Op
from a2ui.rendering.build import Build, always, told
from a2ui.rendering.place import OwnPart, Place, Placement, Render
from a2ui.rendering.placeholders import cut_list

if TYPE_CHECKING:
    from a2ui.rendering.lists import ListSlot

_EMPTY = "Nothing to show."
_CELLS_AN_INSTANCE = 4
"""So many cells of a row count like one more element."""


class Table(BaseComponent):
    """One row for each item of a list. Rows that are bound are items with an identity (D28): what changes in one is
    sent as one cell. Sorting belongs to the page (D43)."""

    name = "Table"
    properties = {"columns": columns, "rows": items, "caption": text, "empty": text}
    required = frozenset({"columns", "rows"})
    shapes = {"columns": columns_shape, "rows": items_shape}
    interactive = True

    def build(self, build: Build) -> None:
        heard = told(build)
        shown: tuple[Column, ...] = build.props.get("columns", ())
        rows = build.props.get("rows")
        body = _bound(build, rows, shown) if isinstance(rows, Binding) else _fixed(build, rows, shown)
        caption, empty = always(build.html("caption")), always(build.html("empty"))
        label = always(build.labelled())
        heads = [(column, always(build.escaped(column.label, build))) for column in shown]
        start, css, role = f'<div id="{build.id}', build.classes("a2-rows"), build.role()
        foot = f'<tfoot class="a2-table__empty"><tr><td colspan="{max(1, len(shown))}">'

        def render(scope: Any, context: str) -> str:
            words, name = caption(scope), label(scope)
            named = name or (f' aria-label="{words}"' if words else ' aria-label="Table"')
            title = f"<caption>{words}</caption>" if words else ""
            head = "".join([_heading(column, said(scope), at) for at, (column, said) in enumerate(heads)])
            return (
                f'{start}{context}" class="{css}"{role}{heard}>'
                f'<div class="a2-tablewrap" role="region" tabindex="0"{named}>'
                f'<table class="a2-table">{title}<thead><tr>{head}</tr></thead>{body(scope, context)}'
                f"{foot}{empty(scope) or _EMPTY}</td></tr></tfoot></table></div></div>"
            )

        build.done(render)


def _heading(column: Column, words: str, at: int) -> str:
    if not column.sortable:
        return f'<th scope="col"{look(column)}>{words}</th>'
    button = f'<button type="button" class="a2-sort" data-sort="{at}">{words}</button>'
    return f'<th scope="col"{look(column)} aria-sort="none">{button}</th>'


def _bound(build: Build, rows: Binding, shown: tuple[Column, ...]) -> Render:
    """The body of a table whose rows are in the data model."""
    view, place, count = build.view, build.place, max(1, len(shown))
    body = view.make_piece(place, "xr", Placement(tag="tbody", cells=count))
    body.component = place.component
    body.morphs = place.hearing.live
    template = Template("", rows.tokens, rows.absolute)

    def fill(row: Place) -> None:
        cells = [cell(build, column, at, _recorder(build, row.levels[-1])) for at, column in enumerate(shown)]
        for one in cells:
            view.register(OwnPart(row, partial(_changed, row.prefix, one)), one.recorder)
        row.weight = len(cells) // _CELLS_AN_INSTANCE
        row.morphs = body.morphs
        row.set_render(partial(_row, row.prefix, cells))

    placement = Placement(tag="tr", cells=count)
    _, inside = view.listing.make_slot(body, template, placement, fill)
    start = f'<tbody id="{body.prefix}'
    body.set_render(lambda scope, context: f'{start}{context}">{inside(scope, context)}</tbody>')
    # Looked up anew each time: while it is measured, a place renders in another way.
    return lambda scope, context: body.render(scope, context)  # noqa: PLW0108


def _recorder(build: Build, slot: ListSlot | None) -> ReadRecorder:
    # Of rows without an identity nobody could tell which one an answer belongs to.
    return ReadRecorder(build.component_id, build.report, slot, asks=slot is not None)


def _row(prefix: str, cells: list[Cell], item: Any, context: str) -> str:
    dom_id = prefix + context
    return f'<tr id="{dom_id}">{"".join([one.html(item, dom_id) for one in cells])}</tr>'


def _changed(prefix: str, one: Cell, item: Any, context: str) -> Op:
    return one.emit(item, prefix + context)


def _fixed(build: Build, rows: Any, shown: tuple[Column, ...]) -> Render:
    """The body of a table whose rows are in its definition or come from a function: sent whole when they change."""
    get = build.compiler.getter(rows, build)
    cells = [cell(build, column, at, _recorder(build, None)) for at, column in enumerate(shown)]
    for one in cells:
        for read, getter in one.recorder.reads.items():
            # What is relative is read in the row; only what stands in the data model can change by itself.
            if read[1]:
                build.reads.setdefault(read, getter)
    limit, count = build.options.limits.list_items, max(1, len(shown))
    build.weight += _weight(rows, limit, len(shown))

    def body(scope: Any, context: str) -> str:
        found = get(scope)
        listed: list[Any] = found if isinstance(found, list) else []
        dom_id = f"{build.id}{context}-xr"
        inside = "".join([_row(dom_id, cells, item, f"-i{at}") for at, item in enumerate(listed[:limit])])
        return f'<tbody id="{dom_id}">{inside}{_rest(build, dom_id, len(listed), limit, count)}</tbody>'

    return body


_CELL_CHARS = 40


def _weight(rows: Any, limit: int, columns: int) -> int:
    return _CELL_CHARS * columns * min(len(rows), limit) if isinstance(rows, list) else 0


def _rest(build: Build, dom_id: str, count: int, limit: int, cells: int) -> str:
    if count <= limit:
        return ""
    message = f"Only the first {limit} rows of a table are shown. Put rows into the data model and bind them."
    build.failed(LimitError(message, limit="list_items", allowed=limit, got=count))
    return cut_list(dom_id, limit, count, 0, listed=False, cells=cells)
