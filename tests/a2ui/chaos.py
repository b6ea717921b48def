"""Random programs: surfaces, data, patches, redefinitions, in any order. The same seed gives the same program."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.a2ui.programs import call, components, data, path, row

IDS = ["root", *[f"c{n}" for n in range(9)]]
DATA_PATHS = (
    "/items", "/t", "/items/0", "/items/1/n", "/items/2/id", "/items/0/kids", "/items/1/kids/0", "/items/1/kids/0/n",
    "/", "/tpl", "/kids", "/items/3", "/items/6", "/items/0/key",
)  # fmt: skip
LISTS = ("/items", "/items", "/items/0/kids", "/items/1/kids")


def item(random: Random, depth: int = 0) -> Any:
    """An item of a list: mostly an object with or without keys, sometimes anything else."""
    if random.random() > 0.8:
        return random.choice([None, 1, "s", [1]])
    found: dict[str, Any] = {
        "n": random.choice(["x", "y", "*b*", 3, True, None]),
        "id": random.choice([random.randrange(6), str(random.randrange(30)), random.randrange(1000)]),
    }
    if random.random() < 0.3:
        found["key"] = random.randrange(50)
    if depth < 2 and random.random() < 0.5:
        found["kids"] = [item(random, depth + 1) for _ in range(random.randrange(4))]
    if random.random() < 0.1:
        del found["id"]
    return found


def items(random: Random) -> list[Any]:
    if random.random() > 0.7:
        return [item(random) for _ in range(random.randrange(6))]
    return [
        {
            "id": number,
            "n": random.choice("abc*"),
            "kids": [{"id": below, "n": "k"} for below in random.sample(range(9), random.randrange(3))],
        }
        for number in random.sample(range(30), random.randrange(6))
    ]


def value(random: Random) -> Any:
    """A dynamic value."""
    return random.choice(
        [
            path("/t"),
            path("n"),
            path("/items/1/n"),
            "lit",
            "**bold**",
            call("formatString", value="${n}-${/t}"),
            call("formatString", value=path("/tpl")),
            path("/items"),
        ]
    )


def definition(random: Random, component_id: str) -> dict[str, Any]:
    """A definition of a component that refers to any other ones."""
    others = [name for name in IDS if name != component_id]
    other = random.choice(others)
    kind = random.choice(
        [
            "Row",
            "Column",
            "List",
            "Items",
            "Items",
            "Card",
            "Button",
            "TextField",
            "Tabs",
            "Modal",
            "Nope",
            "Text",
            "Text",
        ]
    )
    check = [{"condition": path(random.choice(["/t", "n"])), "message": "m"}]
    if kind in ("Row", "Column", "List"):
        return row(component_id, kind, children=[random.choice(others) for _ in range(random.randrange(4))])
    if kind == "Items":
        template = {"componentId": other, "path": random.choice(["/items", "kids", "/items", "items"])}
        return row(component_id, random.choice(["Column", "List"]), children=template)
    if kind == "Card":
        return row(component_id, kind, child=other)
    if kind == "Button":
        return row(component_id, kind, child=other, action={"event": {"name": "a"}}, checks=check)
    if kind == "TextField":
        return row(component_id, kind, label="L", value=path(random.choice(["/t", "n"])), checks=check)
    if kind == "Tabs":
        entries = [
            {"title": value(random), "child": random.choice(others)} for _ in range(random.randrange(3))
        ]
        return row(component_id, kind, tabs=entries)
    if kind == "Modal":
        return row(component_id, kind, trigger=other, content=random.choice(others))
    if kind == "Nope":
        return row(component_id, kind)
    variant = {"variant": random.choice(["h1", "body"])} if random.random() < 0.3 else {}
    label = {"accessibility": {"label": value(random)}} if random.random() < 0.2 else {}
    return row(component_id, kind, text=value(random), **variant, **label)


def start(random: Random) -> list[dict[str, Any]]:
    return [
        data({"items": items(random), "t": "T"}),
        components(*[definition(random, name) for name in IDS]),
    ]


def written(random: Random, where: str) -> Any:
    if where in ("/items", "/items/0/kids", "/kids"):
        return items(random)
    if where == "/":
        return {"items": items(random), "t": random.choice(["q", ""])}
    if where == "/tpl":
        return random.choice(["${/t}", "a ${n}", "x", "${/items/0/n}"])
    if where.endswith(("/id", "/key")):
        return random.randrange(9)
    return random.choice(["v", 1, True, "*m*", ""]) if where.endswith(("/t", "/n")) else item(random)


def operation(random: Random) -> dict[str, Any]:
    """One RFC 6902 operation that may or may not apply."""
    base, index = random.choice(LISTS), random.randrange(6)
    return random.choice(
        [
            {"op": "add", "path": f"{base}/{random.choice([index, '-', 0])}", "value": item(random)},
            {"op": "remove", "path": f"{base}/{index}"},
            {"op": "move", "from": f"{base}/{index}", "path": f"{base}/{random.randrange(6)}"},
            {"op": "replace", "path": f"{base}/{index}/n", "value": random.choice(["w", 2])},
            {"op": "add", "path": "/t", "value": random.choice(["a", ""])},
        ]
    )


def step(random: Random) -> dict[str, Any] | list[dict[str, Any]]:
    """A message, or the operations of a patch."""
    chance = random.random()
    if chance < 0.25:
        return components(
            *[definition(random, random.choice(IDS)) for _ in range(random.choice([1, 1, 2, 3]))]
        )
    if chance > 0.6:
        return [operation(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    where = random.choice(DATA_PATHS)
    message = data(written(random, where), where)
    if random.random() < 0.1:
        del message["updateDataModel"]["value"]
    return message
