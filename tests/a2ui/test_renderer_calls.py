"""Functions of the renderer that agents call (section 9 of the reading of 1.0)."""

from __future__ import annotations

import pytest

from tests.a2ui.asking import SHOP, create, engine, message, path
from tests.a2ui.programs import row


def call(name, catalog_id=SHOP, surface=None, version="1.0", **args):
    body = {"functionCallId": "c1", "callFunction": {"@call": name, "catalogId": catalog_id, "args": args}}
    return {"version": version, "callRendererFunction": body | ({"surfaceId": surface} if surface else {})}


def answered(*messages, **limits):
    surfaces = engine(**limits).surfaces()
    for one in messages:
        assert surfaces.apply(one) == []
    return [found["rendererFunctionResponse"] for found in surfaces.renderer_calls.responses()]


def test_a_function_that_agents_may_call_runs_and_its_value_goes_back():
    assert answered(call("total", prices=[1, 2.5])) == [{"functionCallId": "c1", "value": 3.5}]


def test_arguments_are_resolved_against_the_data_of_the_surface_as_it_is_when_it_is_asked():
    surfaces = engine().surfaces()
    surfaces.apply(create(row("root", "Text", text="x"), model={"prices": [1]}))
    surfaces.apply(call("total", surface="s", prices=path("/prices")))
    assert surfaces.renderer_calls.responses()[0]["rendererFunctionResponse"]["value"] == 1
    surfaces.apply(message("updateDataModel", path="/prices", value=[1, 2]))
    surfaces.apply(call("total", surface="s", prices=path("/prices")))

    assert surfaces.renderer_calls.responses()[0]["rendererFunctionResponse"]["value"] == 3


def test_without_a_surface_there_is_no_data():
    (answer,) = answered(call("total", prices=path("/prices")))

    assert answer["error"]["code"] == "EXECUTION_ERROR"


@pytest.mark.parametrize("asked", [
    call("formatNumber", value=1),
    call("required", value=1),
    call("openUrl", url="https://example.com"),
    call("click"),
    call("ask", q=1),
    call("nope"),
    call("total", catalog_id="https://example.com/nope", prices=[1]),
    call("total", surface="nope", prices=[1]),
    call("@index"),
])  # fmt: skip
def test_what_an_agent_may_not_call_is_answered_with_invalid_function_call(asked):
    (answer,) = answered(asked)

    assert answer["functionCallId"] == "c1"
    assert answer["error"]["code"] == "INVALID_FUNCTION_CALL"


def test_a_function_of_no_value_is_answered_with_null():
    assert answered(call("sync")) == [{"functionCallId": "c1", "value": None}]


def test_a_function_that_raises_is_answered_with_execution_error_and_says_nothing_of_the_inside():
    (answer,) = answered(call("broken"))

    assert answer["error"] == {"code": "EXECUTION_ERROR", "message": "broken failed inside."}


def test_the_answer_speaks_the_version_of_the_surface():
    surfaces = engine().surfaces()
    surfaces.apply(create(row("root", "Text", text="x")) | {"version": "v1.0"})
    surfaces.apply(call("total", surface="s", prices=[1]))

    assert surfaces.renderer_calls.responses()[0]["version"] == "v1.0"


def test_the_candidate_writes_its_calls_without_a_mark():
    body = {
        "functionCallId": "c1",
        "callFunction": {"call": "total", "catalogId": SHOP, "args": {"prices": [2]}},
    }

    assert answered({"version": "v1.0", "callRendererFunction": body}) == [
        {"functionCallId": "c1", "value": 2}
    ]


def test_a_call_without_a_function_or_without_an_id_is_refused_and_not_answered():
    surfaces = engine().surfaces()
    for body in ({"functionCallId": "c1"}, {"callFunction": {"@call": "total", "catalogId": SHOP}}):
        problems = surfaces.apply({"version": "1.0", "callRendererFunction": body})
        assert [problem.code for problem in problems] == ["VALIDATION_FAILED"]

    assert surfaces.renderer_calls.responses() == []


def test_more_calls_than_the_limit_allows_are_refused():
    surfaces = engine(renderer_calls=2).surfaces()

    found = [surfaces.apply(call("total", prices=[n])) for n in range(3)]

    assert [len(problems) for problems in found] == [0, 0, 1]
    assert found[2][0].facts["limit"] == "renderer_calls"


def test_replaying_a_call_runs_nothing():
    surfaces = engine().surfaces()
    surfaces.apply(call("broken"))
    surfaces.flush()

    assert surfaces.renderer_calls.responses() == []


def test_what_stands_behind_an_obscured_value_is_not_told():
    (answer,) = answered(
        create(row("root", "Text", text="x"), model={"secret": {"$secret": "t"}}),
        call("total", surface="s", prices=[path("/secret")]),
    )

    assert "$secret" not in str(answer)
