"""Calls of an agent's functions in interfaces (section 9 of the reading of 1.0)."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from a2ui import ActionError, CallsDue, PatchError
from a2ui.functions.pending import PENDING_TEXT
from tests.a2ui import asking, chaos
from tests.a2ui.asking import SHOP, ask, asked, create, engine, made, message, path, response
from tests.a2ui.page import Page, shown
from tests.a2ui.programs import row
from tests.a2ui.strategies import FUZZ
from tests.fuzz.graph import described

PRICE = row("root", "Text", text=ask(q=path("/sku")))


def started(*rows, model=None, **limits):
    surfaces = engine(**limits).surfaces()
    assert surfaces.apply(create(*rows, model=model)) == []
    return surfaces


def text_of(surfaces):
    (surface,) = surfaces
    return surface.html()


def feed(surfaces, step):
    if isinstance(step, list):
        try:
            surfaces.patch("", "s", step)
        except PatchError:
            return
    else:
        surfaces.apply(step)


def inside(surfaces):
    """Everything that the set holds; that a list counts its items is kept, and does no harm."""
    return [re.sub(r" watched=\w+", "", line) for line in described(surfaces)]


class TestACall:
    def test_a_mark_stands_where_its_value_will_be(self):
        surfaces = started(PRICE, model={"sku": "A1"})

        assert f">{PENDING_TEXT}</div>" in text_of(surfaces)

    def test_it_is_due_once_with_resolved_arguments_and_the_version_of_its_surface(self):
        surfaces = started(PRICE, model={"sku": "A1"})

        (due,) = made(surfaces)

        call = {"@call": "ask", "catalogId": SHOP, "args": {"q": "A1"}}
        body = {"surfaceId": "s", "functionCallId": "a1-f1", "callFunction": call}
        assert due == CallsDue("", "s", [{"version": "1.0", "callAgentFunction": body}], [])
        assert made(surfaces) == []

    def test_its_answer_is_drawn_where_it_is_shown_and_nowhere_else(self):
        surfaces = started(
            row("root", "Column", children=["list", "other"]),
            row("list", "List", children={"componentId": "item", "path": "/items"}),
            row("item", "Text", text=ask(q=path("n"))),
            row("other", "Text", text=ask(q=path("/t"))),
            model={"items": [{"id": n, "n": n} for n in range(3)], "t": "t"},
        )
        made(surfaces)

        surfaces.apply(response("a1-f2", value="one"))

        ((change,), texts) = surfaces.flush(), text_of(surfaces)
        assert [op[0] for op in change.ops] == ["t"]
        assert change.ops[0][2] == "one"
        assert texts.count(PENDING_TEXT) == 3

    def test_it_is_made_once_for_all_who_show_it(self):
        surfaces = started(
            row("root", "Column", children=["a", "b"]),
            row("a", "Text", text=ask(q="x")),
            row("b", "Text", text={"@call": "formatString", "args": {"value": "b: ${ask(q: 'x')}"}}),
        )
        assert asked(made(surfaces)) == [{"q": "x"}]

        surfaces.apply(response("a1-f1", value="y"))

        (change,) = surfaces.flush()
        assert [op[2] for op in change.ops] == ["y", "b: y"]

    def test_the_same_arguments_again_are_not_asked_again_while_pending_or_answered(self):
        surfaces = started(PRICE, model={"sku": "A1"})
        made(surfaces)
        surfaces.apply(message("updateDataModel", path="/sku", value="B2"))
        assert asked(made(surfaces)) == [{"q": "B2"}]
        surfaces.apply(message("updateDataModel", path="/sku", value="A1"))
        assert made(surfaces) == []
        surfaces.apply(response("a1-f1", value="12 euros"))
        surfaces.apply(message("updateDataModel", path="/sku", value="B2"))
        surfaces.apply(message("updateDataModel", path="/sku", value="A1"))

        assert made(surfaces) == []
        assert ">12 euros</div>" in text_of(surfaces)

    def test_a_call_inside_another_is_asked_first(self):
        surfaces = started(row("root", "Text", text=ask(q=ask(q="x"))))
        assert asked(made(surfaces)) == [{"q": "x"}]

        surfaces.apply(response("a1-f1", value="y"))

        assert asked(made(surfaces)) == [{"q": "y"}]

    def test_what_is_made_of_a_pending_value_is_pending_and_runs_no_function(self):
        text = {"@call": "formatCurrency", "args": {"value": ask(q="x"), "currency": "EUR"}}
        surfaces = started(row("root", "Text", text=text))
        made(surfaces)
        assert f">{PENDING_TEXT}</div>" in text_of(surfaces)
        assert surfaces.diagnostics() == []

        surfaces.apply(response("a1-f1", value=12.5))

        assert "€12.50" in text_of(surfaces)

    def test_its_answer_is_data_whatever_it_looks_like(self):
        surfaces = started(PRICE, model={"sku": "A1", "x": "secret"})
        made(surfaces)

        surfaces.apply(response("a1-f1", value={"@path": "/x"}))

        assert "{&quot;@path&quot;:&quot;/x&quot;}" in text_of(surfaces)

    def test_an_error_shows_nothing_and_is_reported(self):
        surfaces = started(PRICE, model={"sku": "A1"})
        made(surfaces)

        surfaces.apply(response("a1-f1", error={"code": "TIMEOUT", "message": "Too late."}))

        assert "></div>" in text_of(surfaces)
        (problem,) = surfaces.diagnostics()
        assert (problem.code, problem.message) == ("TIMEOUT", "Too late.")
        assert made(surfaces) == []

    def test_the_candidate_writes_its_own_version(self):
        surfaces = engine().surfaces()
        text = {"call": "ask", "args": {"q": 1}}
        surfaces.apply(create(row("root", "Text", text=text)) | {"version": "v1.0"})

        (due,) = made(surfaces)

        assert due.messages[0]["version"] == "v1.0"
        assert due.messages[0]["callAgentFunction"]["callFunction"]["@call"] == "ask"


class TestWhoMayCall:
    def test_a_function_for_agents_only_cannot_stand_in_an_interface(self):
        surfaces = started(row("root", "Text", text={"@call": "sync"}))

        assert made(surfaces) == []
        (problem,) = surfaces.diagnostics()
        assert problem.message == "Only the agent may call sync."

    def test_a_function_that_nobody_knows_is_not_asked_of_the_agent(self):
        surfaces = started(row("root", "Text", text={"@call": "nope"}))

        assert made(surfaces) == []
        (problem,) = surfaces.diagnostics()
        assert problem.code == "EXPRESSION_ERROR"

    def test_a_surface_of_0_9_asks_nobody(self):
        own = asking.CATALOG.extended("both", protocol=None)
        own.protocol = None
        from a2ui import Engine, EngineOptions

        surfaces = Engine(EngineOptions(catalogs=(own,))).surfaces()
        surfaces.apply({"version": "v0.9", "createSurface": {"surfaceId": "s", "catalogId": "both"}})
        rows = [row("root", "Text", text={"call": "ask", "args": {}})]
        surfaces.apply({"version": "v0.9", "updateComponents": {"surfaceId": "s", "components": rows}})

        assert made(surfaces) == []
        assert "cannot be asked from here" in surfaces.diagnostics()[0].message


class TestAnswers:
    @pytest.mark.parametrize("call_id", ["a1-f2", "nope", "a1-f1x"])
    def test_one_with_an_unknown_id_is_refused_and_changes_nothing(self, call_id):
        surfaces = started(PRICE, model={"sku": "A1"})
        made(surfaces)
        before = json.dumps(surfaces.snapshot())

        (problem,) = surfaces.apply(response(call_id, value=1))

        assert problem.refused
        assert problem.code == "INVALID_FUNCTION_CALL"
        assert problem.facts["functionCallId"] == call_id
        assert json.dumps(surfaces.snapshot()) == before
        assert surfaces.flush() == []

    def test_a_second_one_is_refused(self):
        surfaces = started(PRICE, model={"sku": "A1"})
        made(surfaces)
        surfaces.apply(response("a1-f1", value=1))

        assert [problem.refused for problem in surfaces.apply(response("a1-f1", value=2))] == [True]

    def test_one_of_another_agent_is_refused(self):
        surfaces = started(PRICE, model={"sku": "A1"})
        made(surfaces)

        assert surfaces.apply(response("a1-f1", value=1), owner="other")[0].refused

    def test_one_that_is_too_large_is_refused_with_the_limit(self):
        surfaces = started(PRICE, model={"sku": "A1"}, agent_answer_bytes=100)
        made(surfaces)

        (problem,) = surfaces.apply(response("a1-f1", value="x" * 101))

        assert (problem.code, problem.facts["limit"]) == ("budget_exceeded", "agent_answer_bytes")
        assert [*surfaces.calls.pending()] == ["a1-f1"]

    def test_one_comes_too_late_once_its_surface_has_gone(self):
        surfaces = started(PRICE, model={"sku": "A1"})
        made(surfaces)
        surfaces.apply(message("deleteSurface"))

        assert surfaces.calls.pending() == {}
        assert surfaces.apply(response("a1-f1", value=1))[0].refused


@pytest.mark.parametrize("value", [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "[x](javascript:alert(1))", "**bold** ${/sku}",
    {"<b>": "</div><script>"}, ["a", {"@call": "ask"}], "\u202eevil", "\0", True, None, 1e21, {"$secret": "token"},
])  # fmt: skip
def test_an_answer_is_shown_as_the_same_data_would_be(value):
    surfaces = started(PRICE, model={"sku": "A1"})
    made(surfaces)

    surfaces.apply(response("a1-f1", value=value))

    assert text_of(surfaces) == text_of(started(row("root", "Text", text=path("/x")), model={"x": value}))


class TestBounds:
    def test_a_loop_asks_as_often_as_the_limit_allows_and_says_where_it_stops(self):
        surfaces = started(
            row("root", "List", children={"componentId": "item", "path": "/items"}),
            row("item", "Text", text=ask(q=path("."))),
            model={"items": [*range(7)]},
            agent_calls=3,
        )

        assert asked(made(surfaces)) == [{"q": 0}, {"q": 1}, {"q": 2}]

        surfaces.flush()
        html = text_of(surfaces)
        assert (html.count(PENDING_TEXT), html.count("…")) == (3, 4)
        (problem,) = surfaces.diagnostics()
        assert (problem.facts["limit"], problem.facts["allowed"]) == ("agent_calls", 3)

    def test_calls_that_are_not_shown_any_more_give_room_to_others(self):
        surfaces = started(PRICE, model={"sku": 0}, agent_calls=2)
        for number in range(1, 5):
            assert asked(made(surfaces)) == [{"q": number - 1}]
            surfaces.apply(message("updateDataModel", path="/sku", value=number))

        (due,) = made(surfaces)

        assert due.forget == ["a1-f3", "a1-f4"]
        assert [*surfaces.calls.pending()] == ["a1-f5"]

    def test_an_obscured_value_is_sent_as_its_handle(self):
        handle = {"$secret": "token"}
        surfaces = started(PRICE, model={"sku": handle})

        assert asked(made(surfaces)) == [{"q": handle}]

    def test_arguments_that_are_no_json_are_not_sent(self):
        surfaces = started(row("root", "Text", text=ask(q={"@call": "endless"})))

        assert made(surfaces) == []
        assert surfaces.diagnostics()[0].message == "NaN and Infinity are not JSON."

    def test_the_same_number_written_otherwise_is_the_same_call(self):
        surfaces = started(PRICE, model={"sku": 1})
        made(surfaces)
        surfaces.apply(message("updateDataModel", path="/sku", value=1.0))

        assert made(surfaces) == []

    def test_arguments_that_are_too_long_are_not_sent(self):
        surfaces = started(PRICE, model={"sku": "x" * 60}, agent_call_chars=50)

        assert made(surfaces) == []
        assert surfaces.diagnostics()[0].facts["limit"] == "agent_call_chars"


class TestClicks:
    def button(self, action, **more):
        return [row("root", "Button", child="l", action=action, **more), row("l", "Text", text="Go")]

    def test_what_an_action_needs_is_asked_before_the_click_and_sent_with_it(self):
        surfaces = started(*self.button({"event": {"name": "buy", "context": {"price": ask(q="A1")}}}))
        assert asked(made(surfaces)) == [{"q": "A1"}]
        with pytest.raises(ActionError) as waiting:
            surfaces.act("a1-0")
        assert waiting.value.code == "pending"
        surfaces.apply(response("a1-f1", value=12))

        assert surfaces.act("a1-0").message["action"]["context"] == {"price": 12}

    def test_an_action_stops_where_the_answer_is_an_error(self):
        surfaces = started(*self.button({"event": {"name": "buy", "context": {"price": ask(q="A1")}}}))
        made(surfaces)
        surfaces.apply(response("a1-f1", error={"code": "TIMEOUT", "message": "Too late."}))

        with pytest.raises(ActionError) as stopped:
            surfaces.act("a1-0")

        assert (stopped.value.code, stopped.value.message) == ("TIMEOUT", "Too late.")

    def test_a_check_that_is_pending_shows_no_fault_and_holds_its_button_back(self):
        checks = [{"condition": {"@call": "judge", "args": {"q": at}}, "message": "No."} for at in ("x", "y")]
        surfaces = started(*self.button({"event": {"name": "buy"}}, **{"@checks": checks}))
        made(surfaces)
        html = text_of(surfaces)
        # It keeps the focus, so it is not disabled; what is said is said once.
        assert ' aria-disabled="true">' in html
        assert 'id="a1-0-xw">Waiting for an answer\N{HORIZONTAL ELLIPSIS}</span></button>' in html
        with pytest.raises(ActionError) as waiting:
            surfaces.act("a1-0")
        assert waiting.value.code == "pending"

        surfaces.apply(response("a1-f1", value={"valid": False, "message": "Sold out."}))
        surfaces.apply(response("a1-f2", value={"valid": True}))

        assert 'disabled title="Sold out."' in text_of(surfaces)
        assert "a2-why" not in text_of(surfaces)

    @pytest.mark.parametrize("action", [
        {"event": {"name": "buy", "context": {"price": ask(q="x")}}},
        {"event": {"name": "buy", "userMessage": ask(q="x")}},
        {"functionCall": {"@call": "openUrl", "args": {"url": ask(q="x")}}},
        {"functionCall": ask(q=ask(q="x"))},
    ])  # fmt: skip
    def test_what_an_action_needs_is_asked_while_its_button_is_shown_which_is_held_until_then(self, action):
        surfaces = started(*self.button(action))
        page = Page()
        page.apply_changes(surfaces.flush())
        assert asked(made(surfaces)) == [{"q": "x"}]
        page.apply_changes(surfaces.flush())
        assert ' aria-disabled="true">' in text_of(surfaces)
        with pytest.raises(ActionError):
            surfaces.act("a1-0")

        surfaces.apply(response("a1-f1", value="https://example.org/"))

        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
        assert "disabled" not in page.markup
        assert "https://example.org/" in str(surfaces.act("a1-0"))

    def test_a_check_fails_where_the_answer_is_an_error(self):
        checks = [{"condition": {"@call": "judge", "args": {"q": "x"}}, "message": "No."}]
        surfaces = started(*self.button({"event": {"name": "buy"}}, **{"@checks": checks}))
        made(surfaces)

        surfaces.apply(response("a1-f1", error={"code": "X", "message": "y"}))

        assert 'disabled title="No."' in text_of(surfaces)

    def test_a_click_calls_a_function_of_the_agent_and_only_once_while_that_is_pending(self):
        surfaces = started(*self.button({"functionCall": ask(q="now")}))
        assert made(surfaces) == []

        due = surfaces.act("a1-0")

        assert asked([due]) == [{"q": "now"}]
        surfaces.calls.make(due)
        with pytest.raises(ActionError) as waiting:
            surfaces.act("a1-0")
        assert waiting.value.code == "pending"
        surfaces.apply(response("a1-f1", value="done"))
        assert asked([surfaces.act("a1-0")]) == [{"q": "now"}]


class TestStanding:
    @pytest.mark.parametrize("properties", [
        {"component": "Image", "url": ask(q=1)},
        {"component": "Icon", "name": "home"},
        {"component": "Video", "url": ask(q=1)},
        {"component": "AudioPlayer", "url": ask(q=1), "description": ask(q=2)},
        {"component": "CheckBox", "label": ask(q=1), "value": ask(q=2)},
        {"component": "Slider", "max": 5, "value": ask(q=1)},
        {"component": "TextField", "label": ask(q=1), "value": ask(q=2)},
        {"component": "DateTimeInput", "value": ask(q=1), "enableDate": True},
        {"component": "ChoicePicker", "options": [{"label": ask(q=1), "value": "a"}], "value": ask(q=2)},
        {"component": "Text", "text": "x", "@accessibility": {"label": ask(q=1)}},
    ])  # fmt: skip
    def test_every_component_is_drawn_with_values_that_are_pending(self, properties):
        surfaces = started({"id": "root", **properties})
        page = Page()
        page.apply_changes(surfaces.flush())
        for due in surfaces.calls.due():
            surfaces.calls.make(due)
        page.apply_changes(surfaces.flush())
        pending = [*surfaces.calls.pending()]
        assert len(pending) == sum(value != "" for value in json.dumps(properties).split('"ask"')[1:])

        for call_id in pending:
            surfaces.apply(response(call_id, value="2026-01-02"))

        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)

    @pytest.mark.parametrize("seed", range(8 * FUZZ))
    def test_a_page_that_follows_shows_what_a_fresh_one_does(self, seed):
        random = Random(seed)
        limits = {"agent_calls": random.choice([3, 100]), "list_items": random.choice([3, 1000, 1000])}
        surfaces, page = engine(**limits).surfaces(), Page()
        assert (
            surfaces.apply({"version": "1.0", "createSurface": {"surfaceId": "s", "catalogId": SHOP}}) == []
        )
        for step in chaos.start(random):
            feed(surfaces, asking.of_1_0(random, step))
        for number in range(40):
            for _ in range(random.choice([1, 1, 2, 3])):
                attempt = surfaces.attempt() if random.random() < 0.1 else None
                before = inside(surfaces) if attempt is not None else None
                for step in [asking.of_1_0(random, chaos.step(random)), *asking.answers(random, surfaces)]:
                    feed(surfaces, step)
                if attempt is not None:
                    surfaces.flush()
                    for due in surfaces.calls.due():
                        surfaces.calls.make(due)
                    attempt.undo()
                    assert inside(surfaces) == before, f"step {number}"

            page.apply_changes(surfaces.flush())
            due = surfaces.calls.due()
            assert due == surfaces.calls.due()
            if random.random() < 0.8:
                for one in due:
                    surfaces.calls.make(one)

            page.apply_changes(surfaces.flush())
            assert page.markup == shown(surfaces), f"step {number}"
            restored = engine(**limits).restore(json.loads(json.dumps(surfaces.snapshot())))
            if limits["list_items"] == 1000:
                assert [s.html() for s in restored] == [s.html() for s in surfaces], f"step {number}"
                assert sorted(map(str, asked(restored.calls.due()))) == sorted(
                    map(str, asked(surfaces.calls.due()))
                )
