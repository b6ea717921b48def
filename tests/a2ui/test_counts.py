"""What the view counts stays what it is: sizes, charges and places after any history (see `rendering.view`)."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from a2ui import A2uiError, Engine, EngineOptions, Limits
from tests.a2ui import chaos
from tests.a2ui.programs import create

pytestmark = pytest.mark.usefixtures("each_version")


def every_place(place):
    yield place
    for child in place.children.values():
        yield from every_place(child)
    if place.slot is not None and place.slot.item is not None:
        yield from every_place(place.slot.item)


@pytest.mark.parametrize("seed", range(25))
def test_sizes_and_charges_after_a_history(seed):
    random = Random(seed)
    surfaces = Engine(EngineOptions(limits=Limits(list_items=4))).surfaces()
    for step in [create(), *chaos.start(random), *[chaos.step(random) for _ in range(40)]]:
        if isinstance(step, list):
            with suppress(A2uiError):
                surfaces.patch("", "s", step)
        else:
            surfaces.apply(step)
        surfaces.flush()
        surface = surfaces.get("", "s")
        if surface is None or not surface.view.live:
            continue
        view = surface.view
        places = list(every_place(view.root))
        for place in places:
            assert place.size == 1 + place.weight + sum(child.size for child in place.children.values())
        states = [state for place in places if place.slot for state in place.slot.states.values()]
        charged = sum(state.charged for state in states)
        assert view.budget.used == len(places) + sum(place.weight for place in places) + charged
        assert view.made == view.built == len(places)
        for state in states:
            assert state.visible <= len(state.keys) <= state.count
