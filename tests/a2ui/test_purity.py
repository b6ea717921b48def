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
