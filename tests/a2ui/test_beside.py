"""Ours beside the official packages, which have their modules in a namespace of the same name (docs/library.md)."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import a2ui

OURS = Path(a2ui.__file__).parent
RESERVED = {
    "a2ui-core": {"core"},
    "a2ui-agent-sdk": {
        "builder", "catalog_transformers", "constants", "extensions", "inference_format", "inference_formats",
        "inference_strategy", "parser", "processor", "prompt", "skill", "transformers", "utils", "version",
    },
    "a2ui-a2a": {"a2a"},
    "a2ui-adk": {"adk"},
}  # fmt: skip
"""What each has at the top of the namespace: of the first as it is installed here, of the others as of 0.9 and 0.1."""


def test_no_module_takes_a_name_of_the_official_packages() -> None:
    tops = {path.stem for path in OURS.iterdir()}

    assert not tops & set().union(*RESERVED.values())


def test_the_core_that_is_installed_has_these_names_and_leaves_the_package_to_us() -> None:
    files = [str(file) for file in distribution("a2ui-core").files or () if str(file).startswith("a2ui/")]

    assert {re.split(r"[/.]", file)[1] for file in files} == RESERVED["a2ui-core"]
    assert "a2ui/__init__.py" not in files


CODE = """
import a2ui, a2ui.core
from a2ui.core import MessageProcessor
from a2ui.engine import Engine
print(a2ui.__file__, a2ui.core.__file__, MessageProcessor.__module__, len(Engine().surfaces()))
"""


def _core() -> Path:
    found = importlib.util.find_spec("a2ui.core")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent


@pytest.mark.parametrize("first", ["ours", "theirs", "one folder"])
def test_both_are_imported_wherever_they_are(first: str, tmp_path: Path) -> None:
    """In one folder as pip installs them, and in two, whichever comes first on the path."""
    ours, theirs = tmp_path / "ours", tmp_path / ("ours" if first == "one folder" else "theirs")
    for folder, files in ((ours, OURS.iterdir()), (theirs, [_core()])):
        (folder / "a2ui").mkdir(parents=True, exist_ok=True)
        for file in files:
            (folder / "a2ui" / file.name).symlink_to(file)
    order = {"ours": [ours, theirs], "theirs": [theirs, ours], "one folder": [ours]}[first]
    # Nothing of this environment but what both need.
    script = f"import sys; sys.path[:0] = {[str(folder) for folder in order]!r}\n{CODE}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    package, core, module, count = done.stdout.split()
    assert Path(package).is_relative_to(ours)
    assert Path(core).is_relative_to(theirs)
    assert (module, count) == ("a2ui.core.processing.message_processor", "0")
