"""Who may import whom (docs/architecture.md): a2ui, then envelopes, then beachsite; nothing upwards."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import envelopes

ROOT = Path(envelopes.__file__).parent.parent


def _imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def _upwards(folder: Path, *packages: str) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sorted(folder.rglob("*.py"))
        for name in sorted(_imported(file))
        if any(name == package or name.startswith(f"{package}.") for package in packages)
    ]


def test_the_runtime_knows_nothing_of_the_site_and_its_agents() -> None:
    assert _upwards(ROOT / "envelopes", "beachsite", "tests") == []


@pytest.mark.parametrize("package", ["protocol", "registries", "models", "log", "providers"])
def test_the_lower_half_of_the_runtime_knows_nothing_of_the_upper(package: str) -> None:
    upper = ("runtime", "approvals", "delivery", "transports", "admin", "views", "management")
    assert _upwards(ROOT / "envelopes" / package, *(f"envelopes.{name}" for name in upper)) == []


def test_delivery_shows_what_the_runtime_wrote_and_does_not_call_it() -> None:
    assert _upwards(ROOT / "envelopes" / "delivery", "envelopes.runtime", "envelopes.approvals") == []


def test_turns_and_delivery_do_not_know_the_doors() -> None:
    doors = ("envelopes.transports", "envelopes.admin", "envelopes.views")

    assert _upwards(ROOT / "envelopes" / "runtime", *doors) == []
    assert _upwards(ROOT / "envelopes" / "delivery", *doors) == []
    assert _upwards(ROOT / "envelopes" / "approvals", *doors) == []


def test_the_engine_is_used_through_its_front_door() -> None:
    """What stands inside a2ui may move; what its ``__init__`` names stays. What makes text safe serves both."""
    inside = [f"a2ui.{part.stem}" for part in (ROOT / "a2ui").iterdir() if part.stem != "safety"]

    assert _upwards(ROOT / "envelopes", *inside) == []
