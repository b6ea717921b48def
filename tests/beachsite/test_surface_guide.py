"""The snippets of docs/surfaces.md, run as they stand there, one after the other."""

from __future__ import annotations

import re
from typing import Any

import pytest

from a2ui import Engine, EngineOptions
from beachsite.suite import ROOT
from envelopes.registries import surface_templates as module
from envelopes.registries.surface_templates import SurfaceTemplateRegistry, TemplateContext

GUIDE = (ROOT / "docs" / "surfaces.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def test_they_run_and_what_they_build_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = SurfaceTemplateRegistry("surface template")
    monkeypatch.setattr(module, "surface_templates", registry)
    known: dict[str, Any] = {"__name__": "shop.beach"}
    for snippet in SNIPPETS:
        exec(snippet, known)  # noqa: S102 - our own document

    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    assert [surfaces.apply(message, owner="mo") for message in known["messages"]] == [[]]
    (made,) = surfaces.flush()
    for words in ("Trip to Corfu", "Paxos", "09:30", "Leave out"):
        assert words in made.html
    template = registry.for_data("acme.trip")
    assert template is not None
    assert registry.place("acme.trip").module == "shop.beach"
    context = TemplateContext("data:1:acme.trip", "s", "mo", "acme.trip", "en-US", "UTC")
    surface = template.draw({"to": "Corfu", "stops": ["Paxos"]}, context)
    assert surfaces.apply(surface.create()[0], owner="mo") == []
    assert surfaces.diagnostics() == []
    assert len(SNIPPETS) == GUIDE.count("```python")
