"""Prints everything that hostile programs make of the engine, for `test_hash_seed`: run with a hash seed."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

from a2ui import A2uiError, Engine, EngineOptions, Limits
from tests.a2ui import chaos
from tests.a2ui.programs import components, create, data, path, row


def rings(random: Random) -> list[dict[str, Any]]:
    """Components that refer to each other at random, by id and by templates: full of cycles."""
    names = ["root", *[f"c{random.randrange(10**6)}" for _ in range(random.randrange(3, 12))]]
    rows = []
    for name in names:
        others = random.sample(names, random.randrange(1, 4))
        if random.random() < 0.4:
            children: Any = {"componentId": others[0], "path": random.choice(["/l", "l", "."])}
        else:
            children = others
        rows.append(row(name, random.choice(["Column", "Row", "List"]), children=children))
    random.shuffle(rows)
    return rows


def keyed(random: Random) -> list[Any]:
    """A list whose items go, come back, move and change within one flush."""
    items = [{"id": f"k{n}", "n": n} for n in range(12)]
    steps: list[Any] = [
        create(),
        data({"l": items, "t": "x"}),
        components(
            row("root", "List", children={"componentId": "i", "path": "/l"}),
            row("i", "Row", children=["a", "b"]),
            row("a", "Text", text=path("n")),
            row("b", "Text", text=path("/t")),
        ),
        None,
    ]
    for _ in range(12):
        chosen = random.sample(items, random.randrange(4, 12))
        steps += [
            data(random.sample(items, 3), "/l"),
            data([{**item, "n": random.random()} for item in chosen], "/l"),
        ]
        steps += [data(random.random(), "/t"), None]
    return steps


def run(steps: list[Any]) -> list[Any]:
    """What comes of a program; None flushes."""
    surfaces = Engine(EngineOptions(limits=Limits(list_items=8))).surfaces()
    made: list[Any] = []
    for step in steps:
        if step is None:
            made.append([[change.kind, change.html, change.ops] for change in surfaces.flush()])
        elif isinstance(step, list):
            try:
                surfaces.patch("", "s", step)
            except A2uiError as error:
                made.append([error.code, error.message])
        else:
            made.append([problem.as_message() for problem in surfaces.apply(step)])
    made.append([surface.html() for surface in surfaces])
    made.append([problem.as_message() for problem in surfaces.diagnostics()])
    made.append(surfaces.snapshot())
    return made


def main() -> None:
    result: list[Any] = []
    for seed in range(40):
        random = Random(seed)
        first = rings(random)
        result.append(
            run([create(), components(*first), None, *[components(one) for one in rings(random)], None])
        )
        result.append(run(keyed(random)))
        steps = [*chaos.start(random), *[chaos.step(random) for _ in range(12)]]
        result.append(run([create(), *[part for step in steps for part in (step, None)]]))
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
