"""What Python does differently from JSON and JavaScript, one test for each trap."""

from __future__ import annotations

import json
import sys

import orjson
import pytest

from a2ui import Engine, InputError, PatchError
from a2ui.data.data_model import DataModel
from a2ui.safety.ids import key_token
from a2ui.safety.text import to_text
from tests.a2ui.programs import call, components, create, data, path, row, run, surface

pytestmark = pytest.mark.usefixtures("each_version")


def test_true_is_not_one():
    model = DataModel({"a": True, "l": [1, True]})

    with pytest.raises(PatchError):
        model.patch([{"op": "test", "path": "/a", "value": 1}])
    with pytest.raises(PatchError):
        model.patch([{"op": "test", "path": "/l", "value": [True, 1]}])
    model.patch([{"op": "test", "path": "/l", "value": [1.0, True]}])
    assert key_token(True) != key_token(1)
    surfaces, _ = surface(row("root", "Slider", max=5, value=path("/v")))
    with pytest.raises(InputError):
        surfaces.edit("a1-0", True)


def test_a_change_from_one_to_true_is_seen():
    surfaces, only = surface(row("root", "Text", text=path("/v")), model={"v": 1})

    surfaces.apply(data(True, "/v"))

    assert surfaces.flush()[0].ops == [["t", "a1-0", "true"]]
    assert ">true<" in only.html()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(True, "true"), (None, ""), (1.0, "1"), (1e21, "1e+21"), ({"a": [True]}, '{"a":[true]}')],
)
def test_texts_are_those_of_json(value, shown):
    assert to_text(value) == shown


@pytest.mark.parametrize("index", ["\u0661", "\uff11", "1\u0661", "\u00b2"])
def test_digits_of_other_scripts_are_no_index_and_no_number(index):
    model = DataModel({"l": [0, 1, 2]})

    with pytest.raises(PatchError):
        model.patch([{"op": "replace", "path": f"/l/{index}", "value": 9}])
    assert model.value == {"l": [0, 1, 2]}
    surfaces, _ = surface(row("root", "TextField", label="L", variant="number", value=path("/v")))
    with pytest.raises(InputError):
        surfaces.edit("a1-0", index)


def test_a_dollar_does_not_match_before_a_line_end():
    pattern = call("regex", value=path("/v"), pattern="^[a-z]+$")
    _, only = surface(
        row("root", "Button", child="t", action={"event": {"name": "go"}}, checks=[{"condition": pattern}]),
        row("t", "Text", text="x"),
        model={"v": "abc\n"},
    )

    assert "disabled" in only.html()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_get_in_nowhere(value):
    surfaces, only = surface(row("root", "Slider", max=5, value=path("/v")), model={"v": 1})

    assert surfaces.apply(data(value, "/v"))[0].refused
    assert surfaces.apply(data({"deep": [value]}))[0].refused
    with pytest.raises(PatchError):
        surfaces.patch("", "s", [{"op": "add", "path": "/v", "value": value}])
    with pytest.raises(InputError):
        surfaces.edit("a1-0", value)
    assert only.data_model == {"v": 1}


def test_lone_surrogates_and_nul_never_reach_the_page_or_the_store():
    bad = "a\ud800b\0c"
    surfaces = run(
        create(),
        components(
            row("root", "Column", children=["t", bad]),
            row("t", "Text", text=bad),
            row(bad, "Text", text=path("/v")),
        ),
        data({"v": bad, bad: 1}),
    )

    html = "".join(change.html for change in surfaces.flush())

    html.encode()
    assert "\0" not in html
    orjson.dumps(surfaces.get("", "s").data_model)


def test_copies_are_independent():
    shared = {"n": 1}
    message = data({"a": shared, "b": shared})
    surfaces = run(
        create(), components(row("root", "Text", text=path("/b/n"))), message, data({"x": {"n": 1}}, "/c")
    )
    only = surfaces.get("", "s")

    surfaces.patch(
        "", "s", [{"op": "copy", "from": "/a", "path": "/d"}, {"op": "replace", "path": "/d/n", "value": 9}]
    )
    surfaces.apply(data(5, "/a/n"))

    assert (only.data_model["a"], only.data_model["b"], only.data_model["d"]) == (
        {"n": 5},
        {"n": 1},
        {"n": 9},
    )
    assert shared == {"n": 1}


def nested(depth):
    value = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_deep_values_are_refused_and_not_a_recursion_error():
    surfaces = run(create(), components(row("root", "Text", text=path("/v"))))
    depth = sys.getrecursionlimit() * 20

    for message in (
        data(nested(depth), "/v"),
        components(row("root", "Text", text=nested(depth))),
        components(row("root", "Column", children=nested(depth))),
        components(row("root", "Text", text="x", unknown=nested(depth))),
        create("other", theme={"primaryColor": nested(depth)}),
        {"version": nested(depth), "deleteSurface": {"surfaceId": "s"}},
    ):
        surfaces.apply(message)
    with pytest.raises(PatchError):
        surfaces.patch("", "s", [{"op": "add", "path": "/v", "value": nested(depth)}])
    with pytest.raises(PatchError):
        surfaces.patch("", "s", [{"op": "test", "path": "", "value": nested(depth)}])
    surfaces.flush()
    surfaces.apply(components(row("root", "Text", text="still here")))
    assert "still here" in surfaces.get("", "s").html()


def test_deep_trees_and_calls_are_cut_and_not_a_recursion_error():
    chain = [row("root", "Card", child="k0"), *[row(f"k{n}", "Card", child=f"k{n + 1}") for n in range(3000)]]
    value = "x"
    for _ in range(3000):
        value = call("formatString", value=value)
    surfaces = run(create(), components(*chain))
    surfaces.apply(components(row("k1", "Text", text=value)))
    surfaces.apply(components(row("k1", "Text", text=call("formatString", value="${" * 3000))))

    assert len(surfaces.flush()[0].html) < 100_000


def test_the_order_of_keys_changes_nothing():
    rows = [
        row("root", "Column", children=["a", "b"]),
        row("a", "TextField", label="A", value=path("/v"), variant="longText"),
        row("b", "Text", text=path("/o")),
    ]
    turned = [dict(reversed(list(one.items()))) for one in rows]
    first, second = (
        surface(*rows, model={"o": {"x": 1, "y": 2}}),
        surface(*turned, model={"o": {"x": 1, "y": 2}}),
    )

    assert first[1].html() == second[1].html()
    with pytest.raises(PatchError):
        first[0].patch("", "s", [{"op": "test", "path": "/o", "value": {"y": 2}}])
    first[0].patch("", "s", [{"op": "test", "path": "/o", "value": {"y": 2, "x": 1}}])
    snapshot = first[0].snapshot()
    assert (
        Engine().restore(json.loads(json.dumps(snapshot, sort_keys=True))).get("", "s").html()
        == first[1].html()
    )
