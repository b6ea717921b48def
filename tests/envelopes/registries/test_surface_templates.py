"""Surface templates are registered by kind of data; the runtime's own can be replaced, once."""

from __future__ import annotations

import pytest

from a2ui.compose import Surface, Text
from envelopes.approvals.surface import DEFAULT
from envelopes.errors import RegistrationError
from envelopes.management.describing import described
from envelopes.registries.surface_templates import (
    APPROVAL,
    SurfaceTemplate,
    SurfaceTemplateRegistry,
    TemplateContext,
    surface_templates,
)
from envelopes.types import JsonObject


def draw(data: JsonObject, context: TemplateContext) -> Surface:
    return Surface(context.surface_id, Text("a"))


def test_a_kind_has_one_template_and_a_clash_names_both_places() -> None:
    registry = SurfaceTemplateRegistry("surface template")
    made = registry.register(SurfaceTemplate("trip", draw))
    assert registry.for_data("trip") is made
    assert registry.has_any_for_data()
    with pytest.raises(RegistrationError, match=rf"registered already \({__name__}, line"):
        registry.register(SurfaceTemplate("Trip", draw))


@pytest.mark.parametrize("name", ["", "a b", "beach:other", "beach:", "_ggui:x", "é"])
def test_names_that_are_none_or_the_runtimes_are_refused(name: str) -> None:
    with pytest.raises(RegistrationError):
        SurfaceTemplateRegistry("surface template").register(SurfaceTemplate(name, draw))


@pytest.mark.parametrize("first", [True, False])
def test_an_application_replaces_the_runtimes_own_once_whoever_comes_first(first: bool) -> None:
    registry = SurfaceTemplateRegistry("surface template")
    theirs = SurfaceTemplate(APPROVAL, draw)
    for item in (DEFAULT, theirs) if first else (theirs, DEFAULT):
        registry.register(item)
    assert registry[APPROVAL] is theirs
    assert registry.place(APPROVAL).module == __name__
    assert registry.for_data(APPROVAL) is None
    assert not registry.has_any_for_data()
    with pytest.raises(RegistrationError, match="registered already"):
        registry.register(SurfaceTemplate(APPROVAL, draw))


def test_after_start_up_there_are_no_more() -> None:
    with pytest.raises(RegistrationError, match="too late"):
        surface_templates.register(SurfaceTemplate("late", draw))
    with pytest.raises(RegistrationError, match="too late"):
        surface_templates.register(SurfaceTemplate(APPROVAL, draw))
    assert surface_templates[APPROVAL] is DEFAULT


def test_developers_read_who_draws() -> None:
    assert described(SurfaceTemplate("trip", draw)) == f"drawn by {__name__}.draw"
