"""What a suite is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import yaml

from tests.shared import SHARED


@dataclass(frozen=True)
class Case:
    """One case: `run` raises AssertionError where the engine does something else."""

    suite: str
    name: str
    run: Callable[[], None]

    @property
    def id(self) -> str:
        return f"{self.suite}:{self.name}"


def yaml_file(path: str) -> list[dict[str, object]]:
    """The entries of a YAML suite below `spec/a2ui`."""
    assert SHARED is not None
    loaded: list[dict[str, object]] = yaml.safe_load(
        (SHARED / "spec/a2ui" / path).read_text(encoding="utf-8")
    )
    return loaded
