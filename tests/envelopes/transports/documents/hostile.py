"""Values that no honest sender sends, made from a seed: what failed once fails again with the same number."""

from __future__ import annotations

from random import Random
from typing import Any

KEYS = [
    "id", "type", "props", "value", "tone", "items", "ordered", "columns", "rows", "title", "fields", "series", "label",
    "default", "defaultValue", "options", "min", "max", "step", "required", "submitLabel", "v", "surface", "components",
    "experimental", "track_id", "trackId", "a/b", "m~n",
]  # fmt: skip
TYPES = [
    "text",
    "markdown",
    "list",
    "table",
    "form",
    "chart",
    "number",
    "select",
    "checkbox",
    " Text",
    "video",
]
TOKENS = [
    "components",
    "0",
    "1",
    "4",
    "99",
    "01",
    "props",
    "value",
    "fields",
    "items",
    "-",
    "",
    "~0",
    "~2",
    "__proto__",
]
SCALARS: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 1e21, 2**70, float("nan"), float("inf"), "", " ", "x", "1", "true",
    "text", "<script>alert(1)</script>", "\0", "\ud800", "a b", "!!!", "…", "ключ", "x" * 70, "y" * 600,
    "\ufeff z \u3000", "--", "a-",
]  # fmt: skip


def value(random: Random, depth: int = 4) -> Any:
    """Any value that JSON text can make in Python, and some that it cannot."""
    kind = random.random()
    if depth and kind < 0.25:
        return [value(random, depth - 1) for _ in range(random.randrange(5))]
    if depth and kind < 0.6:
        return {random.choice(KEYS): value(random, depth - 1) for _ in range(random.randrange(6))}
    return random.choice([*SCALARS, *TYPES])


def component(random: Random) -> Any:
    """Something in the shape of a component, with anything inside."""
    if random.random() < 0.1:
        return value(random)
    entry = {"type": random.choice(TYPES), "id": value(random, 0), "props": value(random)}
    if random.random() < 0.7:
        entry["props"] = {random.choice(KEYS): value(random) for _ in range(random.randrange(6))}
    return entry


def operation(random: Random) -> Any:
    """An operation, mostly well made."""
    path = "".join(f"/{random.choice(TOKENS)}" for _ in range(random.randrange(6)))
    made: dict[str, Any] = {"op": random.choice(["add", "replace", "remove", "remove", "move"]), "path": path}
    if random.random() < 0.7 and made["op"] != "remove":
        made["value"] = value(random)
    return made if random.random() < 0.95 else value(random)
