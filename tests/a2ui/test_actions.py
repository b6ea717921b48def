"""Clicks, resolved from the server's own state (R2, rulebook section 13)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from a2ui import ActionError, ClientAction, OpenUrl
from tests.a2ui.programs import call, components, create, data, path, row, run, surface


def button(action, **more):
    return [row("root", "Button", child="t", action=action, **more), row("t", "Text", text=path("/label"))]


def event(**context):
    return {"event": {"name": "go", "context": context}}


def clock():
    return datetime(2026, 5, 1, 14, 0, 0, 123999, tzinfo=timezone(timedelta(hours=2)))


def test_the_whole_message():
    surfaces, _ = surface(*button(event(a=path("/a"))), model={"label": "Go & see", "a": 1}, clock=clock)

    assert surfaces.act("a1-0") == ClientAction(
        "",
        "s",
        {
            "version": "v0.9",
            "action": {
                "name": "go",
                "surfaceId": "s",
                "sourceComponentId": "root",
                "timestamp": "2026-05-01T12:00:00.123Z",
                "context": {"a": 1},
            },
        },
        "Go & see",
        "a1-0",
    )
    assert surfaces.act("a1-0").name == "go"


def test_context_values():
    context = {
        "literal": "x",
        "absent": path("/nope"),
        "list": [path("/a"), 2],
        "path": "an ordinary key",
        "call": "another one",
        "object": {"deep": path("/a")},
        "text": call("formatString", value="${/a}!"),
        "unknown": call("nope"),
    }
    surfaces, _ = surface(*button(event(**context)), model={"a": 1})

    assert surfaces.act("a1-0").message["action"]["context"] == {
        "literal": "x",
        "absent": None,
        "list": [1, 2],
        "path": "an ordinary key",
        "call": "another one",
        "object": {"deep": {"path": "/a"}},
        "text": "1!",
        "unknown": None,
    }
    (problem,) = surfaces.diagnostics()
    assert (problem.code, problem.facts["expression"]) == ("EXPRESSION_ERROR", "nope")


def test_context_is_that_of_the_moment():
    surfaces, _ = surface(*button(event(a=path("/a"))), model={"a": 1})

    surfaces.apply(data(2, "/a"))

    assert surfaces.act("a1-0").message["action"]["context"] == {"a": 2}


def test_short_form_without_event():
    surfaces, _ = surface(*button({"name": "go", "context": {}}))

    assert surfaces.act("a1-0").message["action"]["context"] == {}


def test_a_template_instance_has_its_own_scope():
    surfaces, _ = surface(
        row("root", "List", children={"componentId": "b", "path": "/l"}),
        row("b", "Button", child="t", action=event(n=path("n"), all=path("/l"))),
        row("t", "Text", text=path("n")),
        model={"l": [{"id": "x", "n": 1}, {"id": "y", "n": 2}]},
    )

    action = surfaces.act("a1-1-ky")

    assert action.message["action"]["context"]["n"] == 2
    assert action.message["action"]["sourceComponentId"] == "b"
    assert action.label == "2"


def test_the_label_that_is_read_out_names_the_button_in_the_log():
    surfaces, _ = surface(
        row("root", "List", children={"componentId": "b", "path": "/l"}),
        row("b", "Button", child="t", action=event(), accessibility={"label": path("n")}),
        row("t", "Text", text="Select"),
        model={"l": [{"id": "x", "n": "Select  EJ\u202e4521"}, {"id": "y", "n": ""}]},
    )

    assert surfaces.act("a1-1-kx").label == "Select EJ4521"
    assert surfaces.act("a1-1-ky").label == "Select"


class TestRefused:
    @pytest.mark.parametrize(
        "target", ["", "a1", "a9-0", "a1-9", "a1-00", "a1-0-kx", "a1-0-", "a1-1", None, 5, "x" * 9000]
    )
    def test_nothing_there(self, target):
        surfaces, _ = surface(*button(event()))

        with pytest.raises(ActionError) as caught:
            surfaces.act(target)

        assert caught.value.code == "not_found"

    def test_failing_check(self):
        check = [{"condition": call("required", value=path("/v")), "message": "Fill in"}]
        surfaces, only = surface(*button(event(), checks=check), model={"v": ""})
        assert 'disabled title="Fill in"' in only.html()

        with pytest.raises(ActionError, match="Fill in") as caught:
            surfaces.act("a1-0")

        assert caught.value.code == "disabled"
        surfaces.apply(data("x", "/v"))
        assert surfaces.act("a1-0").name == "go"

    def test_a_removed_item(self):
        surfaces, _ = surface(
            row("root", "List", children={"componentId": "b", "path": "/l"}),
            row("b", "Button", child="t", action=event()),
            model={"l": [{"id": "x"}, {"id": "y"}]},
        )

        surfaces.patch("", "s", [{"op": "remove", "path": "/l/0"}])

        with pytest.raises(ActionError):
            surfaces.act("a1-1-kx")
        assert surfaces.act("a1-1-ky").name == "go"


class TestFunctions:
    @pytest.mark.parametrize(
        "url", ["https://example.org/x", path("/u"), "${/u}", call("formatString", value="${/u}")]
    )
    def test_open_url(self, url):
        action = {"functionCall": call("openUrl", url=url)}
        surfaces, _ = surface(*button(action), model={"u": "https://example.org/x"})

        assert surfaces.act("a1-0") == OpenUrl("https://example.org/x")

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "mailto:a@b.example", "//x.example", "", None, 5])
    def test_bad_addresses(self, url):
        surfaces, _ = surface(*button({"functionCall": call("openUrl", url=url)}))

        with pytest.raises(ActionError) as caught:
            surfaces.act("a1-0")

        assert caught.value.code == "EXPRESSION_ERROR"

    def test_unknown_function(self):
        surfaces, _ = surface(*button({"functionCall": call("nope")}))

        with pytest.raises(ActionError) as caught:
            surfaces.act("a1-0")

        assert caught.value.facts["expression"] == "nope"

    def test_a_function_without_effect(self):
        surfaces, _ = surface(*button({"functionCall": call("required", value="x")}))

        assert surfaces.act("a1-0") is None

    def test_open_url_never_runs_while_rendering(self):
        surfaces, only = surface(row("root", "Text", text=call("openUrl", url="https://example.org")))

        assert '<div id="a1-0" class="a2-t"></div>' in only.html()
        assert [problem.code for problem in surfaces.diagnostics()] == ["EXPRESSION_ERROR"]


def test_the_clock_is_the_given_one():
    surfaces, _ = surface(*button(event()), clock=lambda: datetime(2030, 1, 1, tzinfo=UTC))

    assert surfaces.act("a1-0").message["action"]["timestamp"] == "2030-01-01T00:00:00.000Z"


@pytest.mark.parametrize("where", ["/a~1b", "/protocol", "/constructor/x", "plain", "", "/a~x", "x" * 400])
def test_an_event_is_read_the_same_whether_its_paths_are_usual_or_not(where):
    action = {"event": {"name": "go", "context": {"v": path(where), "n": 1}}}
    surfaces = run(create(), data({"a/b": "slash", "protocol": "p", "plain": "it"}))
    problems = surfaces.apply(components(*button(action)))
    surfaces.flush()
    clicked = surfaces.act("a1-0").message["action"]
    unusual = run(create(), data({"a/b": "slash", "protocol": "p", "plain": "it"}))
    twice = {"event": {"name": "go", "context": {**action["event"]["context"], "l": [path(where)]}}}
    reported = unusual.apply(components(*button(twice)))
    unusual.flush()
    other = unusual.act("a1-0").message["action"]
    assert clicked["context"] == {key: other["context"][key] for key in ("v", "n")}
    assert {problem.message for problem in problems} == {problem.message for problem in reported}
