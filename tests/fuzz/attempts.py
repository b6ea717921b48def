"""Random sessions with attempts in them: each beside a twin that never had the ones that were undone.

The twin gets the same steps, flushes and questions, but for those of an attempt that is undone. Whatever both are
asked, from then on too, they answer the same to the letter: fragments, HTML, diagnostics, edits, clicks, snapshots.
And inside of the set everything is what it was before, also what no answer has shown yet.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from a2ui import Engine, EngineOptions, SurfaceSet, joined_data_models
from tests.a2ui import chaos
from tests.a2ui.programs import BASIC, create, data, message
from tests.fuzz.dom import Page
from tests.fuzz.graph import described
from tests.fuzz.sessions import do, limits, next_step, note

STEPS = 12
OTHER = "beside"

V08_ROWS = [
    {"id": "top", "component": {"Text": {"text": {"path": "/t"}}}},
    {
        "id": "list",
        "component": {"Column": {"children": {"template": {"componentId": "top", "dataBinding": "/l"}}}},
    },
]
V08_ENTRY = {"key": "a", "valueMap": [{"key": "n", "valueString": "y"}]}
V08: list[dict[str, Any]] = [
    {"surfaceUpdate": {"surfaceId": "old", "components": V08_ROWS}},
    {"surfaceUpdate": {"surfaceId": "old", "components": [V08_ROWS[0], {"id": 5}]}},
    {"dataModelUpdate": {"surfaceId": "old", "contents": [{"key": "t", "valueString": "x"}]}},
    {"dataModelUpdate": {"surfaceId": "old", "path": "l", "contents": [V08_ENTRY]}},
    {"beginRendering": {"surfaceId": "old", "root": "top"}},
    {"beginRendering": {"surfaceId": "old", "root": "list"}},
    {"deleteSurface": {"surfaceId": "old"}},
]
V10_BODY = {"surfaceId": "new", "catalogId": BASIC, "dataModel": {"t": 1}}
V10: list[dict[str, Any]] = [
    {"version": "v1.0", "createSurface": {**V10_BODY, "components": [{"id": "root", "component": kind}]}}
    for kind in ("Text", 5)
] + [
    {"version": "v1.0", "updateDataModel": {"surfaceId": "new", "path": "/t", "value": 2}},
    {"version": "v1.0", "deleteSurface": {"surfaceId": "new"}},
]


def anything(random: Random, definitions: dict[str, Any], page: Page) -> Any:
    """A step of the surface `s`, or a message for another one, also of another version."""
    chance = random.random()
    if chance < 0.75:
        return next_step(random, definitions, page)
    if chance < 0.9:
        return random.choice(V08 + V10)
    return random.choice(
        [
            create(OTHER),
            message("deleteSurface", OTHER),
            data(random.randrange(9), "/t", OTHER),
            message("updateComponents", OTHER, components=[chaos.definition(random, "root")]),
        ]
    )


class Twins:
    """The set that is tried on, and the one that is not."""

    def __init__(self, engine: Engine, *, shown: bool) -> None:
        self._engine = engine
        self._shown = shown
        self.sets = [engine.surfaces(), engine.surfaces()]
        self.page = Page()
        """What people see, as a page that is opened anew has it."""

    def look(self) -> None:
        """Opens the page."""
        self.page = Page()
        snapshot = json.loads(json.dumps(self.sets[1].snapshot()))
        self.page.apply_changes(self._engine.restore(snapshot, shown=False).flush())

    def both(self, ask: Any) -> Any:
        """The answer of both."""
        tried, untouched = (ask(surfaces) for surfaces in self.sets)
        assert tried == untouched
        return tried

    def restore(self) -> None:
        """Both go on in another process."""
        snapshot = json.dumps(self.both(lambda surfaces: surfaces.snapshot()))
        self.sets = [self._engine.restore(json.loads(snapshot), shown=self._shown) for _ in range(2)]

    def flush(self, surfaces: SurfaceSet) -> Any:
        """What is handed out, if anything is."""
        return surfaces.flush() if self._shown else surfaces.skip()

    def same(self) -> None:
        """Whatever is there to be seen without a change."""
        self.both(lambda surfaces: json.dumps(surfaces.snapshot()))
        self.both(lambda surfaces: [surface.dom_id for surface in surfaces])
        self.both(lambda surfaces: json.dumps(joined_data_models(surfaces.data_models(""))))


def play(seed: int, length: int = STEPS) -> None:
    """One session of so many attempts and steps. Fails with the seed and the step."""
    random = Random(seed)
    engine = Engine(EngineOptions(limits=limits(random), debug=random.random() < 0.5))
    twins = Twins(engine, shown=random.random() < 0.85)
    definitions: dict[str, Any] = {}
    steps: list[Any] = [create(), *chaos.start(random)]
    for number in range(length):
        try:
            for step in steps:
                note(step, definitions)
                twins.both(lambda surfaces, step=step: do(step, surfaces))
            if random.random() < 0.8:
                twins.both(twins.flush)
            if random.random() < 0.5:
                twins.both(lambda surfaces: surfaces.diagnostics())
            if random.random() < 0.1:
                twins.restore()
            twins.look()
            attempt(twins, random, definitions)
            twins.same()
            if random.random() < 0.2:
                twins.both(lambda surfaces: [surface.html() for surface in surfaces])
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, attempt {number}") from error
        steps = [anything(random, definitions, twins.page) for _ in range(random.choice([0, 1, 1, 2]))]


def attempt(twins: Twins, random: Random, definitions: dict[str, Any]) -> None:
    """Random steps, tried. Where they are kept, the twin has them as well."""
    tried, untouched = twins.sets
    kept = random.random() < 0.3
    before, inside = dict(definitions), described(tried)
    trial = tried.attempt()
    for _ in range(random.choice([1, 1, 2, 4])):
        step = anything(random, definitions, twins.page)
        note(step, definitions)
        asked = random.choice(
            [
                twins.flush,
                twins.flush,
                lambda surfaces: surfaces.diagnostics(),
                lambda surfaces: [surface.html() for surface in surfaces],
                lambda surfaces: surfaces.snapshot() and None,
                lambda surfaces: None,
            ]
        )
        answers = do(step, tried), asked(tried)
        if kept:
            assert answers == (do(step, untouched), asked(untouched))
    if kept:
        trial.keep()
        return
    trial.undo()
    assert described(tried) == inside
    definitions.clear()
    definitions.update(before)
