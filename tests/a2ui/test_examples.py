"""Every example program of the specification, fed message by message to a page that follows along."""

from __future__ import annotations

import json

import pytest

from a2ui import Engine
from tests.a2ui.page import Page, shown
from tests.shared import SHARED, needs_shared

pytestmark = [pytest.mark.shared, needs_shared]

PROGRAMS = (
    sorted((SHARED / "spec/a2ui/specification").glob("v*/catalogs/*/examples/*.json")) if SHARED else []
)


def ident(file):
    return "-".join((file.parts[-5], file.parts[-3], file.stem))


@pytest.mark.parametrize("file", PROGRAMS, ids=ident)
def test_example_message_by_message(file):
    program = json.loads(file.read_text(encoding="utf-8"))
    engine = Engine()
    surfaces, page = engine.surfaces(), Page()

    for message in program["messages"]:
        problems = surfaces.apply(message)
        assert not [problem for problem in problems if problem.refused], problems
        page.apply_changes(surfaces.flush())
        assert page.markup == shown(surfaces)

    assert not surfaces.diagnostics()
    at_once = engine.surfaces()
    for message in program["messages"]:
        at_once.apply(message)
    assert shown(at_once) == page.markup
    assert shown(engine.restore(json.loads(json.dumps(surfaces.snapshot())))) == page.markup
