"""What is said of a value of the wrong kind: what it must be, and what it is."""

from __future__ import annotations

import re
from typing import Any

import pytest

from a2ui import Engine, EngineOptions, errors
from a2ui.errors import A2uiError
from tests.a2ui.programs import call, components, create, path, row

pytestmark = pytest.mark.usefixtures("each_version")

SENTENCE = re.compile(r"`[^`]+` (?:must (?:be|have) .+; got .+\.|is required(?:; .+)?\.)")


def told(message: Any, *, begun: bool = False, strict: bool = False) -> list[str]:
    surfaces = Engine(EngineOptions(strict=strict)).surfaces()
    if begun:
        surfaces.apply(create())
    return [problem.message for problem in surfaces.apply(message)]


def about(component: dict[str, Any], *, strict: bool = False) -> list[str]:
    return told(components(component), begun=True, strict=strict)


KINDS: list[tuple[dict[str, Any], str]] = [
    (row("root", "Text", text="x", weight="heavy"), "`weight` must be a number; got text."),
    (
        row("root", "Text", text={"x": 1}),
        '`text` must be text, {"path": ...} or {"call": ...}; got an object.',
    ),
    (
        row("root", "Text", text="x", variant="h9"),
        '`variant` must be one of h1, h2, h3, h4, h5, caption, body; got "h9".',
    ),
    (
        row("root", "Text", text="x", variant=True),
        "`variant` must be one of h1, h2, h3, h4, h5, caption, body; got true.",
    ),
    (row("root", "Slider", value=[], min=0, max=5), "`value` must be a number; got an empty list."),
    (row("root", "Slider", value=True, min=0, max=5), "`value` must be a number; got true."),
    (row("root", "CheckBox", label="L", value={}), "`value` must be true or false; got an object."),
    (
        row("root", "DateTimeInput", value="", enableDate="yes"),
        "`enableDate` must be true or false; got text.",
    ),
    (row("root", "TextField", label="L", validationRegexp=5), "`validationRegexp` must be text; got 5."),
    (row("root", "ChoicePicker", options=[], value=5), "`value` must be a list of texts; got 5."),
    (
        row("root", "ChoicePicker", options={}, value=[]),
        "`options` must be a list of options; got an object.",
    ),
    (
        row("root", "ChoicePicker", options=[{"label": "A"}], value=[]),
        "`options/0` must be an object with label and value, a text; got an object.",
    ),
    (row("root", "Card", child=["a"]), "`child` must be the id of a component; got a list."),
    (
        row("root", "Column", children="a"),
        '`children` must be a list of component ids or {"componentId": ..., "path": ...}; got text.',
    ),
    (row("root", "Column", children=["a", 5]), "`children/1` must be the id of a component; got 5."),
    (row("root", "Tabs", tabs="a"), "`tabs` must be a list of tabs; got text."),
    (
        row("root", "Tabs", tabs=[["a"]]),
        "`tabs/0` must be an object with title and child, the id of a component; got a list.",
    ),
    (
        row("root", "TextField", label="L", checks={"call": "required"}),
        "`checks` must be a list of checks; got an object.",
    ),
    (
        row("root", "TextField", label="L", checks=[1.5]),
        "`checks/0` must be an object with condition and message; got 1.5.",
    ),
    (
        row("root", "TextField", label="L", checks=[{"condition": True}]),
        "`checks/0/message` must be text; got nothing.",
    ),
    (
        row("root", "Text", text="x", accessibility="x"),
        "`accessibility` must be an object with label and description; got text.",
    ),
    (
        row("root", "Text", text="x", accessibility={"label": {"x": 1}}),
        "`accessibility/label` must be text; got an object.",
    ),
    (row("root", "Icon", name=5), "`name` must be the name of an icon; got 5."),
    (
        row("root", "Button", child="t", action="go"),
        "`action` must be an object with event or functionCall; got text.",
    ),
    (
        row("root", "Button", child="t", action={"event": {}}),
        "`action/event` must be an object with a name; got an object.",
    ),
    (
        row("root", "Button", child="t", action={"functionCall": "f"}),
        "`action/functionCall` must be a function call; got text.",
    ),
    (
        row(
            "root", "Button", child="t", action={"event": {"name": "n"}, "functionCall": {"call": "openUrl"}}
        ),
        "`action` must have one of event and functionCall; got both.",
    ),
    (
        row("root", "Button", child="t", action={"event": {"name": "n", "context": []}}),
        "`action/event/context` must be an object; got an empty list.",
    ),
    (
        row("root", "Text", text={"call": "formatString", "args": []}),
        "`args of formatString` must be an object; got an empty list.",
    ),
]


@pytest.mark.parametrize(("component", "sentence"), KINDS, ids=[sentence[:40] for _, sentence in KINDS])
def test_e12_a_wrong_property_is_told_with_what_it_must_be_and_is(component: Any, sentence: str) -> None:
    assert sentence in about(component)


ROWS: list[tuple[Any, str]] = [
    (5, "`components/0` must be a JSON object; got 5."),
    ({"component": "Text"}, "`id` must be text that is not empty; got nothing."),
    ({"id": "", "component": "Text"}, "`id` must be text that is not empty; got empty text."),
    ({"id": "a", "component": 5}, "`component` must be the name of a type; got 5."),
]
STRICT: list[tuple[Any, str]] = [
    (row("root", "Text", text=5), "`text` must be text; got 5."),
    (row("root", "Slider", value="x", max=5), "`value` must be a number; got text."),
    (row("root", "CheckBox", label="L", value=0), "`value` must be true or false; got 0."),
    (
        row("root", "Text", text="x", variant="h9"),
        '`variant` must be one of h1, h2, h3, h4, h5, caption, body; got "h9".',
    ),
    (row("root", "Column", children=[5]), "`children/0` must be text; got 5."),
    (row("root", "Tabs", tabs=[]), "`tabs` must be a list of at least 1; got an empty list."),
    (
        row("root", "Text", text={"path": 5}),
        '`text` must be a binding: {"path": text} and nothing else; got an object.',
    ),
    (row("root", "Text", text={"call": 5}), '`text` must be a function call: {"call": name}; got an object.'),
    (
        row("root", "Text", text=call("formatNumber", value=None)),
        "`text/args/value` must be a value; got null.",
    ),
    (row("root", "Text", text={"call": "formatNumber"}), "`text/args` must be an object; got nothing."),
    (row("root", "Text", text=call("formatNumber")), "`value` is required."),
    (row("root", "Button", child="t", action={"event": {}}), "`name` is required."),
]


@pytest.mark.parametrize(("component", "sentence"), ROWS, ids=[sentence for _, sentence in ROWS])
def test_e12_so_is_a_wrong_component(component: Any, sentence: str) -> None:
    assert told(components(component), begun=True) == [sentence]


@pytest.mark.parametrize(("component", "sentence"), STRICT, ids=[sentence[:50] for _, sentence in STRICT])
def test_e12_so_is_what_strict_mode_refuses(component: Any, sentence: str) -> None:
    assert sentence in about(component, strict=True)


def v08(verb: str, **body: Any) -> dict[str, Any]:
    return {verb: {"surfaceId": "s", **body}}


REMOTE = "callRendererFunction, agentFunctionResponse"
VERBS = "createSurface, updateComponents, updateDataModel, deleteSurface"
MESSAGES: list[tuple[Any, str]] = [
    (5, "`message` must be a JSON object; got 5."),
    ([], "`message` must be a JSON object; got an empty list."),
    ({"version": "v0.9", "createSurface": []}, "`createSurface` must be a JSON object; got an empty list."),
    ({"version": "v0.9"}, f"`message` must have one of {VERBS}; got none."),
    (
        {"version": "v0.9", "createSurface": {}, "deleteSurface": {}},
        "`message` must have exactly one update; got createSurface, deleteSurface.",
    ),
    ({"version": "v0.9", "deleteSurface": {}}, "`surfaceId` must be text that is not empty; got nothing."),
    (
        {"version": "v0.9", "deleteSurface": {"surfaceId": "x" * 300}},
        "`surfaceId` must have at most 256 characters; got 300.",
    ),
    (
        {"version": "v0.9", "createSurface": {"surfaceId": "s"}},
        "`catalogId` must be the id of a catalog; got nothing.",
    ),
    (
        {
            "version": "v0.9",
            "createSurface": {"surfaceId": "s", "catalogId": "basic", "sendDataModel": "yes"},
        },
        "`sendDataModel` must be true or false; got text.",
    ),
    (
        {"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": {}}},
        "`components` must be a list; got an object.",
    ),
    ({"version": "v0.9", "updateDataModel": {"surfaceId": "s", "path": 5}}, "`path` must be text; got 5."),
    (
        {"version": "v1.0", "createSurface": {"surfaceId": "s", "catalogId": 5}},
        "`catalogId` must be the id of a catalog; got 5.",
    ),
    (
        {"version": "v1.0", "createSurface": {"surfaceId": "s", "dataModel": []}},
        "`dataModel` must be an object; got an empty list.",
    ),
    ({"version": "v1.0", "updateDataModel": {"surfaceId": "s"}}, "`value` is required; null deletes."),
    ({"version": "v1.0", "createSurface": 5}, "`createSurface` must be a JSON object; got 5."),
    (
        {"version": "v1.0"},
        f"`message` must have one of {VERBS}, {REMOTE}; got none.",
    ),
    (v08("beginRendering"), "`root` must be the id of a component; got nothing."),
    (v08("beginRendering", root="r", styles=5), "`styles` must be an object; got 5."),
    (v08("beginRendering", root="r", catalogId=[]), "`catalogId` must be text; got an empty list."),
    (v08("surfaceUpdate"), "`components` must be a list; got nothing."),
    (v08("surfaceUpdate", components=[5]), "`components/0` must be an object; got 5."),
    (v08("surfaceUpdate", components=[{}]), "`id` must be text that is not empty; got nothing."),
    (
        v08("surfaceUpdate", components=[{"id": "a", "component": "Text"}]),
        '`component` must be an object with one type, such as {"Text": {...}}; got text.',
    ),
    (
        v08("surfaceUpdate", components=[{"id": "a", "component": {"Text": 5}}]),
        "`component/Text` must be an object; got 5.",
    ),
    (v08("dataModelUpdate", path=5), "`path` must be text; got 5."),
    (v08("dataModelUpdate", contents={}), "`contents` must be a list of entries; got an object."),
    (v08("dataModelUpdate", contents=[5]), "`contents/0` must be an object; got 5."),
    (v08("dataModelUpdate", contents=[{"valueString": "x"}]), "`contents/0/key` must be text; got nothing."),
    (
        v08("dataModelUpdate", contents=[{"key": "a"}]),
        "`contents/0` must have one of valueString, valueNumber, valueBoolean, valueMap; got none.",
    ),
]


@pytest.mark.parametrize(("message", "sentence"), MESSAGES, ids=[sentence[:60] for _, sentence in MESSAGES])
def test_e12_so_is_a_wrong_message(message: Any, sentence: str) -> None:
    assert sentence in told(message)


def test_e12_so_is_a_wrong_patch() -> None:
    surfaces = Engine().surfaces()
    surfaces.apply(create())
    for ops, sentence in (
        ({}, "`patch` must be a list of operations; got an object."),
        ([5], "`operation` must be an object; got 5."),
    ):
        with pytest.raises(A2uiError) as caught:
            surfaces.patch("", "s", ops)
        assert caught.value.message == sentence


def test_e12_all_sentences_have_one_shape() -> None:
    said = [sentence for table in (KINDS, ROWS, STRICT, MESSAGES) for _, sentence in table]

    assert [sentence for sentence in said if not SENTENCE.fullmatch(sentence)] == []


@pytest.mark.parametrize(
    "strange", [None, True, 5, "x", [], [5], {}, {"x": 5}, path("/a"), call("and")], ids=repr
)
@pytest.mark.parametrize("strict", [False, True])
def test_e12_no_message_says_that_a_wrong_value_is_what_it_is_not(strange: Any, strict: bool) -> None:
    """The fault as it was: "weight is a number." of a weight that is none."""
    backwards = re.compile(r"\b(?:is|are|has) (?:a |an |the |one of |true or false|at least)")
    for component in (
        row("root", "Text", text="x"),
        row("root", "TextField", label="L"),
        row("root", "Tabs", tabs=[]),
    ):
        for key in (
            "text",
            "label",
            "weight",
            "variant",
            "tabs",
            "checks",
            "accessibility",
            "value",
            "children",
        ):
            for sentence in about({**component, key: strange}, strict=strict):
                assert not backwards.search(sentence), sentence


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (..., "nothing"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (10**400, "no such number"),
        ("", "empty text"),
        ("a" * 50, '"' + "a" * 40 + '\u2026"'),
        ([], "an empty list"),
        ([1], "a list"),
        ({}, "an object"),
        (b"", "bytes"),
    ],
)
def test_what_is_got(got: object, said: str) -> None:
    assert errors.must_be("x", "right", got, quoted=True) == f"`x` must be right; got {said}."
