"""Random lists inside of lists that are longer than the limit: asked for more, emptied, filled again, tried and undone.
As `sessions`, with lists alone, so that nearly each step is about one."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from a2ui import Engine, EngineOptions, Limits
from tests.a2ui.programs import components, create, data, path, row
from tests.fuzz.dom import Page
from tests.fuzz.sessions import Session, do

AT_ONCE = 40
STEPS = 30
LISTS = ("/items", "/other", "/items/0/kids", "/items/1/kids", "/items/2/kids")
FLAT = row("leaf", "Text", text=path("n"))
FIELD = row("leaf", "TextField", label=path("n"), value=path("n"))
ITEMS = (
    row("item", "Column", children={"componentId": "leaf", "path": "kids"}),
    row("item", "Column", children=["leaf", "within"]),
    row("item", "Card", child="within"),
    row("item", "Text", text=path("n")),
)


def listed(random: Random, *, kids: bool = True) -> list[dict[str, Any]]:
    """Items with an identity, without one, with the same one, or with one as far as some place."""
    kind, known = random.choice(["id", "key", "both", "none", "same", "first"]), random.choice([1, 2, 3])
    found: list[dict[str, Any]] = []
    for at, number in enumerate(random.sample(range(12), random.choice([0, 0, 1, 2, 3, 5, 8]))):
        item: dict[str, Any] = {"n": random.choice("abc")}
        if kind in ("id", "both", "same") or (kind == "first" and at < known):
            item["id"] = number % 6 if kind == "same" else number
        if kind in ("key", "both"):
            item["key"] = number + 50
        if kids:
            item["kids"] = listed(random, kids=False)
        found.append(item)
    return found


def definitions(random: Random) -> dict[str, Any]:
    rows = [
        row("root", "Column", children=random.sample(["one", "two", "t"], random.choice([2, 3]))),
        row("one", random.choice(["List", "Column"]), children={"componentId": "item", "path": "/items"}),
        row("two", "List", children={"componentId": "item", "path": random.choice(["/items", "/other"])}),
        row("within", "List", children={"componentId": "leaf", "path": "kids"}),
        row("t", "Text", text=path("/t")),
        random.choice([FLAT, FIELD]),
        random.choice(ITEMS),
    ]
    return components(*random.sample(rows, len(rows)))


def step_of(random: Random, page: Page) -> Any:
    chance, where = random.random(), random.choice(LISTS)
    targets = page.marked("data-more=") if chance < 0.35 else []
    if targets:
        return "more", random.choice(targets).removesuffix("-xb"), None
    if chance < 0.5:
        return data(listed(random, kids="kids" not in where), where)
    if chance < 0.55:
        return data({"items": listed(random), "other": listed(random), "t": "T"})
    if chance < 0.62:
        return definitions(random)
    if chance < 0.7:
        return data(random.choice([[], {}, "s", None]), where)
    return [operation(random) for _ in range(random.choice([1, 1, 2, 3, 6]))]


def operation(random: Random) -> dict[str, Any]:
    where, index = random.choice(LISTS), random.randrange(6)
    item = [*listed(random, kids="kids" not in where), {"id": index, "n": "z"}][0]
    return random.choice(
        [
            {"op": "add", "path": f"{where}/{random.choice([0, index, '-'])}", "value": item},
            {"op": "remove", "path": f"{where}/{random.choice([0, index])}"},
            {"op": "move", "from": f"{where}/{index}", "path": f"{where}/{random.randrange(6)}"},
            {"op": "replace", "path": f"{where}/{index}/{random.choice(['n', 'id', 'key'])}", "value": index},
        ]
    )


def play(seed: int) -> None:
    random = Random(seed)
    limits = replace(
        Limits(),
        list_items=random.choice([1, 2, 2, 3]),
        instances=random.choice([12, 20, 40, *[10_000] * 6]),
    )
    engine = Engine(EngineOptions(limits=limits))
    each, grouped, restored, rested = sessions = [Session(engine) for _ in range(4)]
    start = data({"items": listed(random), "other": listed(random), "t": "T"})
    steps: list[Any] = [create(), start, definitions(random)]
    for _ in range(STEPS):
        step = steps.pop(0) if steps else step_of(random, each.page)
        answers = [do(step, session.surfaces) for session in sessions]
        assert answers[0] == answers[1] == answers[2] == answers[3]
        if random.random() < 0.3:
            trial = each.surfaces.attempt()
            do(step_of(random, each.page), each.surfaces)
            if random.random() < 0.6:
                each.surfaces.flush()
            trial.undo()
        each.flush()
        restored.flush()
        restored.restore()
        rested.flush()
        rested.surfaces.rest()
        assert restored.page.html == rested.page.html == each.page.html == each.fresh
        assert restored.surfaces.snapshot() == grouped.surfaces.snapshot()
        if random.random() < 0.4:
            grouped.flush()
            assert grouped.page.html == each.page.html


@pytest.mark.parametrize("start", range(0, 3 * AT_ONCE, AT_ONCE))
def test_lists_that_are_longer_than_the_limit_are_the_same_on_every_page(start):
    for seed in range(start, start + AT_ONCE):
        try:
            play(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
