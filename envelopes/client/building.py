"""setuptools' step ``build_py``, which also puts the pages' own code into the package (``pyproject.toml`` names it).

Imported by setuptools alone, while nothing of the project can be imported yet; that is why it reads its sibling by its
path.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from setuptools.command.build_py import build_py  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("static/client", "static/styles")
"""What the files are made of; a source distribution needs it as well."""


class BuildPy(build_py):  # type: ignore[misc]
    """Builds the packages, and below ``envelopes/static`` the files that a checkout makes when they are asked for. An
    editable install is a checkout."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        bundling = _bundling()
        for name in bundling.FILES:
            target = self._target(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = bundling.source(ROOT / "static", name)
            target.write_text(bundling.minified(text) if bundling.is_code(name) else text, encoding="utf-8")

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        made = [] if self.editable_mode else [str(self._target(name)) for name in _bundling().FILES]
        return [*super().get_outputs(include_bytecode), *made]

    def get_source_files(self) -> list[str]:
        sources = [path for folder in SOURCES for path in sorted((ROOT / folder).iterdir()) if path.is_file()]
        return [*super().get_source_files(), *(str(path.relative_to(ROOT)) for path in sources)]

    def _target(self, name: str) -> Path:
        return Path(self.build_lib, "envelopes", "static", name)


def _bundling() -> Any:
    spec = importlib.util.spec_from_file_location("bundling", Path(__file__).with_name("bundling.py"))
    if spec is None or spec.loader is None:
        raise ImportError("envelopes/client/bundling.py is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
