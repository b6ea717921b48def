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


def weight(random: Random) -> Any:
    return random.choice([0, 1, 2.5, 3])


def looks(random: Random, kind: str) -> dict[str, Any]:
    """Properties that change how an element looks or what it is called, and not what is inside of it."""
    found: dict[str, Any] = {}
    if random.random() < 0.25:
        found["weight"] = weight(random)
    if random.random() < 0.3:
        found["accessibility"] = {"label": value(random)}
        if random.random() < 0.5:
            found["accessibility"]["description"] = value(random)
    if kind in ("Row", "Column") and random.random() < 0.3:
        found["justify"] = random.choice(["start", "center", "end", "spaceBetween", "stretch"])
    if kind in ("Row", "Column", "List") and random.random() < 0.3:
        found["align"] = random.choice(["start", "center", "end", "stretch"])
    if kind == "List" and random.random() < 0.4:
        found["direction"] = random.choice(["vertical", "horizontal"])
    if kind == "Button" and random.random() < 0.4:
        found["variant"] = random.choice(["default", "primary", "borderless"])
    if kind == "Text" and random.random() < 0.4:
        found["variant"] = random.choice(["h1", "h3", "caption", "body"])
    return found


CONTAINERS = ["Row", "Column", "List", "Items", "Items", "Card", "Button", "Tabs", "Modal"]
INPUTS = ["TextField", "TextField", "CheckBox", "ChoicePicker", "Slider", "DateTimeInput"]
LEAVES = ["Text", "Text", "Text", "Image", "Icon", "Divider", "Nope"]


def definition(random: Random, component_id: str) -> dict[str, Any]:
    """A definition of a component that refers to others: mostly to later ones, for a cycle refuses the message."""
    at = IDS.index(component_id)
    others = [name for name in IDS if name != component_id]
    if random.random() < 0.97:
        others = [*IDS[at + 1 :], *(["later"] if at > 6 or random.random() < 0.1 else [])]
    # Little comes of a program whose root holds nothing.
    likely = [CONTAINERS] * 6 + [LEAVES, INPUTS] * (0 if at == 0 else 1 if at < 4 else 4)
    kind = random.choice(random.choice(likely))
    if at == 0 and random.random() < 0.8:
        kind = random.choice(CONTAINERS[:3])
    if kind in CONTAINERS:
        found = holder(random, component_id, kind, others)
    else:
        found = input_of(random, component_id, kind) if kind in INPUTS else leaf(random, component_id, kind)
    return found | looks(random, found["component"])


def holder(random: Random, component_id: str, kind: str, others: list[str]) -> dict[str, Any]:
    other = random.choice(others)
    if kind in ("Row", "Column", "List"):
        if component_id == IDS[0]:
            return row(component_id, kind, children=random.sample(IDS[1:], random.choice([2, 3, 4, 5])))
        most = random.choice([0, 1, 2, 3, 4])
        return row(component_id, kind, children=[random.choice(others) for _ in range(most)])
    if kind == "Items":
        template = {
            "componentId": other,
            "path": random.choice(["/items", "kids", "/items", "/kids", "items"]),
        }
        return row(component_id, random.choice(["Column", "List"]), children=template)
    if kind == "Card":
        return row(component_id, kind, child=other)
    if kind == "Button":
        checks = [check(random)] if random.random() < 0.5 else []
        return row(component_id, kind, child=other, action={"event": {"name": "a"}}, checks=checks)
    if kind == "Tabs":
        entries = [
            {"title": value(random), "child": random.choice(others)} for _ in range(random.randrange(3))
        ]
        return row(component_id, kind, tabs=entries)
    return row(component_id, kind, trigger=other, content=random.choice(others))


def check(random: Random) -> dict[str, Any]:
    return {"condition": path(random.choice(["/t", "n"])), "message": "m"}


def input_of(random: Random, component_id: str, kind: str) -> dict[str, Any]:
    bound = path(random.choice(["/t", "n", "/items/0/n"]))
    checks = [check(random)] if random.random() < 0.5 else []
    if kind == "ChoicePicker":
        options = [{"label": value(random), "value": name} for name in ("x", "y")]
        return row(component_id, kind, options=options, value=bound, checks=checks)
    if kind == "Slider":
        return row(component_id, kind, max=random.choice([5, 10]), value=bound, checks=checks)
    if kind == "DateTimeInput":
        return row(component_id, kind, value=bound, enableDate=random.random() < 0.5, checks=checks)
    return row(component_id, kind, label=value(random), value=bound, checks=checks)


def leaf(random: Random, component_id: str, kind: str) -> dict[str, Any]:
    if kind == "Image":
        return row(component_id, kind, url=random.choice(["/a.png", path("n")]), description=value(random))
    if kind == "Icon":
        return row(component_id, kind, name=random.choice(["home", path("/t")]))
    if kind == "Text":
        return row(component_id, kind, text=value(random))
    return row(component_id, kind)


def altered(random: Random, before: dict[str, Any]) -> dict[str, Any]:
    """The same component with other looks, or with children that came, went or changed places."""
    after = dict(before)
    children = after.get("children")
    if isinstance(children, list) and random.random() < 0.6:
        children = random.sample(children, len(children))[: random.choice([2, 3, 9, 9])]
        after["children"] = children + [
            random.choice(IDS[IDS.index(before["id"]) + 1 :] or ["later"])
            for _ in range(random.choice([0, 1, 1]))
        ]
        return after
    for name in ("weight", "accessibility", "justify", "align", "direction"):
        if random.random() < 0.5:
            after.pop(name, None)
    return after | looks(random, after["component"])


def start(random: Random) -> list[dict[str, Any]]:
    return [
        data({"items": items(random), "t": "T", "kids": items(random)}),
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
    return (
        random.choice(["v", 1, True, "*m*", "", "long " * 220])
        if where.endswith(("/t", "/n"))
        else item(random)
    )


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
        names = random.sample(IDS[1:], random.choice([1, 1, 2, 3]))
        return components(
            *[definition(random, name) for name in (IDS[:1] if random.random() < 0.1 else names)]
        )
    if chance > 0.6:
        return [operation(random) for _ in range(random.choice([1, 1, 1, 2, 3]))]
    where = random.choice(DATA_PATHS)
    message = data(written(random, where), where)
    if random.random() < 0.1:
        del message["updateDataModel"]["value"]
    return message
