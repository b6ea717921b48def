"""`a2ui convert`: programs of v0.9.1 in 1.0 and the other way round, and what each cannot say (1.0, section 11)."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from a2ui import Engine, EngineOptions
from a2ui.gallery import samples
from a2ui.programs.conversion import convert
from a2ui.programs.reading import read_program
from a2ui.programs.tree import is_pseudo, perform, run
from tests.a2ui.programs import call, components, create, data, message, path, row, surface
from tests.a2ui.strategies import FUZZ, JSON
from tests.a2ui.test_v08 import BEGIN, LIST, PEOPLE, of
from tests.a2ui.test_v08 import rows as rows_of_v08
from tests.conformance.agreeing import filled_later
from tests.conformance.making import CHANGES, MODELS, ROWS
from tests.conformance.making_1_0 import lowered
from tests.conformance.making_1_0 import programs as programs_of_1_0

BASIC_09 = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
BASIC_10 = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"


def new(verb: str, version: str = "1.0", **body: Any) -> dict[str, Any]:
    return {"version": version, verb: {"surfaceId": "s", **body}}


def up(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """The components of v0.9 in 1.0; nothing is lost of them."""
    done = convert([create(), components(*rows)], "1.0")
    assert done.lossless, done.notes
    return list(done.messages[1]["updateComponents"]["components"])


def down(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    """The components of 1.0 in v0.9.1; nothing is lost of them."""
    done = convert(
        [new("createSurface", catalogId=BASIC_10), new("updateComponents", components=list(rows))], "0.9.1"
    )
    assert done.lossless, done.notes
    return list(done.messages[1]["updateComponents"]["components"])


def lost(*rows: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The components of 1.0 in v0.9.1, and where something of them is lost, below the list of components."""
    done = convert(
        [new("createSurface", catalogId=BASIC_10), new("updateComponents", components=list(rows))], "0.9.1"
    )
    assert not done.lossless
    where = [
        note.path.removeprefix("/updateComponents/components") for note in done.notes if note.kind == "lost"
    ]
    return list(done.messages[1]["updateComponents"]["components"]), where


SAME = [
    pytest.param(
        row("root", "Text", text=path("/a")), row("root", "Text", text={"@path": "/a"}), id="a binding"
    ),
    pytest.param(
        row("root", "Text", text={**call("formatString", value="${/a}"), "returnType": "string"}),
        row("root", "Text", text={"@call": "formatString", "args": {"value": "${/a}"}}),
        id="a call",
    ),
    pytest.param(
        row(
            "root",
            "Text",
            text={**call("f", list=[path("a"), 1], o={"@k": {"path": "/x"}}), "returnType": "any"},
        ),
        row(
            "root",
            "Text",
            text={"@call": "f", "args": {"list": [{"@path": "a"}, 1], "o": {"@@k": {"path": "/x"}}}},
        ),
        id="arguments: lists are dynamic, objects are plain at any depth",
    ),
    pytest.param(
        row("root", "Column", children={"componentId": "item", "path": "/items"}, weight=2),
        row("root", "Column", children={"componentId": "item", "path": "/items"}, weight=2),
        id="a template keeps its path",
    ),
    pytest.param(
        row("root", "Tabs", tabs=[{"title": path("/t"), "child": "a"}]),
        row("root", "Tabs", tabs=[{"title": {"@path": "/t"}, "child": "a"}]),
        id="inside of a property",
    ),
    pytest.param(
        row("root", "Divider", accessibility={"label": path("/l"), "description": "d"}),
        row("root", "Divider", **{"@accessibility": {"label": {"@path": "/l"}, "description": "d"}}),
        id="accessibility",
    ),
    pytest.param(
        row(
            "root",
            "CheckBox",
            label="L",
            value=path("/v"),
            checks=[
                {"condition": {**call("required", value=path("/v")), "returnType": "boolean"}, "message": "m"}
            ],
        ),
        row(
            "root",
            "CheckBox",
            label="L",
            value={"@path": "/v"},
            **{
                "@checks": [
                    {"condition": {"@call": "required", "args": {"value": {"@path": "/v"}}}, "message": "m"}
                ]
            },
        ),
        id="checks",
    ),
    pytest.param(
        row(
            "root",
            "Button",
            child="a",
            action={
                "event": {"name": "go", "context": {"x": path("/x"), "@y": 1, "o": {"k": {"path": "/x"}}}}
            },
        ),
        row(
            "root",
            "Button",
            child="a",
            action={
                "event": {
                    "name": "go",
                    "context": {"x": {"@path": "/x"}, "@@y": 1, "o": {"k": {"path": "/x"}}},
                }
            },
        ),
        id="what an event carries",
    ),
    pytest.param(
        row(
            "root",
            "Button",
            child="a",
            action={"functionCall": {**call("openUrl", url="https://a.example/"), "returnType": "void"}},
        ),
        row(
            "root",
            "Button",
            child="a",
            action={"functionCall": {"@call": "openUrl", "args": {"url": "https://a.example/"}}},
        ),
        id="a call as an action",
    ),
]


@pytest.mark.parametrize(("old", "now"), SAME)
def test_both_say_it(old: dict[str, Any], now: dict[str, Any]) -> None:
    assert up(old) == [now]
    assert down(now) == [old]


@pytest.mark.parametrize(
    ("old", "now"),
    [
        pytest.param(
            row("root", "Text", text={"path": "/a", "call": "f"}),
            row("root", "Text", text={"path": "/a", "call": "f"}),
            id="neither a binding nor a call of a known form, in a property",
        ),
        pytest.param(
            row(
                "root",
                "Button",
                child="a",
                action={"event": {"name": "go", "context": {"x": {"path": "/a", "k": 1}}}},
            ),
            row(
                "root",
                "Button",
                child="a",
                action={"event": {"name": "go", "context": {"x": {"@path": "/a"}}}},
            ),
            id="path wins over whatever is beside it",
        ),
        pytest.param(
            row("root", "Button", child="a", action={"name": "go", "context": {}}),
            row("root", "Button", child="a", action={"event": {"name": "go", "context": {}}}),
            id="an action without event",
        ),
        pytest.param(
            row(
                "root",
                "CheckBox",
                label="L",
                value=True,
                checks=[{**call("required", value=1), "message": "m"}],
            ),
            row(
                "root",
                "CheckBox",
                label="L",
                value=True,
                **{"@checks": [{"condition": {"@call": "required", "args": {"value": 1}}, "message": "m"}]},
            ),
            id="the short form of a check",
        ),
        pytest.param(
            row("root", "Text", text="Corfu", variant="h2"),
            row("root", "Text", text="## Corfu"),
            id="a heading",
        ),
        pytest.param(
            row("root", "Text", text=path("/t"), variant="h1"),
            row("root", "Text", text={"@call": "formatString", "args": {"value": "# ${/t}"}}),
            id="a bound heading",
        ),
        pytest.param(
            row("root", "Text", text=call("formatString", value="Day ${d}"), variant="h5"),
            row("root", "Text", text={"@call": "formatString", "args": {"value": "##### Day ${d}"}}),
            id="a heading that is put together",
        ),
        pytest.param(
            row(
                "root", "Text", text=call("formatDate", value=path("/d"), format="d 'o''clock'"), variant="h3"
            ),
            row(
                "root",
                "Text",
                text={
                    "@call": "formatString",
                    "args": {"value": "### ${formatDate(value: /d, format: 'd \\'o\\'\\'clock\\'')}"},
                },
            ),
            id="a heading that a function makes",
        ),
        pytest.param(
            row("root", "Text", text="a\nb", variant="h2"),
            row("root", "Text", text="a\nb", variant="h2"),
            id="no heading of Markdown has two lines",
        ),
        pytest.param(
            row("root", "Text", text=path("/a b"), variant="h2"),
            row("root", "Text", text={"@path": "/a b"}, variant="h2"),
            id="no text can hold such a path",
        ),
    ],
)
def test_what_1_0_says_in_other_words(old: dict[str, Any], now: dict[str, Any]) -> None:
    assert up(old) == [now]


def test_a_pattern_of_a_field_is_a_check_that_lets_nothing_pass_as_before() -> None:
    old = row("root", "TextField", label="L", value=path("/v"), validationRegexp="^a+$")
    [now] = up(old)
    assert "validationRegexp" not in now

    [back] = down({**now, "@checks": [{**now["@checks"][0], "message": "m"}]})
    for value, passes in (("", True), ("aa", True), ("b", False)):
        for one in (old, back):
            html = surface(one, model={"v": value})[1].html()
            assert ('aria-invalid="true"' not in html) is passes, html


@pytest.mark.parametrize(
    ("now", "old", "where"),
    [
        pytest.param(
            row("root", "TextField", label="L", placeholder="p"), row("root", "TextField", label="L"),
            "/placeholder", id="placeholder",
        ),
        pytest.param(
            row("root", "Slider", value=1, max=2, steps=2), row("root", "Slider", value=1, max=2), "/steps", id="steps"
        ),
        pytest.param(
            row("root", "Video", url="u", posterUrl="p"), row("root", "Video", url="u"), "/posterUrl", id="posterUrl"
        ),
        pytest.param(
            row("root", "Icon", name={"svgPath": {"@path": "/d"}}), row("root", "Icon"), "/name/svgPath",
            id="a bound path of an icon",
        ),
        pytest.param(
            row("root", "Divider", **{"@accessibility": {"label": "l", "live": "polite"}}),
            row("root", "Divider", accessibility={"label": "l"}), "/@accessibility/live", id="live",
        ),
        pytest.param(
            row("root", "Divider", **{"@accessibility": {"hidden": {"@path": "/h"}}}),
            row("root", "Divider"), "/@accessibility/hidden", id="hidden",
        ),
        pytest.param(
            row("root", "Divider", **{"@metadata": {"extensions": {}}}), row("root", "Divider"), "/@metadata",
            id="metadata",
        ),
        pytest.param(
            row("root", "Chart", **{"@catalogId": "https://charts.example/c.json"}), row("root", "Chart"),
            "/@catalogId", id="another catalog",
        ),
        pytest.param(
            row("root", "Text", text={"@call": "f", "catalogId": "https://charts.example/c.json"}),
            row("root", "Text", text=None), "/text", id="a function of another catalog",
        ),
        pytest.param(
            row("root", "Text", text={"@call": "@index"}), row("root", "Text", text=None), "/text", id="@index"
        ),
        pytest.param(
            row("root", "Button", child="a", action={"event": {"name": "go", "userMessage": "Go"}}),
            row("root", "Button", child="a", action={"event": {"name": "go"}}), "/action/event/userMessage",
            id="userMessage",
        ),
        *(
            pytest.param(
                row("root", "Button", child="a", action={"event": {"name": "go", "context": {"k": value}}}),
                row("root", "Button", child="a", action={"event": {"name": "go", "context": {"k": none}}}),
                f"/action/event/context/k{below}", id=f"never a wrong value: {name}",
            )
            for name, value, none, below in (
                ("plain data with path", {"path": "/x"}, None, ""),
                ("plain data with call", {"call": "f", "why": 1}, None, ""),
                ("plain data with path, in a list", [1, {"path": "/x"}], [1, None], "/1"),
                ("a binding inside of plain data", {"a": {"b": {"@path": "/x"}}}, None, ""),
                ("a call inside of plain data", {"a": [{"@call": "f"}]}, None, ""),
            )
        ),
    ],
)  # fmt: skip
def test_what_v0_9_1_cannot_say_is_told(now: dict[str, Any], old: dict[str, Any], where: str) -> None:
    assert lost(now) == ([old], [f"/0{where}"])


def test_one_message_that_creates_draws_and_fills_is_three_with_the_data_first() -> None:
    program = [
        new("createSurface", dataModel={"n": 1}, components=[row("root", "Text", text={"@path": "/n"})])
    ]
    done = convert(program, "0.9.1")
    assert done.lossless
    assert done.messages == [
        {"version": "v0.9.1", "createSurface": {"surfaceId": "s", "catalogId": BASIC_09}},
        {"version": "v0.9.1", "updateDataModel": {"surfaceId": "s", "path": "/", "value": {"n": 1}}},
        {
            "version": "v0.9.1",
            "updateComponents": {"surfaceId": "s", "components": [row("root", "Text", text=path("/n"))]},
        },
    ]


def test_a_surface_without_a_catalog_gets_the_first_that_one_of_its_components_names() -> None:
    charts = "https://charts.example/c.json"
    program = [
        new("createSurface"),
        new("updateComponents", components=[row("root", "Chart", **{"@catalogId": charts})]),
    ]
    done = convert(program, "0.9.1")
    assert done.lossless
    assert done.messages[0]["createSurface"]["catalogId"] == charts
    assert done.messages[1]["updateComponents"]["components"] == [row("root", "Chart")]


@pytest.mark.parametrize(
    ("before", "pointer", "written"),
    [
        pytest.param(
            {"a": {"b": 1, "c": 2}}, "/a/b", ("/a", {"b": None, "c": 2}), id="with what is beside it"
        ),
        pytest.param({}, "/a/b", ("/a", {"b": None}), id="with parents that were not there"),
        pytest.param({"a": 1}, "/b", ("/", {"a": 1, "b": None}), id="at the top"),
        pytest.param({"l": [1, 2]}, "/l/0", ("/l/0", None), id="in a list null stays in place"),
        pytest.param({"l": [1]}, "/l/1", ("/l", [1, None]), id="behind the end of a list"),
    ],
)
def test_null_that_is_stored_is_written_with_its_parent(before: Any, pointer: str, written: Any) -> None:
    done = convert([create(), data(before), data(None, pointer)], "1.0")
    assert done.lossless
    body = done.messages[2]["updateDataModel"]
    assert (body["path"], body["value"]) == written


def test_null_where_nobody_knows_what_is_around_it_is_lost() -> None:
    done = convert([data(None, "/a/b")], "1.0")
    assert [note.kind for note in done.notes] == ["lost"]


def test_deleting_is_null_in_one_and_no_value_in_the_other() -> None:
    gone = message("updateDataModel", path="/a")
    assert convert([gone], "1.0").messages == [new("updateDataModel", path="/a", value=None)]
    assert convert([new("updateDataModel", path="/a", value=None)], "0.9.1").messages == [
        {**gone, "version": "v0.9.1"}
    ]


def test_a_theme_is_lost() -> None:
    done = convert([create(theme={"primaryColor": "#ff0000"})], "1.0")
    assert done.messages == [new("createSurface", catalogId=BASIC_10)]
    assert [(note.kind, note.path) for note in done.notes] == [("lost", "/createSurface/theme")]


@pytest.mark.parametrize("verb", ["callRendererFunction", "agentFunctionResponse"])
def test_messages_about_functions_are_lost(verb: str) -> None:
    done = convert([{"version": "1.0", verb: {"functionCallId": "f"}}], "0.9.1")
    assert (done.messages, [note.path for note in done.notes]) == ([], [f"/{verb}"])


BARE = row("b", "Button", child="a", checks=[{"condition": call("required", value=path("/v"))}], action={
    "event": {"name": "go", "context": {"x": path("/x"), "y": {"path": "/x", "k": 1}}}})  # fmt: skip


def test_the_candidate_is_read_with_bare_keys() -> None:
    [now] = convert([new("updateComponents", "v1.0", components=[BARE])], "1.0").messages
    assert now == new(
        "updateComponents",
        components=[
            row(
                "b",
                "Button",
                child="a",
                **{"@checks": [{"condition": {"@call": "required", "args": {"value": {"@path": "/v"}}}}]},
                action={
                    "event": {"name": "go", "context": {"x": {"@path": "/x"}, "y": {"path": "/x", "k": 1}}}
                },
            )
        ],
    )


@pytest.mark.parametrize("version", ["1.0", "v1.0"])
def test_beside_keys_with_at_bare_ones_are_data_where_data_may_stand(version: str) -> None:
    text = row("t", "Text", text={"@path": "/t"})
    [now] = convert([new("updateComponents", version, components=[text, BARE])], "1.0").messages
    button = now["updateComponents"]["components"][1]
    assert button["action"]["event"]["context"]["x"] == {"path": "/x"}
    # A condition can be nothing but a call, and so can what is not plain in its arguments, but for `required`.
    assert button["@checks"] == [{"condition": {"@call": "required", "args": {"value": {"path": "/v"}}}}]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (5, "it has no version"),
        ({"createSurface": {}}, "it has no version"),
        ({"version": "v0.8", "surfaceUpdate": {}}, "It is refused"),
        ({"beginRendering": {"surfaceId": "s", "root": 5}}, "It is refused"),
        ({"version": "v0.8", "updateComponents": {}}, "'v0.8'"),
        ({"version": 1.0}, "it has no version"),
    ],
)
def test_what_is_no_message_of_these_versions_is_passed_on_and_told(given: Any, kept: str) -> None:
    for to in ("1.0", "0.9.1"):
        done = convert([given], to)  # type: ignore[arg-type]
        assert done.messages == [given]
        assert not done.lossless
        assert kept in done.notes[0].text


def test_a_program_of_its_own_version_stays_as_it_is() -> None:
    old = [create(), components(row("root", "Text", text=path("/a"), variant="h1")), data(None, "/a")]
    assert convert(old, "0.9.1").messages == [{**one, "version": "v0.9.1"} for one in old]


@settings(max_examples=30 * FUZZ, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, MODELS, CHANGES)
def test_there_and_back_is_the_same_program(rows: Any, model: Any, changes: Any) -> None:
    program = [create(), message("updateComponents", components=rows), data(model), *changes]

    there = convert(program, "1.0")
    back = convert(there.messages, "0.9.1")

    assert not [note for note in [*there.notes, *back.notes] if note.kind != "rewritten"]
    assert convert(back.messages, "1.0").messages == there.messages
    assert convert(there.messages, "1.0").messages == there.messages
    if "variant" in str(rows) + str(changes):
        # A heading is another component in 1.0.
        return
    first, second = (run(Engine(EngineOptions()).surfaces(), one) for one in (program, back.messages))
    assert first == second


@settings(max_examples=30 * FUZZ, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs_of_1_0(newer=False))
def test_a_program_of_1_0_that_v0_9_1_can_say_comes_back_as_it_was(program: list[Any]) -> None:
    there = convert(program, "0.9.1")
    back = convert(there.messages, "1.0")

    assert there.lossless and back.lossless
    # Components and data of a new surface are messages of their own in v0.9.1.
    assert back.messages == filled_later(program)
    assert convert(back.messages, "0.9.1").messages == there.messages


@settings(max_examples=30 * FUZZ, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs_of_1_0())
def test_a_program_of_1_0_is_its_own_conversion_and_that_of_its_candidate(program: list[Any]) -> None:
    assert convert(program, "1.0").messages == program
    assert convert(lowered(program), "1.0").messages == program


def drawn(program: list[Any]) -> tuple[list[str], list[Any]]:
    """The HTML and the data models of all surfaces, without what 1.0 says of a failed check and 0.9 does not."""
    surfaces = Engine(EngineOptions()).surfaces()
    for one in program:
        if is_pseudo(one):
            perform(surfaces, one)
        else:
            surfaces.apply(one)
        surfaces.flush()
    return [one.html().replace(' role="alert"', "") for one in surfaces], [one.data_model for one in surfaces]


@settings(max_examples=30 * FUZZ, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, MODELS, CHANGES)
def test_both_draw_the_same(rows: Any, model: Any, changes: Any) -> None:
    """Left out: headings, which are Markdown in 1.0, `email`, which has a message of its own there, and checks without
    any words, which get some."""
    every = [
        *rows,
        *(row for one in changes for row in one.get("updateComponents", {}).get("components", [])),
    ]
    for one in every:
        for check in one.get("checks", []):
            check["message"] = "m"
        if one["component"] == "Text" and str(one.get("variant")).startswith("h"):
            del one["variant"]
    assume("email" not in str(every))
    program = [create(), message("updateComponents", components=rows), data(model), *changes]

    assert drawn(convert(program, "1.0").messages) == drawn(program)


@settings(max_examples=50 * FUZZ, deadline=None)
@given(
    st.lists(
        st.one_of(
            JSON,
            st.builds(
                lambda version, verb, body: {"version": version, verb: body},
                st.sampled_from(["v0.9", "v0.9.1", "1.0", "v1.0"]),
                st.sampled_from(["createSurface", "updateComponents", "updateDataModel", "callRendererFunction"]),
                st.one_of(JSON, st.dictionaries(st.sampled_from(
                    ["surfaceId", "components", "value", "path", "dataModel", "catalogId", "theme"]), JSON)),
            ),
        ),
        max_size=4,
    )
)  # fmt: skip
def test_nothing_makes_it_raise(program: list[Any]) -> None:
    for to in ("1.0", "0.9.1"):
        convert(program, to)  # type: ignore[arg-type]


OF_V08 = (BEGIN, rows_of_v08(LIST, of("Text", "item", text={"path": "/name"})), PEOPLE)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("to", ["1.0", "0.9.1"])
def test_programs_of_v08_are_translated_as_the_engine_reads_them(
    to: Literal["1.0", "0.9.1"], order: tuple[int, ...]
) -> None:
    program = [OF_V08[at] for at in order]

    done = convert(program, to)

    assert {one["version"] for one in done.messages} == {"1.0" if to == "1.0" else "v0.9.1"}
    assert done.lossless
    assert drawn(done.messages) == drawn(program)
    assert "Ada" in drawn(program)[0][0]


def test_a_message_of_v08_for_a_surface_of_another_version_is_refused_as_ever() -> None:
    program = [create(), components(row("root", "Text", text=path("/n"))), {
        "dataModelUpdate": {"surfaceId": "s", "contents": [{"key": "n", "valueString": "no"}]}
    }]  # fmt: skip

    done = convert(program, "1.0")

    assert done.messages[2] == program[2]
    assert [(note.message, note.kind) for note in done.notes if note.kind != "rewritten"] == [(2, "kept")]
    assert drawn(done.messages) == drawn(program)


def test_a_sample_of_v08_is_the_same_in_both_versions() -> None:
    sample = samples.find("14-v08")
    assert sample is not None
    program = read_program(sample.program)

    older, newer = convert(program, "0.9.1"), convert(program, "1.0")

    assert drawn(older.messages) == drawn(program)
    assert (
        convert(newer.messages, "0.9.1").messages
        == convert(convert(older.messages, "1.0").messages, "0.9.1").messages
    )
    assert older.lossless and newer.lossless


def test_what_v08_cannot_carry_over_is_told() -> None:
    odd = rows_of_v08(
        of("Slider", "list", label={"literalString": "x"}, value={"path": "/n"}, thumb={"literalString": "y"})
    )

    done = convert([odd], "1.0")

    assert not done.lossless
    assert {note.kind for note in done.notes} == {"lost", "rewritten"}
