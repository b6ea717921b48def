"""Which folder of the engine may import which (the table in docs/architecture.md), imports for types included."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import a2ui

FOLDER = Path(a2ui.__file__).parent
ARCHITECTURE = FOLDER.parent / "docs" / "architecture.md"

LAYERS = (
    "errors", "journal", "ops", "safety", "data", "protocol", "schema", "functions", "binding", "catalog", "options",
    "state", "rendering", "surface", "interaction", "components", "catalog/basic", "catalog/beach", "protocol/adapters",
    "surfaces",
    "engine", "teaching", "__init__", "programs", "compose", "gallery", "management", "apps",
)  # fmt: skip
"""From the lowest up: each may import those before it. A folder inside another that is named here is a layer itself."""

MUTUAL = (
    # Tabs and templates hold the components whose properties they are.
    {"compose.component", "compose.parts"},
    # A list is shown at a place, a place stands inside lists, and patterns name both.
    {"rendering.lists", "rendering.patterns", "rendering.place"},
    # A view compiles through builds and draws through drawings and measures, all of which look at the view.
    {
        "rendering.build",
        "rendering.first_drawing",
        "rendering.listing",
        "rendering.measured",
        "rendering.view",
    },
)
"""Modules that know each other. Whoever adds to these looks for a way around it first."""


def modules() -> dict[str, Path]:
    """Name inside of the package -> file."""
    found = {}
    for file in FOLDER.rglob("*.py"):
        parts = file.relative_to(FOLDER).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = file
    return found


MODULES = modules()


def layer(module: str) -> str:
    parts = module.split(".")
    inner = "/".join(parts[:2])
    return inner if inner in LAYERS else parts[0]


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of the package that a module imports, wherever in its text."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.module or node.module.split(".")[0] != "a2ui":
            continue
        base = node.module.removeprefix("a2ui").removeprefix(".")
        for alias in node.names:
            full = f"{base}.{alias.name}".removeprefix(".")
            found.add(full if full in MODULES else base or "__init__")
    return frozenset(found)


def test_every_module_imports_from_lower_layers_only() -> None:
    order = {name: at for at, name in enumerate(LAYERS)}
    upwards = [
        f"{module} imports {other}"
        for module in sorted(MODULES)
        for other in sorted(imported(module))
        if order[layer(other)] > order[layer(module)]
    ]

    assert upwards == []


def test_only_what_is_truly_mutual_imports_each_other() -> None:
    reached = {module: reachable(module) for module in MODULES}
    circles = {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in MODULES
        if module in reached[module]
    }

    assert circles == {frozenset(circle) for circle in MUTUAL}


def reachable(module: str) -> set[str]:
    """Every module that a module imports, also through others."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        for other in imported(todo.pop()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def test_the_table_in_the_documentation_is_this_one() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rows = text.split("| layer of a2ui |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    named = [row.split("`")[1] for row in rows]

    assert named == [name for name in LAYERS if name not in ("__init__", "apps")]


def test_each_folder_says_what_lives_there() -> None:
    for file in FOLDER.rglob("__init__.py"):
        words = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        assert len(words.split()) >= 8, file
