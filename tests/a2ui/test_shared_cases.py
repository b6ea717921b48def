"""The shared cases that concern the engine, each fed to a session with a page that follows along."""

from __future__ import annotations

from typing import Any

import pytest

from a2ui import Engine, EngineOptions
from a2ui.programs.conversion import convert
from tests.a2ui.caserunner import run_case, run_lines
from tests.a2ui.functionrunner import check_row, function_rows
from tests.a2ui.page import parse
from tests.a2ui.programs import call, create, message, path, row, run, surface
from tests.conformance.deviations import SHARED_CASES
from tests.shared import case, caselib, needs_shared, variants

pytestmark = [pytest.mark.shared, needs_shared]

FOLDERS = ("components", "data-model", "messages", "inputs", "limits", "functions", "sanitising")


def of_kind(*kinds: str) -> list[Any]:
    return [
        pytest.param(*param.values, id=param.id)
        for folder in FOLDERS
        for param in variants(folder)
        if param.values[0]["kind"] in kinds and param.id not in SHARED_CASES
    ]


@pytest.mark.parametrize(("given", "expected"), of_kind("a2ui"))
def test_messages(given, expected):
    run_case(given, expected)


@pytest.mark.parametrize(("given", "expected"), of_kind("a2ui"))
def test_messages_in_1_0(given, expected):
    run_case({**given, "messages": convert(given.get("messages", []), "1.0").messages}, expected)


@pytest.mark.parametrize(("given", "expected"), of_kind("a2ui_generated"))
def test_generated(given, expected):
    run_lines(caselib().generate_json(given), expected)


def test_deviations_are_cases():
    known = {param.id for folder in FOLDERS for param in variants(folder)}

    assert known >= SHARED_CASES.keys()


@pytest.mark.parametrize("name", list(SHARED_CASES))
def test_deviations_still_deviate(name):
    params = {param.id: param.values for folder in FOLDERS for param in variants(folder)}

    with pytest.raises(AssertionError):
        run_case(*params[name])


# ---- functions, evaluated inside a surface


@pytest.mark.parametrize(("value", "model", "locale", "timezone", "wanted"), function_rows())
def test_functions(value, model, locale, timezone, wanted):
    check_row(value, model, locale, timezone, wanted)


# ---- addresses and themes


def addresses(group: str) -> list[str]:
    return case("sanitising/san-url-schemes-everywhere.yaml")["input"][group] if caselib else []


def media(url: Any) -> list[dict[str, Any]]:
    return [
        row("root", "Column", children=["i", "v", "a", "b"]),
        row("i", "Image", url=url),
        row("v", "Video", url=url),
        row("a", "AudioPlayer", url=url),
        row("b", "Button", child="t", action={"functionCall": call("openUrl", url=url)}),
        row("t", "Text", text="Go"),
    ]


@pytest.mark.parametrize("bound", [False, True])
def test_refused_addresses_reach_no_attribute(bound):
    from a2ui import ActionError

    for url in case("sanitising/san-url-schemes-everywhere.yaml")["input"]["refuse"]:
        value = path("/u") if bound else url
        surfaces, only = surface(
            *media(value), model={"u": url}, image_hosts=frozenset({"example.org", "evil.example"})
        )
        for element in parse(only.html())[0].iter():
            assert (
                not {"href", "src", "action", "formaction", "poster", "srcset", "data"}
                & element.attrib.keys()
            ), url
        with pytest.raises(ActionError):
            surfaces.act("a1-4")


def test_accepted_addresses_are_kept():
    for url in case("sanitising/san-url-schemes-everywhere.yaml")["input"]["accept"]:
        surfaces, only = surface(*media(url), image_hosts=frozenset({"example.org"}))
        sources = [e.get("src") for e in parse(only.html())[0].iter() if "src" in e.attrib]
        assert sources == [url] * 3
        assert surfaces.act("a1-4").url == url


def theme_of(theme: Any) -> str | None:
    surfaces = Engine(EngineOptions()).surfaces()
    surfaces.apply(create(theme=theme))
    surfaces.apply(message("updateComponents", components=[row("root", "Text", text="x")]))
    html = surfaces.flush()[0].html
    for bad in (
        "evil.example",
        "display:none",
        "expression(",
        "var(--secret)",
        "<script",
        "onload",
        "x;}",
        "javascript:",
    ):
        assert bad not in html
    return parse(html)[0].get("data-theme-primary")


def test_themes_cannot_leave_their_slot():
    given = case("sanitising/san-theme-values-cannot-leave-their-slot.yaml")["input"]

    assert [theme_of({"primaryColor": value}) for value in given["values"]] == [None] * len(given["values"])
    assert theme_of({"primaryColor": given["good"]}) == given["good"]
    assert theme_of(given["other"]["unknown_property"]) == "#00BFFF"
    assert theme_of(given["other"]["theme_not_an_object"]) is None
    assert theme_of(given["other"]["icon"]) is None


def test_a_theme_that_is_no_object_is_reported():
    surfaces = Engine(EngineOptions()).surfaces()

    problems = surfaces.apply(create(theme="dark"))

    assert [(p.code, p.path, p.refused) for p in problems] == [("VALIDATION_FAILED", "/theme", False)]


def test_the_name_of_an_agent_loses_invisible_characters():
    surfaces = run(create(theme={"agentDisplayName": "<b>Bank</b>\u202e"}))

    assert surfaces.get("", "s").theme == {"agentDisplayName": "<b>Bank</b>"}
