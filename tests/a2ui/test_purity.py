"""What the engine may import (R7, D49)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import a2ui

FOLDER = Path(a2ui.__file__).parent
MAY_IMPORT_DJANGO = ("apps.py", "management", "templatetags", "gallery")
RESERVED = {
    "core", "a2a", "builder", "parser", "processor", "prompt", "utils", "constants", "version", "extensions", "skill",
    "transformers",
}  # fmt: skip


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


def test_no_module_takes_a_name_of_the_official_packages():
    tops = {file.relative_to(FOLDER).parts[0].removesuffix(".py") for file in FOLDER.rglob("*.py")}

    assert not tops & RESERVED


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


def test_the_official_core_and_ours_are_installed_together():
    code = """
import a2ui, a2ui.core
from a2ui.core import MessageProcessor
from a2ui.engine import Engine
print(a2ui.core.__file__ != a2ui.__file__, MessageProcessor.__module__, len(Engine().surfaces()))
"""

    assert run_beside(code).split() == ["True", "a2ui.core.processing.message_processor", "0"]
