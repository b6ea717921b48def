"""What is written wrong is told by the line that wrote it; what is right becomes messages of 1.0."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import pytest

from a2ui import Catalog, Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.basic.card import Card as CardType
from a2ui.compose import (
    Accessibility,
    Button,
    Card,
    ChoicePicker,
    Column,
    ComposeError,
    Divider,
    Icon,
    Modal,
    Row,
    Slider,
    Surface,
    Tabs,
    Text,
    TextField,
    call,
    check,
    delete_surface,
    each,
    event,
    fn,
    index,
    labelled,
    lowered,
    option,
    own,
    path,
    ref,
    svg,
    tab,
    update_components,
    update_data,
)
from a2ui.functions.registry import Function
from a2ui.schema.dynamic import Signature, dynamic_string

HIDDEN = Accessibility(hidden=path("/hidden"))
WRONG: list[tuple[Callable[[], Any], str, str, str]] = [
    (lambda: Text(weight=1), "Text", "text", "needs text"),
    (lambda: Text("a", colour="red"), "Text", "colour", "no property 'colour'"),
    (lambda: Text("a", "b"), "Text", "", "too many"),
    (lambda: Text(5), "Text", "text", "must be text; got 5"),
    (lambda: Text("a", variant="h1"), "Text", "variant", 'one of caption, body; got "h1"'),
    (lambda: Text("a", weight="3"), "Text", "weight", "a number"),
    (lambda: Text("a", id=5), "Text", "id", "id of a component"),
    (lambda: Text("a", extensions={"a b": 1}), "Text", "extensions", "not an identifier"),
    (lambda: Text({"@path": "/x"}), "Text", "text", "must be"),
    (lambda: Card("child"), "Card", "child", "; got str"),
    (lambda: Card([Text("a")]), "Card", "child", "a component; got list"),
    (lambda: Row("a"), "Row", "children", "; got str"),
    (lambda: Row(tab("a", Text("b"))), "Row", "children", "takes components; got Tab"),
    (lambda: Row(each("/a", "b")), "Row", "children", "got str in it"),
    (lambda: Text(Text("a")), "Text", "text", "takes values; got Text"),
    (lambda: Icon(Text("a")), "Icon", "name", "a drawing; got Text"),
    (lambda: Row(each("/a", Text("a")), Text("b")), "Row", "children", "only child"),
    (lambda: Tabs(weight=1), "Tabs", "tabs", "at least 1"),
    (lambda: Tabs(Text("a")), "Tabs", "tabs", "takes tabs; got Text"),
    (lambda: Modal(Text("a"), "b"), "Modal", "content", "takes a component; got str"),
    (lambda: Slider(1), "Slider", "max", "needs max"),
    (lambda: Slider(1, max=3, steps=0), "Slider", "steps", "1 or more"),
    (lambda: Icon("horse"), "Icon", "name", "one of accountCircle"),
    (lambda: Button(Text("a"), "go"), "Button", "action", "an event or a call; got str"),
    (
        lambda: Button(Text("a"), event("go"), checks=[fn.required(1)]),
        "Button",
        "checks",
        "takes checks; got Call",
    ),
    (lambda: Button(Text("a"), event("go"), checks=[check(True)]), "Button", "checks", "a binding or a call"),
    (lambda: Button(Text("a"), event("go", it={"a": {1, 2}})), "Button", "action", "is no JSON"),
    (lambda: ChoicePicker([option("A", "a")] * 2, []), "ChoicePicker", "options", "the same value"),
    (lambda: TextField("a", accessibility={"label": "b"}), "TextField", "accessibility", "Accessibility"),
    (lambda: Text("a", accessibility=Accessibility(live="loud")), "Text", "accessibility", "polite"),
    (lambda: Button(Row(Slider(1, max=2)), event("a")), "Button", "child", "another control"),
    (lambda: Card(Slider(1, max=2), accessibility=HIDDEN), "Card", "accessibility", "take focus"),
    (lambda: Surface("s", Text(index())), "Text", "", "inside of templates only"),
    (lambda: Surface("s", Row(Text(fn.formatString("${@index()}")))), "Text", "", "inside of templates only"),
    (lambda: path("a~2"), "path", "pointer", "~"),
    (lambda: each("a~2", Text("a")), "path", "pointer", "~"),
    (lambda: fn.length("a"), "length", "", "One of min, max"),
    (lambda: fn.regex("a", "(?=b)("), "regex", "pattern", "attern"),
    (lambda: fn.all_of(True), "and", "values", "at least 2"),
    (lambda: fn.openUrl("nowhere"), "openUrl", "url", "absolute URI"),
    (lambda: fn.formatString("${a"), "formatString", "value", "Unclosed"),
    (lambda: fn.formatString("${formatDate(value: a)}"), "formatString", "value", "needs format"),
    (lambda: fn.formatString("${openUrl(url: a)}"), "formatString", "value", "on a click"),
    (lambda: call("nothing"), "nothing", "", "no such function"),
    (lambda: call("formatDate", value=1, format="y", zone="UTC"), "formatDate", "zone", "no argument"),
    (lambda: Surface("s", Text("a", id="top")), "Text", "id", "'root'"),
    (lambda: Surface("s", Row(Text("a", id="b"), Text("c", id="b"))), "Text", "id", "called 'b'"),
    (lambda: Surface("s", Text(fn.formatString("${shout(a: b)}"))), "formatString", "", "'shout'"),
    (lambda: update_components("s", Text("a")), "Text", "id", "needs an id"),
    (lambda: own(BASIC_CATALOG_1_0, "Gauge"), "Gauge", "", "no such component"),
    (lambda: own(BASIC_CATALOG_1_0, "Text"), "Text", "text", "needs text"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_names_component_and_property_at_its_own_line(number: int) -> None:
    write, component, property_name, words = WRONG[number]
    with pytest.raises(ComposeError) as caught:
        write()
    error = caught.value
    assert (error.component, error.property) == (component, property_name), error
    assert words in error.message
    assert error.code == "VALIDATION_FAILED"
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__]
    assert ours[-1].lineno == write.__code__.co_firstlineno


def test_a_type_checker_says_it_before_it_runs(tmp_path: File) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from a2ui.compose import Card, Row, Slider, Text\n"
        "Text(5)\nText('a', colour='red')\nText('a', variant='h1')\nCard('a')\nRow('a')\nSlider(1)\nText()\n"
        "Text('a', weight='b')\nRow(Text('a'), align='middle')\n"
    )
    root = File(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "", "--follow-imports=silent", "--no-incremental", wrong],
        cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == {str(line) for line in range(2, 11)}, done.stdout + done.stderr


def test_children_become_a_list_of_rows_in_page_order_with_ids_from_their_places() -> None:
    made = Surface(
        "s",
        Column(
            Text("a"),
            Row(each("/items", Card(Text(path("name"))))),
            Tabs(tab("One", Text("b", id="given")), tab("Two", Divider())),
            Modal(Text("open"), Text("inside")),
        ),
    )
    assert [row["id"] for row in made.components] == [
        "root", "root-0", "root-1", "root-1-item", "root-1-item-child", "root-2", "given", "root-2-1", "root-3",
        "root-3-trigger", "root-3-content",
    ]  # fmt: skip
    assert made.components[2]["children"] == {"componentId": "root-1-item", "path": "/items"}
    assert made.components[5]["tabs"] == [
        {"title": "One", "child": "given"},
        {"title": "Two", "child": "root-2-1"},
    ]


def test_an_id_that_is_made_makes_way_for_one_that_was_given() -> None:
    made = Surface("s", Column(Text("a"), Text("b", id="root-0")))
    assert [row["id"] for row in made.components] == ["root", "root-0-", "root-0"]


def test_one_object_in_two_places_is_one_component() -> None:
    line = Divider()
    made = Surface("s", Column(line, Text("a"), line))
    assert made.components[0]["children"] == ["root-0", "root-1", "root-0"]
    assert len(made.components) == 3


def test_data_stays_data_whatever_its_keys_are() -> None:
    go = Button(Text("Go"), event("go", it={"@path": "/x", "path": "/y", "n": [path("/n"), 6]}), id="root")
    (message,) = Surface("s", go, {"n": 5}).create()
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    assert surfaces.apply(message, owner="a") == []
    surfaces.flush()
    surface = surfaces.get("a", "s")
    assert surface is not None
    action: Any = surfaces.act(surface.dom_id + "-0")
    assert action.message["action"]["context"]["it"]["@path"] == "/x"
    assert action.message["action"]["context"]["it"]["path"] == "/y"
    assert action.message["action"]["context"]["it"]["n"][0] == 5


def test_messages_are_those_of_1_0() -> None:
    made = Surface("s", Text(path("/a")), {"a": 1}, send_data_model=True, extensions={"acme": 1})
    assert made.create() == [
        {
            "version": "1.0",
            "createSurface": {
                "surfaceId": "s",
                "catalogId": BASIC_CATALOG_1_0.id,
                "sendDataModel": True,
                "components": [{"id": "root", "component": "Text", "text": {"@path": "/a"}}],
                "dataModel": {"a": 1},
                "metadata": {"extensions": {"acme": 1}},
            },
        }
    ]
    made.create()[0]["createSurface"]["components"][0]["text"] = "changed"
    assert made.components[0]["text"] == {"@path": "/a"}
    assert [[*message][1] for message in made.again()] == ["updateDataModel", "updateComponents"]
    assert update_data("s", "/a", None)["updateDataModel"] == {"surfaceId": "s", "path": "/a", "value": None}
    assert delete_surface("s") == {"version": "1.0", "deleteSurface": {"surfaceId": "s"}}


def test_components_change_around_those_that_stay() -> None:
    other = update_components("s", Column(ref("kept"), Text("new"), id="root"))
    assert other["updateComponents"]["components"] == [
        {"id": "root", "component": "Column", "children": ["kept", "root-1"]},
        {"id": "root-1", "component": "Text", "text": "new"},
    ]


def test_older_readers_get_the_version_that_they_know() -> None:
    made = Surface(
        "s",
        TextField(
            "Name", value=path("/name"), placeholder="Ada", checks=[check(fn.required(path("/name")), "!")]
        ),
    )
    found = lowered(made.create())
    assert [[*message][1] for message in found.messages] == [
        "createSurface", "updateDataModel", "updateComponents",
    ]  # fmt: skip
    (row,) = found.messages[2]["updateComponents"]["components"]
    assert row["checks"][0]["condition"]["call"] == "required"
    assert row["value"] == {"path": "/name"}
    assert [note.path for note in found.notes if note.kind == "lost"] == [
        "/createSurface/components/0/placeholder"
    ]
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    assert [surfaces.apply(message, owner="a") for message in found.messages] == [[], [], []]


class Frame(CardType):
    """Stands in columns only."""

    name = "Frame"
    allowed_parents = frozenset({"Column"})


SHOUT = Function(
    "shout", lambda args, env: str(args["a"]).upper(), signature=Signature("string", {"a": dynamic_string})
)
OWN = BASIC_CATALOG_1_0.extended(
    "https://example.com/own.json",
    components=[Frame()],
    functions=BASIC_CATALOG_1_0.functions.extend(SHOUT),
)


@pytest.mark.parametrize("catalog", [BASIC_CATALOG_1_0, OWN])
def test_own_components_and_functions_name_their_catalog_where_it_is_not_the_surfaces(
    catalog: Catalog,
) -> None:
    text = Text(call("shout", catalog=OWN, a=path("/a")))
    made = Surface("s", Column(own(OWN, "Frame", child=text)), {"a": "hello"}, catalog=catalog)
    named = json.dumps(made.create()).count(OWN.id)
    assert named == (2 if catalog is BASIC_CATALOG_1_0 else 1)
    surfaces = Engine(EngineOptions(strict=True, own=(OWN,))).surfaces()
    assert surfaces.apply(made.create()[0], owner="a") == []
    (change,) = surfaces.flush()
    assert "HELLO" in change.html
    assert surfaces.diagnostics() == []


def test_texts_may_call_what_the_surfaces_own_catalog_has() -> None:
    made = Surface("s", Text(fn.formatString("${shout(a: /a)}!")), {"a": "hi"}, catalog=OWN)
    surfaces = Engine(EngineOptions(own=(OWN,))).surfaces()
    assert surfaces.apply(made.create()[0], owner="a") == []
    assert "HI!" in surfaces.flush()[0].html


def test_a_component_stands_where_its_catalog_lets_it() -> None:
    inside = own(OWN, "Frame", child=Text("a"))
    with pytest.raises(ComposeError, match="Frame may not stand in it"):
        Row(inside)
    with pytest.raises(ComposeError, match="may not be the root"):
        Surface("s", inside)
    assert Column(inside)


def test_what_screen_readers_are_told_goes_along() -> None:
    row = Surface(
        "s", Icon(svg("M0 0h24"), accessibility=labelled("Square"), extensions={"acme": {}})
    ).components[0]
    assert row == {
        "id": "root",
        "component": "Icon",
        "name": {"svgPath": "M0 0h24"},
        "@accessibility": {"label": "Square"},
        "@metadata": {"extensions": {"acme": {}}},
    }
