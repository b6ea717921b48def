"""Who may import whom (docs/architecture.md): a2ui, then envelopes, then beachsite; nothing upwards."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import envelopes
from envelopes.registries.transports import transports

ROOT = Path(envelopes.__file__).parent.parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"


@cache
def _modules() -> dict[str, Path]:
    """The modules of the three packages by their dotted names, packages included."""
    found = {}
    for package in ("a2ui", "beachsite", "envelopes"):
        for file in (ROOT / package).rglob("*.py"):
            parts = file.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def _imported(file: Path) -> frozenset[str]:
    """The modules that a file imports, wherever in its text: of ``from envelopes import intake`` that is intake."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                names.add(full if full in _modules() else node.module or "")
    return frozenset(names)


def _is_in(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _found(files: Iterable[Path], packages: Iterable[str]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted(files)
        for name in sorted(_imported(file))
        if _is_in(name, packages)
    ]


def test_the_runtime_knows_nothing_of_the_site_and_its_agents() -> None:
    assert _found((ROOT / "envelopes").rglob("*.py"), ["beachsite", "tests"]) == []


LAYERS = (
    {"types", "errors", "model_settings", "setting"},
    {
        "conf",
        "addresses",
        "came_from",
        "tasks",
        "database_threads",
        "prepared",
        "quotas",
        "flags",
        "engine_settings",
        "costs",
        "json_log",
        "metrics",
        "rates",
        "tracing",
    },
    {"protocol", "registries", "providers"},
    {"models", "part_types"},
    {"log", "access", "config_transfer", "ownership", "peers", "secrets", "nonces", "signals"},
    {"artifacts", "audit", "delivery", "markup", "search", "session_state"},
    {"turns", "approvals"},
    {"intake", "records"},
    {"runtime"},
    {"transports"},
    {"serving", "client"},
    {
        "admin",
        "apps",
        "asgi",
        "beach",
        "checks",
        "desk",
        "fakes",
        "management",
        "templatetags",
        "testing",
        "urls",
    },
)
"""The folders and modules of ``envelopes``: each imports from its own line and from those above it."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

MUTUAL = {frozenset({"protocol", "registries"}), frozenset({"turns", "approvals"})}
"""Folders that know each other. Whoever adds to these looks for a way around it first."""


def _parts(folder: Path) -> list[str]:
    return sorted(
        path.stem
        for path in folder.iterdir()
        if path.stem not in ("__init__", "__pycache__", "migrations")
        and ((path / "__init__.py").is_file() or path.suffix == ".py")
    )


def _files_of(part: str) -> list[Path]:
    return [*(ROOT / "envelopes").glob(f"{part}.py"), *(ROOT / "envelopes" / part).rglob("*.py")]


def test_every_folder_of_the_runtime_has_its_layer() -> None:
    assert _parts(ROOT / "envelopes") == sorted(RANK)


@pytest.mark.parametrize("part", sorted(RANK))
def test_a_layer_knows_nothing_of_those_above_it(part: str) -> None:
    """But for the pages that a transport registers in the admin: they are made of what the admin has for its own."""
    above = [f"envelopes.{name}" for name, rank in RANK.items() if rank > RANK[part]]
    files = [file for file in _files_of(part) if not (part == "transports" and file.name == "admin.py")]

    assert _found(files, above) == []


def test_only_what_is_truly_mutual_imports_each_other() -> None:
    known = {
        part: {
            name.split(".")[1] for file in _files_of(part) for name in _imported(file) if "envelopes." in name
        }
        for part in RANK
    }

    assert {
        frozenset({part, other})
        for part in known
        for other in known[part]
        if part != other and part in known[other]
    } == MUTUAL


def test_below_the_transports_no_module_imports_itself_through_others() -> None:
    imports = {
        name: {other for other in _imported(file) if other in _modules() and other != name}
        for name, file in _modules().items()
        if name.startswith("envelopes.") and not name.startswith("envelopes.transports.")
    }

    def reached(module: str) -> set[str]:
        seen: set[str] = set()
        todo = [module]
        while todo:
            for other in imports.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    assert {module for module in imports if module in reached(module)} == set()


def test_the_drawing_is_these_layers() -> None:
    drawing = ARCHITECTURE.read_text(encoding="utf-8").split("**What imports what.**", 1)[1].split("```")[1]
    drawn, mutual = [], set()
    for line in drawing.strip("\n").splitlines():
        # Two blanks and more stand between names, and before what a line is about.
        words = re.split(r" {2,}", line.replace("/<name>", "").strip())
        names: set[str] = set()
        for word in words:
            pair = frozenset(word.split(" ◀──▶ "))
            if len(pair) == 2:
                mutual.add(pair)
            if not pair <= RANK.keys():
                break
            names |= pair
        drawn.append(names)

    assert drawn == list(reversed(LAYERS))
    assert mutual == MUTUAL


TRANSPORTS = [
    f"envelopes.transports.{path.name}"
    for path in (ROOT / "envelopes" / "transports").iterdir()
    if (path / "transport.py").is_file()
]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_nobody_outside_of_a_transport_imports_from_it(transport: str) -> None:
    """An application may import what the folder's ``__init__`` names; the runtime itself imports nothing of it."""
    inside = [name for name in _modules() if name.startswith(f"{transport}.")]
    outside = [file for name, file in _modules().items() if not _is_in(name, [transport])]
    runtime = [file for file in outside if file.is_relative_to(ROOT / "envelopes")]

    assert inside
    assert _found(outside, inside) == []
    assert _found(runtime, [transport]) == []


PURE = ("contracts", "formats", "outbound", "shapes", "surfaces")
"""Libraries of a transport that know neither its door nor its presenter."""


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_presenter_knows_nothing_of_its_door(transport: str) -> None:
    """What it needs beside rows is who reads: ``reader``; and the pure formats of what it makes. A transport that
    nobody follows has none."""
    presenter = [file for name, file in _modules().items() if _is_in(name, [f"{transport}.presenter"])]
    door = [
        name
        for name in _modules()
        if name.startswith(f"{transport}.")
        and not _is_in(name, [f"{transport}.{part}" for part in ("presenter", "reader", *PURE)])
    ]

    assert presenter or transports[transport.rpartition(".")[2]].presenter is None
    assert _found(presenter, door) == []


LINES = 340


def test_no_module_is_long() -> None:
    long = {
        name: lines
        for name, file in _modules().items()
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > LINES
    }

    assert long == {}


def test_each_folder_says_what_lives_there() -> None:
    """a2ui has a test of its own for that. Migrations are Django's."""
    for name, file in _modules().items():
        if file.name == "__init__.py" and not _is_in(name, ["a2ui"]) and not name.endswith("migrations"):
            words = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            assert len(words.split()) >= 8, name


def test_the_engine_is_used_through_its_front_door() -> None:
    """What stands inside a2ui may move; what its ``__init__`` and that of the builder name stays. What makes text safe,
    operations for pages, and what commands are made of, serve both."""
    shared = ("safety", "ops", "compose", "management", "__init__")
    inside = [f"a2ui.{part.stem}" for part in (ROOT / "a2ui").iterdir() if part.stem not in shared]

    assert _found((ROOT / "envelopes").rglob("*.py"), inside) == []
