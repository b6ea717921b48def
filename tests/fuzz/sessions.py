"""Random sessions: the same steps for four sets of surfaces, each with a page that follows it.

The first is flushed after each step. The second is flushed now and then, so that many steps become one frame. The third
is restored from its snapshot after each step, the fourth laid to rest. Whenever all of them have been flushed, every
page shows the same, to the letter, as any of the sets drawn afresh. Calls of agents' functions are made as rows of the
log make them: what the first set finds due is made in all of them, and so it is with answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from a2ui import A2uiError, CallsDue, Engine, EngineOptions, Limits, SurfaceSet
from tests.a2ui import chaos
from tests.a2ui.asking import answers
from tests.a2ui.programs import create, message
from tests.fuzz import in_1_0
from tests.fuzz.dom import Page

Step = Callable[[SurfaceSet], object]

STEPS = 14


def limits(random: Random) -> Limits:
    """Mostly so that nothing is cut."""
    usual = Limits()
    if random.random() < 0.6:
        return replace(usual, list_items=random.choice([2, 3, 1_000]))
    return replace(
        usual,
        list_items=random.choice([2, 1_000]),
        instances=random.choice([12, 40, 10_000]),
        repeats=random.choice([2, 2_000]),
        depth=random.choice([5, 100]),
        html_chars=random.choice([2_000, 5_000_000]),
        surface_chars=random.choice([300, 1_000, 2_000, 8_000_000, 8_000_000]),
    )


class Session:
    """One set of surfaces and its page."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.surfaces = engine.surfaces()
        self.page = Page()

    def flush(self) -> None:
        self.page.apply_changes(self.surfaces.flush())

    def restore(self) -> None:
        self.surfaces = self._engine.restore(json.loads(json.dumps(self.surfaces.snapshot())))

    @property
    def fresh(self) -> str:
        return "".join([surface.html() for surface in self.surfaces])


def play(seed: int, length: int = STEPS, *, version: str = "v0.9", asking: bool = False) -> None:
    """One session of so many steps, in v0.9 or in 1.0. Fails with the seed and the step. `asking`: in 1.0, with
    functions that the agent runs."""
    random = Random(seed)
    allowed = limits(random)
    if asking:
        allowed = replace(allowed, agent_calls=random.choice([2, 5, 100]))
    catalogs = in_1_0.ASKING if asking else in_1_0.CATALOGS
    engine = Engine(EngineOptions(catalogs=catalogs, limits=allowed, debug=random.random() < 0.5))
    default = version == "v0.9" or random.random() < 0.5
    each, grouped, restored, rested = sessions = [Session(engine) for _ in range(4)]
    steps: list[Any] = [create(), *chaos.start(random)]
    definitions: dict[str, Any] = {}
    for number in range(length + len(steps)):
        calls = of_calls(random, each.surfaces) if asking else None
        step = calls or (steps.pop(0) if steps else next_step(random, definitions, each.page))
        if isinstance(step, dict) and "createSurface" in step and number:
            steps = chaos.start(random)
        note(step, definitions)
        if version == "1.0":
            step = in_1_0.newer(random, step, default=default, asking=asking) if calls is None else calls
        try:
            answers = [do(step, session.surfaces) for session in sessions]
            assert answers[0] == answers[1] == answers[2] == answers[3]
            each.flush()
            restored.flush()
            restored.restore()
            rested.flush()
            rested.surfaces.rest()
            assert each.page.html == each.fresh
            assert restored.page.html == rested.page.html == each.page.html
            assert restored.surfaces.snapshot() == grouped.surfaces.snapshot()
            if random.random() < 0.4:
                grouped.flush()
                assert grouped.page.html == each.page.html
                assert restored.fresh == each.page.html
        except AssertionError as error:
            raise AssertionError(
                f"seed {seed}, step {number}: {json.dumps(step, default=vars)[:2_000]}"
            ) from error


def of_calls(random: Random, surfaces: SurfaceSet) -> Any:
    """What happens to calls of the agent's functions next, if anything: they are made, or one is answered."""
    due = surfaces.calls.due()
    if due and random.random() < 0.8:
        return "calls", "", due
    answered = answers(random, surfaces) if random.random() < 0.3 else []
    return answered[0] if answered else None


def next_step(random: Random, definitions: dict[str, Any], page: Page) -> Any:
    """A message, a patch, or what a person does: `(what, target, value)`."""
    chance = random.random()
    what, mark = random.choice([("more", "data-more="), ("edit", "data-in="), ("act", "data-act")])
    targets = page.marked(mark) if chance < 0.3 else []
    if targets:
        entered = random.choice(["v", True, 3, ["x"], "2020-01-01"])
        return what, random.choice(targets).removesuffix("-xb"), entered
    if not definitions:
        return create()
    chance = random.random()
    if chance < 0.02:
        return message("deleteSurface")
    if chance < 0.2:
        known = random.sample(list(definitions.values()), min(len(definitions), random.choice([1, 1, 2, 3])))
        return message("updateComponents", components=[chaos.altered(random, one) for one in known])
    if chance < 0.35:
        return moved(random, definitions)
    return chaos.step(random)


def moved(random: Random, definitions: dict[str, Any]) -> Any:
    """A child goes from one parent to another, in one message or in two."""
    holders = [
        one for one in definitions.values() if one.get("children") and isinstance(one["children"], list)
    ]
    if not holders:
        return chaos.step(random)
    source = random.choice(holders)
    child = random.choice(source["children"])
    left = {**source, "children": [name for name in source["children"] if name != child]}
    target = random.choice([one for one in chaos.IDS[1:] if one not in (source["id"], child)])
    taken = random.choice(
        [
            {"id": target, "component": "Column", "children": [child]},
            {"id": target, "component": "Card", "child": child},
            {"id": target, "component": "Modal", "trigger": child, "content": child},
        ]
    )
    rows = [left, taken]
    random.shuffle(rows)
    return message("updateComponents", components=rows[: random.choice([1, 2, 2])])


def note(step: Any, definitions: dict[str, Any]) -> None:
    """Keeps what the surface may be made of by now; some of it may have been refused."""
    if isinstance(step, dict):
        if "deleteSurface" in step:
            definitions.clear()
        elif "createSurface" in step:
            definitions.setdefault("root", {"id": "root", "component": "Column", "children": ["c0", "c1"]})
        for row in step.get("updateComponents", {}).get("components", ()):
            definitions[row["id"]] = row


def do(step: Any, surfaces: SurfaceSet) -> Any:
    """What comes back, as far as a flush cannot change it."""
    try:
        if isinstance(step, tuple):
            what, target, value = step
            if what == "more":
                more = surfaces.more(target)
                surfaces.apply_more(more)
                return more
            if what == "calls":
                for due in value:
                    surfaces.calls.make(due)
                return None
            if what == "act":
                done = surfaces.act(target)
                if isinstance(done, CallsDue):
                    surfaces.calls.make(done)
                    return done
                return getattr(done, "label", None)
            edit = surfaces.edit(target, value)
            surfaces.apply_edit(edit)
            return edit
        if isinstance(step, list):
            surfaces.patch("", "s", step)
            return None
        return [problem.as_message() for problem in surfaces.apply(step)]
    except A2uiError as error:
        return error.code, error.message
