"""What the engine may import (R7, D49)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import a2ui

FOLDER = Path(a2ui.__file__).parent
MAY_IMPORT_DJANGO = ("apps.py", "management", "templatetags", "gallery")


def modules() -> list[Path]:
    return [
        file for file in FOLDER.rglob("*.py") if file.relative_to(FOLDER).parts[0] not in MAY_IMPORT_DJANGO
    ]


def imported(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


OUTSIDE = {
    "datetime.now": {"functions/registry.py"},
    "read_bytes": {"catalog/icons.py"},
    "import importlib": {"catalog/icons.py"},
    "import threading": {"safety/markdown.py", "safety/regex.py"},
}
"""What a pure function has no use for, and where it stands all the same: the clock of whoever is given no other, the
icons, what threads must not share."""
_MODULES = {
    "aiohttp", "concurrent", "ctypes", "glob", "http", "httpx", "importlib", "multiprocessing", "os", "pathlib",
    "random", "requests", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "tempfile",
    "threading", "time", "urllib3", "uuid",
}  # fmt: skip
_CALLS = {
    "input", "open", "perf_counter", "monotonic", "read_bytes", "read_text", "today", "urlopen", "utcnow",
    "write_bytes", "write_text",
}  # fmt: skip


def reached(file: Path) -> set[str]:
    """Of what lies outside of the process, or changes by itself, what a module asks for."""
    found = {f"import {name}" for name in imported(file) & _MODULES}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute | ast.Name):
            continue
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        if name in _CALLS:
            found.add(name)
        elif name == "now" and ast.unparse(node) == "datetime.now":
            found.add("datetime.now")
    return found


def test_nothing_is_read_but_what_is_given_except_in_a_few_places():
    places: dict[str, set[str]] = {}
    for file in modules():
        for name in reached(file):
            places.setdefault(name, set()).add(file.relative_to(FOLDER).as_posix())

    assert places == OUTSIDE


def test_no_module_imports_django_or_the_packages_above():
    for file in modules():
        assert not imported(file) & {"django", "channels", "envelopes", "beachsite", "asyncio", "socket"}, (
            file
        )


def test_importing_the_engine_loads_no_django():
    code = "import sys, a2ui; a2ui.Engine(); print([m for m in sys.modules if m.split('.')[0] == 'django'])"

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER.parent, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def run_beside(code: str) -> str:
    """What the code prints in a process that sees the checkout first, then the installed packages."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER.parent, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_namespace_package_can_sit_beside(tmp_path):
    (tmp_path / "a2ui" / "skill").mkdir(parents=True)
    (tmp_path / "a2ui" / "skill" / "__init__.py").write_text("here = True\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import a2ui.skill; print(a2ui.skill.here, a2ui.Engine)"

    assert run_beside(code).startswith("True <class")
