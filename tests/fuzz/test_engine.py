"""Damaged programs, patches and clicks against the engine."""

# ruff: noqa: PT017 - either answer is right, so there is nothing to expect with raises
from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2ui import A2uiError, Engine, EngineOptions, Limits
from a2ui.data.data_model import DataModel
from tests.a2ui.page import Page, shown
from tests.a2ui.strategies import FUZZ
from tests.fuzz.cost import BOUND_MS, cost
from tests.fuzz.material import JSON, OPERATIONS, damaged, programs

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
OPTIONS = EngineOptions(limits=Limits(list_items=3), debug=True)


def targets(html):
    return [part.split('"')[0] for part in html.split(' id="')[1:]]


def use(surfaces, target, value):
    """Everything that a browser may ask of an element."""
    for ask in (
        lambda: surfaces.act(target),
        lambda: surfaces.apply_more(surfaces.more(target)),
        lambda: surfaces.apply_edit(surfaces.edit(target, value)),
    ):
        try:
            ask()
        except A2uiError as error:
            assert error.code
            assert error.message


@settings(max_examples=20 * FUZZ, deadline=None, suppress_health_check=SLOW)
@given(programs(), st.lists(st.tuples(st.integers(0, 40), JSON), max_size=4))
def test_programs(steps, uses):
    engine = Engine(OPTIONS)
    surfaces, page = engine.surfaces(), Page()
    for step in steps:

        def apply(step=step):
            if isinstance(step, list):
                try:
                    surfaces.patch("", "s", step)
                except A2uiError as error:
                    assert error.code
            else:
                for problem in surfaces.apply(step):
                    assert problem.code
                    json.dumps(problem.as_message())

        assert cost(apply, tries=1) <= BOUND_MS * 4
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
    for number, value in uses:
        known = targets("".join(surface.html() for surface in surfaces)) or ["a1-0"]
        use(surfaces, known[number % len(known)], value)
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)
    surfaces.diagnostics()
    kept = json.loads(json.dumps(surfaces.snapshot()))
    restored = engine.restore(kept)
    assert shown(restored) == page.markup
    assert json.loads(json.dumps(restored.snapshot())) == kept


@settings(max_examples=25 * FUZZ, deadline=None, suppress_health_check=SLOW)
@given(JSON)
def test_messages_that_are_no_messages(value):
    surfaces = Engine(OPTIONS).surfaces()

    assert all(problem.refused for problem in surfaces.apply(value))
    assert surfaces.flush() == []


@settings(max_examples=40 * FUZZ, deadline=None, suppress_health_check=SLOW)
@given(damaged({"a": [1, {"n": 2}], "items": [{"id": 1}, {"id": 2}]}), OPERATIONS)
def test_patches_are_all_or_nothing(document, operations):
    try:
        model = DataModel(document)
    except A2uiError:
        return
    before = json.dumps(model.value)
    try:
        model.patch(operations)
    except A2uiError as error:
        assert error.code in {"invalid_patch", "conflict", "test_failed", "budget_exceeded"}
        assert json.dumps(model.value) == before
    # What comes out is always JSON that UTF-8 can carry.
    json.dumps(model.value)
