"""Charts: what each type draws, what is told in words, and what is sent when one point moves."""

from __future__ import annotations

import re

import pytest

from a2ui import Limits
from a2ui.catalog.beach.scale import scale
from tests.a2ui.own import html, made, ops
from tests.a2ui.programs import data, path, row

MONTHS = [
    {"name": "Jan", "a": 3, "b": 5},
    {"name": "Feb", "a": 4.5, "b": None},
    {"name": "Mar", "a": 9, "b": "-2"},
]
BOTH = [{"label": "Low", "value": path("a")}, {"label": path("/high"), "value": path("b")}]
MODEL = {"months": MONTHS, "high": "High"}


def chart(kind="bar", series=BOTH, data_of_it=None, **more):
    rows = path("/months") if data_of_it is None else data_of_it
    return row("root", "Chart", type=kind, data=rows, label=path("name"), series=series, **more)


@pytest.mark.parametrize(
    ("values", "from_zero", "ticks"),
    [
        ([3, 9], True, (0, 5, 10)),
        ([3, 9], False, (2, 4, 6, 8, 10)),
        ([-2, 9], True, (-5, 0, 5, 10)),
        ([0.1, 0.34], True, (0, 0.1, 0.2, 0.3, 0.4)),
        ([1e6, 1.2e6], False, (1e6, 1.05e6, 1.1e6, 1.15e6, 1.2e6)),
        ([5, 5], False, (2, 4, 6, 8)),
        ([0], True, (0, 0.5, 1)),
        ([], False, (0, 0.5, 1)),
        ([-9e99, 9e99], False, (-1e100, -5e99, 0, 5e99, 1e100)),
    ],
)
def test_ticks_are_round_and_hold_all_values(values, from_zero, ticks):
    found = scale(values, from_zero=from_zero)

    assert found.ticks == pytest.approx(ticks)
    assert all(0 <= found.share(value) <= 1 for value in values)


@pytest.mark.parametrize(
    ("values", "more", "ticks"),
    [
        ([0.2, 0.9], {}, ["1.0", "0.5", "0.0"]),
        ([0.2, 0.9], {"decimals": 0}, ["1", "0"]),
        ([0, 1], {"currency": "EUR", "decimals": 0}, ["€1", "€0"]),
        ([0.001, 0.004], {}, ["0.004", "0.003", "0.002", "0.001", "0.000"]),
        ([1.5, 9], {"currency": "JPY"}, ["¥10", "¥5", "¥0"]),
        ([10, 90], {"decimals": 1}, ["100.0", "50.0", "0.0"]),
    ],
)
def test_no_two_ticks_are_written_alike(values, more, ticks):
    page = html(chart(series=BOTH[:1], **more), model={"months": [{"name": "x", "a": one} for one in values]})

    assert re.findall(r"<li>([^<]*)</li>", page) == ticks


@pytest.mark.parametrize("kind", ["bar", "line", "area", "sparkline"])
def test_what_is_kept_of_the_drawing_before_is_what_would_be_drawn(kind):
    surfaces = made(chart(kind), model=MODEL)
    surfaces.flush()
    for value, at in ((4, "0/a"), (None, "0/a"), ("many", "1/a"), (8, "2/b"), (8, "2/name"), (70, "0/b")):
        surfaces.apply(data(value, f"/months/{at}"))
        surfaces.flush()
        (surface,) = surfaces
        anew = html(chart(kind), model=surface.data_model)
        assert surface.html() == anew


def test_more_bars_than_have_room_for_edges_have_none():
    many = {"months": [{"name": str(n), "a": n, "b": n} for n in range(61)]}

    assert 'class="a2-plot__in is-crowded"' in html(chart(), model=many)
    assert "is-crowded" not in html(chart(series=BOTH[:1]), model=many)
    assert "is-crowded" not in html(chart("line"), model=many)


@pytest.mark.parametrize("version", ["0.9", "1.0"])
def test_bars_stand_on_zero_and_say_what_they_are(version):
    page = html(chart(title="Fares", currency="EUR"), model=MODEL, version=version)

    assert (
        '<figure id="a1-0" class="a2-chart a2-chart--bar"><figcaption class="a2-chart__title">Fares' in page
    )
    assert re.findall(r"<li>([^<]*)</li>", page) == ["€10", "€5", "€0", "-€5"]
    assert 'width="108" x="46.7" y="186.7" height="80"><title>Jan: €3.00</title></rect>' in page
    assert 'y="266.7" height="53.3"><title>Mar: -€2.00</title></rect>' in page
    assert ">Bar chart, 3 points from Jan to Mar. Lowest -€2.00, highest €9.00.</p>" in page
    assert page.count("<td id=") == 6
    assert "style=" not in page


def test_lines_have_gaps_areas_a_ground_and_sparklines_nothing_around_them():
    line, area = html(chart("line"), model=MODEL), html(chart("area"), model=MODEL)
    small = html(chart("sparkline", BOTH[:1]), model=MODEL)

    assert 'class="a2-line a2-s1" d="M166.7 133.3h0M833.3 320h0"/>' in line
    assert line.count("a2-dot") == 6
    assert "a2-area" not in line
    assert 'class="a2-area a2-s0" d="M166.7 266.7L166.7 186.7L500 146.7L833.3 26.7L833.3 266.7Z"/>' in area
    assert "a2-plot__y" not in small
    assert '<div class="b-sr"><table' in small


def test_a_point_that_moves_is_one_mark_and_one_cell():
    surfaces = made(chart(), model=MODEL)
    surfaces.flush()

    surfaces.apply(data(4, "/months/0/a"))
    assert [op[:2] for op in ops(surfaces)] == [["r", "a1-0-xb0-0"], ["t", "a1-0-xt0-0"]]
    surfaces.apply(data(3.9999999, "/months/0/a"))
    assert ops(surfaces) == []
    surfaces.apply(data(400, "/months/0/a"))
    assert [op[0] for op in ops(surfaces)] == ["x"]
    surfaces.apply(data("Highest", "/high"))
    assert [op[0] for op in ops(surfaces)] == ["x"]
    surfaces.apply(data("unread", "/months/0/other"))
    assert ops(surfaces) == []


def test_of_a_line_its_path_its_dot_and_its_cell():
    surfaces = made(chart("line"), model=MODEL)
    surfaces.flush()
    surfaces.apply(data(4, "/months/0/a"))

    assert [op[1] for op in ops(surfaces)] == ["a1-0-xl0", "a1-0-xd0-0", "a1-0-xt0-0"]


def test_more_points_than_the_limit_say_so():
    surfaces = made(chart(), model=MODEL, limits=Limits(points=2))
    (change,) = surfaces.flush()

    assert "2 of 3 points shown" in change.html
    assert [problem.facts["limit"] for problem in surfaces.diagnostics()] == ["points"]


def test_without_points_it_says_so_and_what_is_no_number_is_written_only():
    empty = html(chart(), model={"months": []})
    assert "Nothing to show." in empty
    assert "<svg" not in empty
    assert "a2-legend" not in empty
    page = html(
        chart(series=BOTH[:1]), model={"months": [{"name": "x", "a": "many"}, {"name": "y", "a": 1e200}]}
    )

    assert 'class="is-num">many</td>' in page
    assert re.findall(r'height="([^"]*)"><title>', page) == ["0", "0"]


def test_data_in_the_definition_and_names_of_many_points():
    page = html(chart("line", BOTH[:1], [{"name": f"day {n}", "a": n} for n in range(100)]))

    names = re.findall(r"<li><span>([^<]*)</span></li>", page)
    assert names == ["day 0", "day 33", "day 66", "day 99"]
    assert "a2-dot" not in page


SERIES_OF_A = [{"label": "A", "value": path("a")}]


def test_with_many_series_there_are_fewer_points():
    many = [{"label": f"s{at}", "value": path("a")} for at in range(40)]
    points = [{"n": at, "a": at} for at in range(30)]
    surfaces = made(
        row("root", "Chart", type="bar", data=path("/l"), label=path("n"), series=many),
        model={"l": points},
        limits=Limits(points=40),
    )
    (change,) = surfaces.flush()

    assert "10 of 30 points shown" in change.html
    assert surfaces.diagnostics()[0].facts["allowed"] == 10


def test_charts_that_are_more_than_a_drawing_may_cost_show_no_points_and_say_so():
    one = row("one", "Chart", type="line", data=path("/l"), label=path("n"), series=SERIES_OF_A)
    rows = [row("root", "Column", children=["one", "two"]), one, {**one, "id": "two"}]
    surfaces = made(*rows, model={"l": [{"n": at, "a": at} for at in range(10)]}, limits=Limits(work=75))
    (change,) = surfaces.flush()

    assert change.html.count('role="img"') == 1
    assert "0 of 10 points shown" in change.html
    assert surfaces.diagnostics()[0].facts["limit"] == "work"


@pytest.mark.parametrize(
    "values",
    [
        (9.9e99, -9.9e99),
        (1e-320, 2e-320),
        (5e-324, 0),
        (5e-324, 5e-324),
        (1.0, 1.0000000000000002),
        (1e99, 1e99),
    ],
)
@pytest.mark.parametrize("kind", ["bar", "line"])
def test_the_largest_and_the_smallest_numbers_are_drawn(kind, values):
    series = SERIES_OF_A
    shown = html(
        row("root", "Chart", type=kind, data=path("/l"), label=path("n"), series=series),
        model={"l": [{"n": at, "a": value} for at, value in enumerate(values)]},
    )
    assert "nan" not in shown and "inf" not in shown
    assert 'role="img"' in shown
