"""Tables: each type of column, what is sent of a change, what is said where there is nothing or too much."""

from __future__ import annotations

import re

import pytest

from a2ui import Limits
from tests.a2ui.own import BEACH_CATALOG, engine, html, made, only, ops
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import call, components, create, data, path, row

NAME = {"label": "Name", "value": path("name"), "rowHeader": True, "sortable": True}
PRICE = {"label": "Price", "value": path("price"), "type": "currency", "currency": "EUR", "sortable": True}
SEATS = {"label": "Seats", "value": path("seats"), "type": "number"}
FLIGHTS = {
    "flights": [
        {"id": "a", "name": "BA 1", "price": 120.5, "seats": 1234},
        {"id": "b", "name": "NV 2", "price": 90, "seats": None},
    ]
}


def table(*columns, rows=None, **more):
    return row(
        "root", "Table", columns=list(columns), rows=path("/flights") if rows is None else rows, **more
    )


def cells(markup):
    return re.findall(r"<t[dh] id=[^>]*>(.*?)</t[dh]>", markup)


def cell(kind, value, *, locale="en-US", **more):
    column = {"label": "C", "value": path("v"), "type": kind, **more}
    return cells(
        html(table(column), model={"flights": [{"v": value, "u": "https://a.example/"}]}, locale=locale)
    )


@pytest.mark.parametrize("version", ["0.9", "1.0"])
def test_a_table_has_headings_rows_and_a_caption(version):
    page = html(table(NAME, PRICE, SEATS, caption="Fares"), model=FLIGHTS, version=version)

    assert '<caption>Fares</caption><thead><tr><th scope="col" aria-sort="none">' in page
    assert 'role="region" tabindex="0" aria-label="Fares"' in page
    assert re.search(r'<th id="\S+" scope="row">BA 1</th>', page)
    assert cells(page) == ["BA 1", "€120.50", "1,234", "NV 2", "€90.00", ""]
    assert page.count('class="is-num"') == 2 * 3
    assert 'data-v="120.5"' in page


@pytest.mark.parametrize(
    ("kind", "value", "more", "shown"),
    [
        ("text", "a **b** <i>", {}, "a **b** &lt;i&gt;"),
        ("text", True, {}, "true"),
        ("text", {"a": 1}, {}, "{&quot;a&quot;:1}"),
        ("number", 1234.5, {}, "1,234.5"),
        ("number", "12.30", {"decimals": 1}, "12.3"),
        ("number", "many", {}, "many"),
        ("number", True, {}, "true"),
        ("currency", 5, {"currency": "JPY"}, "¥5"),
        ("date", "2026-08-05", {}, "Aug 5, 2026"),
        ("date", "2026-08-05T09:30:00", {"format": "HH:mm"}, "09:30"),
        ("date", "soon", {}, "soon"),
        ("boolean", False, {}, '<span class="a2-no">No</span>'),
        ("boolean", None, {}, ""),
        (
            "status",
            "late",
            {"tones": {"late": "critical"}},
            '<span class="a2-status a2-status--critical">late</span>',
        ),
        ("status", "x", {}, '<span class="a2-status a2-status--neutral">x</span>'),
        ("status", "", {}, ""),
        ("link", "javascript:x()", {}, "javascript:x()"),
    ],
)
def test_each_type_is_written_in_its_way(kind, value, more, shown):
    assert cell(kind, value, **more) == [shown]


def test_what_a_locale_does_otherwise():
    assert cell("number", 1234.5, locale="de-DE") == ["1.234,5"]
    assert cell("date", "2026-08-05", locale="de-DE") == ["05.08.2026"]


def test_yes_is_said_in_words_and_a_link_leads_where_its_column_says():
    assert cell("boolean", 1)[0].endswith("Yes</span>")
    (link,) = cell("link", "Here", url=path("u"))
    assert link == '<a href="https://a.example/" rel="noopener noreferrer nofollow" target="_blank">Here</a>'


def test_values_are_bound_called_and_looked_up_from_the_root():
    columns = [
        {"label": path("/label"), "value": call("formatString", value="${name} at ${/desk}")},
        {"label": "Of", "value": path("/desk")},
    ]
    surfaces = made(table(*columns), model={**FLIGHTS, "label": "Flight", "desk": "7"})
    surfaces.flush()
    assert cells(only(surfaces).html()) == ["BA 1 at 7", "7", "NV 2 at 7", "7"]

    surfaces.apply(data("8", "/desk"))
    sent = [["t", f"a1-0-xr-k{key}-x{at}"] for key in "ab" for at in (0, 1)]
    assert sorted(op[:2] for op in ops(surfaces)) == sent
    assert cells(only(surfaces).html()) == ["BA 1 at 8", "8", "NV 2 at 8", "8"]


def test_one_changed_cell_is_one_cell_and_one_row_is_one_row():
    surfaces = made(table(NAME, PRICE, SEATS), model=FLIGHTS)
    surfaces.flush()

    surfaces.apply(data(7, "/flights/1/seats"))
    assert ops(surfaces) == [["t", "a1-0-xr-kb-x2", "7"]]
    surfaces.apply(data(80, "/flights/1/price"))
    assert ops(surfaces) == [
        ["r", "a1-0-xr-kb-x1", '<td id="a1-0-xr-kb-x1" class="is-num" data-v="80">€80.00</td>']
    ]
    surfaces.apply(data({"id": "c", "name": "New"}, "/flights/2"))
    ((letter, after, where, markup),) = ops(surfaces)
    assert (letter, after, where) == ("i", "a1-0-xr-kb", "afterend")
    assert markup.startswith('<tr id="a1-0-xr-kc">')
    surfaces.patch("", "s", [{"op": "move", "from": "/flights/2", "path": "/flights/0"}])
    assert ops(surfaces) == [["m", "a1-0-xr-kc", "^a1-0-xr"]]
    surfaces.patch("", "s", [{"op": "remove", "path": "/flights/1"}])
    assert ops(surfaces) == [["d", "a1-0-xr-ka"]]


def test_a_row_with_the_key_of_one_behind_the_cut_shows_what_it_has():
    """Only the keys of what is shown are known to be different."""
    names = ("a", "b", "c", "d")
    flights = [{"id": n, "name": name} for n, name in enumerate(names)]
    surfaces = made(table(NAME), model={"flights": flights}, limits=Limits(list_items=2))
    page = Page()
    page.apply_changes(surfaces.flush())

    twin = {"id": 1, "name": "twin"}
    for op in ({"op": "add", "path": "/flights/0", "value": twin}, {"op": "remove", "path": "/flights/0"}):
        surfaces.patch("", "s", [op])
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)


def test_nothing_to_show_is_said_beside_an_empty_body():
    page = html(table(NAME, empty=path("/why")), model={"flights": [], "why": "All sold <out>"})

    assert '<tbody id="a1-0-xr"></tbody>' in page
    assert "All sold &lt;out&gt;" in page
    assert "Nothing to show." in html(table(NAME), model={"flights": "none"})


def test_more_rows_than_are_shown_come_when_they_are_asked_for():
    model = {"flights": [{"id": n, "name": f"F{n}"} for n in range(7)]}
    surfaces = made(table(NAME, SEATS), model=model, limits=Limits(list_items=3))
    (change,) = surfaces.flush()
    assert '<tr id="a1-0-xr-xm" class="a2-table__more"><td colspan="2">' in change.html
    assert "3 of 7 shown" in change.html

    surfaces.apply_more(surfaces.more("a1-0-xr"))
    sent = ops(surfaces)
    assert sent[0][:3] == ["i", "a1-0-xr-n2", "afterend"]
    assert sent[0][3].count("<tr") == 3
    assert sent[1][:2] == ["r", "a1-0-xr-xm"]
    assert "6 of 7 shown" in only(engine(limits=Limits(list_items=3)).restore(surfaces.snapshot())).html()


def test_rows_in_the_definition_are_sent_whole_and_are_cut_with_a_notice():
    surfaces = made(
        table(
            {"label": "A", "value": path("0")},
            {"label": "B", "value": path("/b")},
            rows=[["<x>"], ["y"], ["z"]],
        ),
        model={"b": 1},
        limits=Limits(list_items=2),
    )
    (change,) = surfaces.flush()

    assert cells(change.html) == ["&lt;x&gt;", "1", "y", "1"]
    assert "2 of 3 shown" in change.html
    assert [problem.facts["limit"] for problem in surfaces.diagnostics()] == ["list_items"]
    surfaces.apply(data(2, "/b"))
    assert [op[:2] for op in ops(surfaces)] == [["r", "a1-0"]]


def test_rows_of_a_literal_are_data():
    """A member called path is no binding there."""
    page = html(table({"label": "A", "value": path("path")}, rows=[{"path": "/x"}]), model={"x": "wrong"})

    assert cells(page) == ["/x"]


def test_inside_of_a_list_each_item_has_its_rows():
    surfaces = made(
        row("root", "List", children={"componentId": "t", "path": "/days"}),
        row("t", "Table", columns=[NAME, {"label": "N", "value": path("n")}], rows=path("flights")),
        model={"days": [{"flights": [{"name": "a", "n": 1}]}, {"flights": [{"name": "b", "n": 2}]}]},
    )
    surfaces.flush()

    surfaces.apply(data(3, "/days/1/flights/0/n"))
    assert ops(surfaces) == [["t", "a1-1-i1-xr-i0-x1", "3"]]


def test_what_is_wrong_is_told_with_its_place():
    surfaces = engine().surfaces()
    surfaces.apply(create(catalogId=BEACH_CATALOG.id))
    problems = surfaces.apply(
        components(
            table(
                {"label": 1.5, "value": path("a"), "type": "money"},
                {"label": "B", "value": path("b"), "align": "left", "decimals": 2, "size": 1},
                "c",
                {"label": "D", "value": path("d"), "type": "status", "tones": {"x": "red"}},
                {"label": "E", "value": path("e"), "type": "number", "decimals": 2.5},
                rows="all",
            )
        )
    )

    assert [problem.path.removeprefix("/components/0/") for problem in problems] == [
        "columns/0/type",
        "columns/1/size",
        "columns/1/decimals",
        "columns/1/align",
        "columns/2",
        "columns/3/tones/x",
        "columns/4/decimals",
        "rows",
    ]


def test_more_columns_than_the_limit_are_told():
    surfaces = engine(limits=Limits(fields=2)).surfaces()
    surfaces.apply(create(catalogId=BEACH_CATALOG.id))
    (problem,) = surfaces.apply(components(table(NAME, PRICE, SEATS)))

    assert (problem.code, problem.facts["limit"], problem.facts["got"]) == ("budget_exceeded", "fields", 3)


def test_a_table_that_is_too_long_ends_with_a_notice_among_its_rows():
    model = {"flights": [{"id": n, "name": "x" * 500} for n in range(50)]}
    surfaces = made(table(NAME), model=model, limits=Limits(surface_chars=9_000))
    page = only(surfaces).html()

    assert len(page) < 9_500
    assert re.search(r'<tr id="\S+"><td colspan="1" class="a2-note" role="note">The rest is not shown', page)


def test_it_does_not_stand_in_a_button():
    page = html(
        row("root", "Button", child="t", action={"event": {"name": "go"}}),
        row("t", "Table", columns=[NAME], rows=path("/flights")),
        model=FLIGHTS,
    )

    assert "<table" not in page
